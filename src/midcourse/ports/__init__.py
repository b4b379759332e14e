"""Ports: interfaces to everything outside the core, one protocol per file. Ports return outcomes; an exception means a bug."""
