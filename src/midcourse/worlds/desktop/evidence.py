"""Finds evidence outside of windows: files, and mails in the folders of a mail program."""

import email
import email.policy
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Snapshot: TypeAlias = dict[str, tuple[int, int]]
"""The size of each file and the time of its last change in nanoseconds, by path."""

_MOST_FILES = 20_000
_LAST_OWN_HEADER = b"\nX-Claws-End-Special-Headers:"


class MailUnreadable(Exception):
    """A message in a folder cannot be read, so it is not known whether it is the one that is looked for."""


class PathRefused(Exception):
    """A path leads out of the folders that may be read."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files below the home of the programs. A relative path begins there."""

    home: Path
    also: tuple[Path, ...] = ()

    def find(self, path: str) -> Path:
        """Resolve a path. Raise `PathRefused` if it leads out of the allowed folders, even through a symbolic link."""
        found = (self.home / path).resolve()
        if not any(found.is_relative_to(root.resolve()) for root in (self.home, *self.also)):
            raise PathRefused(f"{path} is outside of {self.home}")
        return found

    def take_snapshot(self) -> Snapshot:
        """Return the state of all files that are not hidden."""
        found: Snapshot = {}
        for root in (self.home, *self.also):
            for path in sorted(root.rglob("*")):
                parts = path.relative_to(root).parts
                if len(found) < _MOST_FILES and not any(part.startswith(".") for part in parts) and path.is_file():
                    status = path.stat()
                    found[str(path)] = (status.st_size, status.st_mtime_ns)
        return found


def describe_differences(before: Snapshot, after: Snapshot) -> list[str]:
    """Describe the files that changed between two snapshots."""
    new = [f"{path} is new" for path in after if path not in before]
    gone = [f"{path} is gone" for path in before if path not in after]
    changed = [f"{path} has changed" for path, state in after.items() if before.get(path, state) != state]
    return [*gone, *new, *changed]


def list_mail_files(folder: Path) -> list[Path]:
    """Return the message files of an MH folder or of a Maildir."""
    if not folder.is_dir():
        return []
    own = [path for path in folder.iterdir() if path.name.isdigit()]
    return own + [path for part in ("new", "cur") for path in (folder / part).glob("*") if path.is_file()]


def has_mail(folder: Path, *, subject: str, to: str = "", text: str = "", since: frozenset[Path] = frozenset()) -> bool:
    """Whether a mail with this subject, with `to` among its recipients, is in the folder and contains the text, apart from white space.

    The files in `since` are not counted. Raise `MailUnreadable` if a message does not look like a mail.
    """
    for path in list_mail_files(folder):
        if path in since:
            continue
        message = email.message_from_bytes(_remove_own_headers(path.read_bytes()), policy=email.policy.default)
        if "from" not in message or "date" not in message:
            raise MailUnreadable(f"{path} does not look like a mail")
        body = message.get_body(("plain", "html"))
        content = str(body.get_content()) if body is not None else ""
        receivers = ", ".join(str(value) for name in ("to", "cc", "bcc") for value in message.get_all(name, []))
        if (
            str(message.get("subject", "")).strip() == subject.strip()
            and to.strip().lower() in receivers.lower()
            and " ".join(text.split()) in " ".join(content.split())
        ):
            return True
    return False


def _remove_own_headers(data: bytes) -> bytes:
    """Remove the lines for itself with which Claws Mail begins a message that it sends. The last of them is marked as such."""
    head, separator, rest = data.partition(_LAST_OWN_HEADER)
    return rest.partition(b"\n")[2] if separator and b"\n\n" not in head else data
