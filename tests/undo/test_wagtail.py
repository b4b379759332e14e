"""A page published in a real Wagtail is unpublished by `midcourse undo`, once, as Wagtail's own database records it.

Wagtail has an environment of its own, which takes a minute to make, so only `just nightly` runs this (`UNDO_WAGTAIL`).
"""

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.web_apps.wagtail.application import Application
from benchmarks.web_apps.wagtail.proxy import Fault, Proxy, Request, in_front_of
from benchmarks.web_apps.wagtail.story import running
from midcourse.cli.main import main
from tests.docs.test_docs import ROOT
from tests.undo import gazette

HOME_PAGE = "2"
ARTICLE = {"title": "Harbour opens", "slug": "harbour-opens", "summary": "On Monday", "related": HOME_PAGE}
PUBLIC = "/harbour-opens/"


def is_unpublishing(request: Request) -> bool:
    return request.method == "POST" and request.path.endswith("/unpublish/")


def read_database(folder: Path, page: int) -> tuple[bool, list[str]]:
    """Whether the page is live, and Wagtail's own log of it."""
    with closing(sqlite3.connect(folder / "wagtail.sqlite3")) as database:
        [(live,)] = database.execute("SELECT live FROM wagtailcore_page WHERE id = ?", (page,))
        log = database.execute("SELECT action FROM wagtailcore_pagelogentry WHERE page_id = ? ORDER BY id", (page,))
        return bool(live), [action.removeprefix("wagtail.") for (action,) in log if "publish" in action]


def test_the_documented_functions_are_those_tested() -> None:
    [shown] = re.findall(r"^```py\n(.*?)^```", (ROOT / "docs" / "undo.md").read_text(), re.MULTILINE | re.DOTALL)
    assert Path(gazette.__file__).read_text().endswith(shown)


@pytest.mark.slow
@pytest.mark.skipif("UNDO_WAGTAIL" not in os.environ, reason="needs the Wagtail that `just nightly` installs")
@pytest.mark.parametrize("fault", [None, Fault(kind="lost", at=is_unpublishing)], ids=["answered", "answer lost"])
def test_a_published_page_is_unpublished_once(
    fault: Fault | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    application = Application(tmp_path)
    proxy = Proxy(application.address, [fault] if fault else [])
    with running(application), in_front_of(proxy) as url:
        monkeypatch.setenv("GAZETTE", url)
        answered = gazette.submit(f"/admin/pages/add/articles/article/{HOME_PAGE}/", **ARTICLE)
        found = re.search(r"/admin/pages/(\d+)/edit/", answered)
        assert found, answered
        page = int(found[1])
        assert read_database(tmp_path, page) == (False, [])

        gazette.publish(page, PUBLIC)
        assert (read_database(tmp_path, page), gazette.is_public(PUBLIC)) == ((True, ["publish"]), True)

        words = ("--functions", "tests.undo.gazette", "--json")
        assert main(("undo", "last", *words, "--dry-run")) == 0
        planned = json.loads(capsys.readouterr().out)
        assert [act["inverse"] for act in planned["acts"]] == [f"unpublish(page={page})"]
        for _ in range(2):
            assert main(("undo", planned["run"], *words, "--yes")) == 0
        assert (read_database(tmp_path, page), gazette.is_public(PUBLIC)) == ((False, ["publish", "unpublish"]), False)
        assert proxy.met == (["lost"] if fault else [])
