"""Webhooks: tell other systems that a run asks something or has ended, signed as standardwebhooks.com describes."""
