"""What people are shown about runs, as plain values that a terminal, a server or a notebook renders."""
