"""Access control: who the caller is, what a role may do, and which requests of a browser are accepted."""
