"""The HTTP server: the API under `/api/v1`, access control, and the built console."""
