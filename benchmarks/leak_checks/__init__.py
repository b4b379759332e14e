"""What `leaks.py` consists of: secrets, a site that repeats them, whoever types them in, and every place they could end up in."""
