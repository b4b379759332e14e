"""pretix, a ticket shop, as an application of `peers.py`. It is installed from PyPI in an environment outside the project's, and never shipped."""
