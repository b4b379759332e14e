"""MiniWoB++: its pages, one episode as a world, and rule-based planners that see nothing but zones and the utterance."""
