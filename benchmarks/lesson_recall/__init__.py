"""What `memory.py` measures with."""
