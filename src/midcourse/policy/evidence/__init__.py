"""Evidence: what a screen proves about an act or a value."""
