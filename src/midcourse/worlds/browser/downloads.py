"""Keeps the files that pages download."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from midcourse.files import FILE, private_folder

if TYPE_CHECKING:
    from playwright.async_api import Download


class DownloadedFile:
    """A file that was downloaded, or is still arriving."""

    def __init__(self, number: int, download: "Download") -> None:
        self.number = number
        self.name = download.suggested_filename
        self.url = download.url
        self.path: Path | None = None
        """The path of the file, once it is complete."""
        self.failure = ""


class Downloads:
    """The downloads of a session, in order. Files stay in the given folder; without one, they are deleted with the session."""

    def __init__(self, folder: str = "") -> None:
        self._page_forms = Path(folder).absolute() if folder else None
        self._own: Path | None = None
        self._arrivals: list[DownloadedFile] = []

    def __iter__(self) -> Iterator[DownloadedFile]:
        return iter(self._arrivals)

    def __len__(self) -> int:
        return len(self._arrivals)

    async def keep(self, download: "Download") -> None:
        """Wait until a download is complete, and save it."""
        from playwright.async_api import Error

        arrival = DownloadedFile(len(self) + 1, download)
        self._arrivals.append(arrival)
        with suppress(Error):  # the browser was closed before the download was complete
            arrival.failure = await download.failure() or ""
            if not arrival.failure:
                await self._save(download, arrival)

    async def _save(self, download: "Download", arrival: DownloadedFile) -> None:
        try:
            path = await asyncio.to_thread(self._reserve, Path(arrival.name).name)
        except OSError as problem:
            arrival.failure = str(problem)
            return
        await download.save_as(path)
        path.chmod(FILE)  # Playwright gives the file the mode of its temporary copy
        arrival.path = path

    def _reserve(self, name: str) -> Path:
        """Create an empty file under a free name: an existing file is never overwritten."""
        wanted = self._folder() / name
        for number in count(1):
            path = wanted.with_stem(f"{wanted.stem}-{number}") if number > 1 else wanted
            with suppress(FileExistsError):
                path.touch(FILE, exist_ok=False)
                return path
        raise AssertionError("numbers do not end")

    def _folder(self) -> Path:
        if self._page_forms is not None:
            private_folder(self._page_forms)
            return self._page_forms
        self._own = self._own or Path(tempfile.mkdtemp(prefix="midcourse-downloads-"))
        return self._own

    def close(self) -> None:
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
