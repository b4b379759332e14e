"""Tenants: a server lists, reads, follows, starts and controls the runs of each through one interface, for local and for durable runs."""
