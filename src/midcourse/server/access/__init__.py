"""Access control: who calls, what a role may do, which requests a browser may send here at all."""
