"""Descriptions of exceptions, with the line of a user's own code that raised them."""

import os
import sysconfig
import traceback
from pathlib import Path

_INSTALLED = tuple(
    os.path.join(path, "")
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(name))
)
_OURS = os.path.join(str(Path(__file__).parent), "")


def describe_exception(error: BaseException) -> str:
    """Describe the exception for a person: type, message and, if a user's own code raised it, file and line."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    line = find_user_line(error)
    return f"{text} ({line})" if line else text


def format_traceback(error: BaseException) -> str:
    """Return the traceback for a log, without what UTF-8 cannot express: the message may come from a page."""
    text = "".join(traceback.format_exception(error))
    return text.encode("utf-8", "replace").decode("utf-8").rstrip()


def find_user_line(error: BaseException) -> str:
    """`file:line` of the innermost frame outside Python, installed packages and Midcourse; empty if there is none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_user_code(frame.filename)]
    return f"{_shorten_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""


def _is_user_code(file: str) -> bool:
    return not file.startswith("<frozen") and not os.path.abspath(file).startswith((*_INSTALLED, _OURS))


def _shorten_path(file: str) -> str:
    """Return the path relative to the current folder if it is inside it, else unchanged."""
    inside = os.path.relpath(file) if os.path.isabs(file) else file
    return file if inside.startswith(os.pardir) else inside
