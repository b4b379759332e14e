"""Debian packages that tests with real programs need."""

import os
import shutil

from midcourse.worlds.desktop.display import find_missing_packages

PROGRAMS = {"mousepad": "mousepad", "thunar": "thunar", "claws-mail": "claws-mail", "ssconvert": "gnumeric"}
TRASH = ("/usr/libexec/gvfsd-trash", "/usr/lib/gvfs/gvfsd-trash")
"""Without it, thunar has no trash."""


def find_missing_programs() -> list[str]:
    """The Debian packages that are not installed."""
    packages = [
        *find_missing_packages(),
        *(package for name, package in PROGRAMS.items() if shutil.which(name) is None),
    ]
    return packages if any(map(os.path.exists, TRASH)) else [*packages, "gvfs"]
