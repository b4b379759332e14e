"""Who uses this process."""

import getpass


def user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody at the terminal"
