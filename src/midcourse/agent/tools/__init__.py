"""An agent as a tool of other agent frameworks."""
