"""Secrets from the environment: `shop_password` is `MIDCOURSE_SECRET_SHOP_PASSWORD`."""

import os

PREFIX = "MIDCOURSE_SECRET_"


class EnvironmentVault:
    def reveal(self, name: str) -> str | None:
        return os.environ.get(PREFIX + name.upper()) or None
