"""The twelve applications: how each is installed, furnished and started on loopback, and what its own database or files record."""
