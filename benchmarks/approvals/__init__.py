"""Benchmarks of approvals and of the audit log."""
