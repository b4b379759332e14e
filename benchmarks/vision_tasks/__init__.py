"""MiniWoB++ read from pictures: the frozen tasks, the reader in its own process, and a screen that tolerates misread labels."""
