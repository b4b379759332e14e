"""A run as one HTML file: opens from a disk without a request, runs no script, hides nothing; readable in both themes and on a phone."""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

from midcourse.cli.main import main
from midcourse.home.stores import open_blobs, open_store
from midcourse.presentation.page.page import page_of_run
from midcourse.server.access.identity import Caller
from midcourse.server.access.keys import ApiKey, KeyRing, digest_of
from midcourse.worlds.browser.chromium import system_chromium
from tests.console.visit import AXE, STANDARDS, Theme
from tests.server.serving import (
    RunningServer,
    decide,
    find_question,
    run_server,
    start,
    start_run_that_asks,
    wait_for_end,
    wait_until,
)

HOSTILE = (
    "<img src=x onerror=alert(1)><script>window.hacked=1</script>\" onload='x' \u202e00.1 €\x1b[31m</style></title>"
)
VISITS: tuple[tuple[str, Theme, int], ...] = (
    ("hostile", "dark", 1280),
    ("hostile", "light", 390),
    ("pictured", "light", 1280),
)
SHOWN = (
    "<img src=x onerror=alert(1)><script>window.hacked=1</script>\" onload='x' U+202E00.1 €U+001B[31m</style></title>"
)


@pytest.fixture(scope="module")
def server_with_runs(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """Runs whose texts are hostile, decided by a person whose name is, too; and one with pictures."""
    folder = Path(tmp_path_factory.mktemp("runs"))
    person = Caller(name=HOSTILE, id="key:hostile", tenant="acme", role="admin", means="key")
    with run_server(folder, keys=KeyRing((ApiKey(digest=digest_of("secret"), caller=person),))) as server:
        client = server.anonymous_client(headers={"Authorization": "Bearer secret"})
        _run_hostile(server, client)
        question = start_run_that_asks(client, "pictured", "changeable")
        changes = [{"step": 0, "arguments": {"reference": HOSTILE}}]
        assert decide(client, question, "changed", changes=changes).status_code == 200
        again = wait_until(lambda: _find_next_question(client, question))
        assert decide(client, again, all_values=True).status_code == 200
        wait_for_end(client, "pictured")
        yield server


def _run_hostile(server: RunningServer, client: Any) -> None:
    quoted = HOSTILE.replace("\\", "\\\\").replace('"', '\\"').replace("\x1b", "\\u001b")
    text = (server.home / "tasks" / "stored.toml").read_text()
    for plain in ("Order one desk lamp", "Put one into the basket", "Place the order", "1 Harbour Street", "PO-1001"):
        assert plain in text
        text = text.replace(plain, f"{plain} {quoted}")
    body = {"text": text, "run_id": "hostile", "settings": {"approvals": "always"}}
    answer = client.post("/runs", json=body)
    assert answer.status_code == 201, answer.text
    first = wait_until(lambda: find_question(client, "hostile"))
    assert decide(client, first, "rejected", guidance=HOSTILE).status_code == 200
    again = wait_until(lambda: _find_next_question(client, first))
    assert decide(client, again, all_values=True).status_code == 200
    wait_for_end(client, "hostile")


def _find_next_question(client: Any, question: dict[str, Any]) -> dict[str, Any] | None:
    found = find_question(client, question["run"])
    return found if found and found["id"] != question["id"] else None


def export_run(server: RunningServer, run_id: str) -> str:
    client = server.anonymous_client(headers={"Authorization": f"Bearer {server.token}"})
    answer = client.get(f"/runs/{run_id}/export.html")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="{run_id}.html"'
    return answer.text


@pytest.mark.slow
async def test_a_page_opens_from_a_disk_without_a_request_or_a_script(
    server_with_runs: RunningServer, tmp_path: Path
) -> None:
    path = tmp_path / "run.html"
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=system_chromium(), chromium_sandbox=False)
        for run_id, theme, width in VISITS:
            path.write_text(export_run(server_with_runs, run_id), encoding="utf-8")
            page = await browser.new_page(color_scheme=theme, viewport={"width": width, "height": 800})
            asked: list[str] = []
            said: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("dialog", lambda dialog, said=said: said.append(dialog.message))
            await page.goto(path.as_uri())
            assert asked == [path.as_uri()]
            assert said == []
            assert await page.evaluate("window.hacked") is None
            assert await page.locator("script, iframe, object, form, link, base").count() == 0
            handlers = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()).filter(n => /^on|^style$/.test(n))"
            assert await page.evaluate(handlers) == []
            assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            images = await page.evaluate("[...document.images].map(i => [i.src.slice(0, 22), i.naturalWidth])")
            assert images == ([["data:image/webp;base64", 64]] if run_id == "pictured" else [])
            if AXE.exists():
                await page.evaluate(AXE.read_text(encoding="utf-8"))
                found = await page.evaluate("standards => axe.run(document, { runOnly: standards })", STANDARDS)
                assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
            await page.close()
        await browser.close()


@pytest.mark.slow
def test_hostile_text_is_shown_with_what_it_hides(server_with_runs: RunningServer) -> None:
    page = export_run(server_with_runs, "hostile")
    for section in ("sent", "questions", "plans", "log"):
        part = page.partition(f'<section id="{section}">')[2].partition("</section>")[0]
        words = re.sub(r"<[^>]*>", "", part)
        shown = SHOWN.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
        assert shown.replace("'", "&#x27;") in words, section
    assert "\u202e" not in page
    assert "\x1b" not in page


@pytest.mark.slow
def test_a_page_tells_what_was_sent_asked_planned_and_found(server_with_runs: RunningServer) -> None:
    words = re.sub(r"<[^>]*>", "", export_run(server_with_runs, "hostile"))
    assert "Done, and verified." in words
    assert "a probe found it" in words
    for says in (
        "rejected by ",
        "approved once by ",
        "after guidance",
        "Compared with plan",
        "no script and loads nothing",
    ):
        assert says in words


async def test_pictures_beyond_the_limit_are_left_out_and_that_is_said(server_with_runs: RunningServer) -> None:
    home = server_with_runs.home / "acme"
    with open_store(home) as store:
        page = await page_of_run(store, open_blobs(home), "pictured", most_bytes=10)
    assert "data:image" not in page
    assert "1 picture left out" in page


def test_a_run_is_exported_from_the_command_line(server_with_runs: RunningServer, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    assert main(["export", "pictured", "--html", str(path), "--home", str(server_with_runs.home / "acme")]) == 0
    assert "data:image/webp" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o077 == 0
    assert main(["export", "nowhere", "--html", str(path), "--home", str(server_with_runs.home / "acme")]) == 2


@pytest.mark.slow
def test_a_run_under_way_is_exported_as_it_is(server: RunningServer) -> None:
    start(server.client("operator"), "waits", settings={"approvals": "always"})
    wait_until(lambda: find_question(server.client("viewer"), "waits"))
    page = export_run(server, "waits")
    assert "It waits for an approval" in page
    assert "no decision" in page
