"""Webhooks: signed messages to other systems that a run asks something or has ended, as standardwebhooks.com describes."""
