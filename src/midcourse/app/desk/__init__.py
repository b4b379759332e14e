"""A desk: the runs of one tenant as a server sees them, to list, read, follow, start and control. Local and durable runs have one each."""
