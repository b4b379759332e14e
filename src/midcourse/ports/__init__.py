"""Ports: what Midcourse needs from outside, one protocol a file. Ports return outcomes; an exception means a bug."""
