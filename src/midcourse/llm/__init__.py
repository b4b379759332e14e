"""Ports that are filled by language models. Needs `midcourse[llm]`.

`roles` has one file and one template for each role, `prompt` what their prompts are made of. `model_client.py` is the only
module that sends a request. Its answer is a draft, which is checked like any other.
"""
