"""A run as one HTML file: no script, no request, pictures inside. For people who have neither the server nor the home."""
