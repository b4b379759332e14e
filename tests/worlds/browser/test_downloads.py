"""Downloads: each is a zone, and is kept in the folder that the user wants."""

import asyncio
from pathlib import Path

import pytest

from midcourse.domain.observation import Zone
from tests.pages import Pages, serve_bytes
from tests.worlds.browser.visitor import Visitor, ok, visiting

HALF = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-disposition: attachment; filename=r.csv\r\n"
    b"content-length: 10\r\n\r\nhalf, "
)

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def link_to_report(pages: Pages, text: str = "<html>a,b") -> str:
    there = pages.show("/report", text, content_type="text/csv", content_disposition="attachment; filename=report.csv")
    return f"<a href='{there}'>Report</a>"


async def files(visitor: Visitor) -> list[Zone]:
    return [zone for zone in (await visitor.see()).zones if zone.role == "download"]


async def test_file_is_a_zone_that_says_where_it_is(visitor: Visitor):
    await visitor.visit(link_to_report(visitor.pages), title="Files")
    ok(await visitor.on("Report", "click"))
    [zone] = await files(visitor)
    assert (zone.id, zone.label, zone.get("href")) == ("download1", "report.csv", f"{visitor.pages.url}/report")
    assert Path(str(zone.get("value"))).read_text() == "<html>a,b"
    assert await visitor.title() == "Files"
    ok(await visitor.do("navigate", url=f"{visitor.pages.url}/report"))
    assert [zone.id for zone in await files(visitor)] == ["download1", "download2"]


async def test_path_of_a_download_can_be_extracted(visitor: Visitor):
    await visitor.visit(link_to_report(visitor.pages))
    ok(await visitor.on("Report", "click"))
    file = (await files(visitor))[-1]
    outcome = await visitor.do("extract", file, name="report")
    assert outcome.data == (("report", file.get("value")),)


async def test_files_stay_in_the_folder_that_was_named(pages: Pages, tmp_path: Path):
    folder = tmp_path / "reports"
    async with visiting(pages, downloads=str(folder)) as visitor:
        assert not folder.exists(), "only once there is something to keep"
        for text in ("<html>first", "<html>second"):
            await visitor.visit(link_to_report(pages, text))
            ok(await visitor.on("Report", "click"))
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "report.csv": "<html>first",
        "report-2.csv": "<html>second",
    }


async def test_without_a_folder_downloads_are_deleted_with_the_browser(pages: Pages):
    async with visiting(pages) as visitor:
        await visitor.visit(link_to_report(pages))
        ok(await visitor.on("Report", "click"))
        path = Path(str((await files(visitor))[0].get("value")))
        assert path.exists()
    assert not path.parent.exists()


async def test_folder_that_cannot_be_written_to_is_an_error_of_the_zone(pages: Pages, tmp_path: Path):
    (tmp_path / "taken").write_text("no folder")
    async with visiting(pages, downloads=str(tmp_path / "taken")) as visitor:
        await visitor.visit(link_to_report(pages))
        ok(await visitor.on("Report", "click"))
        [file] = await files(visitor)
        assert "taken" in str(file.get("error"))
        outcome = await visitor.do("extract", file, name="report")
    assert (outcome.status, outcome.reason) == ("failed", "download_failed")


async def test_file_that_is_still_coming_is_busy(pages: Pages):
    rest = asyncio.Event()
    async with serve_bytes(HALF, then=(rest, b"half")) as there, visiting(pages, origins={there: {}}) as visitor:
        await visitor.visit(f"<a href='{there}'>Report</a>")
        ok(await visitor.on("Report", "click"))
        [file] = await files(visitor)
        assert file.get("busy") is True
        outcome = await visitor.do("extract", file, name="report")
        assert (outcome.status, outcome.reason) == ("failed", "busy")
        rest.set()
        async with asyncio.timeout(600):
            while (file := (await files(visitor))[0]).get("busy"):
                await asyncio.sleep(0.05)
        assert Path(str(file.get("value"))).read_text() == "half, half"
