"""Ports that are backed by language models. Each role is one file and the template beside it.

`model_client.py` is the one place that sends a request; what comes back is a draft, and is treated as one. Needs `midcourse[llm]`.
"""
