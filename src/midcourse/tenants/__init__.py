"""Desks: a server lists, reads, follows, starts and controls the runs of one tenant through a desk. Local and durable runs have one each."""
