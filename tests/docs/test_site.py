"""The documentation site builds without a warning, has every page, and asks no other server for anything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from midcourse.cli.main import Commands
from tests.habits.test_public_imports import PUBLIC

ROOT = Path(__file__).parents[2]
FETCHED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=["']?(https?://[^"'> ]+)""")


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_has_every_page(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, str(ROOT / "docs" / "site" / "build.py"), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {page.relative_to(site).as_posix(): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    written = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    assert {"index.html", *(page.as_posix() for page in written)} <= pages.keys()
    assert {f"reference/{module}.html" for module in PUBLIC} <= pages.keys()
    foreign = ("PEP 544", "_cli_", "Discriminator(", "custom_error")  # of typing and pydantic
    assert [
        name for name, page in pages.items() if name.startswith("reference/") and any(word in page for word in foreign)
    ] == []
    missing = [name for name in Commands.table if f"midcourse {name}" not in pages["reference/commands.html"]]
    assert missing == []
    elsewhere = {match[1] for page in pages.values() for match in FETCHED.finditer(page)}
    assert elsewhere == set()
    assert "tutorial/first-run.md" in (site / "llms.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_site_is_not_built_with_a_page_that_is_not_in_the_navigation() -> None:
    script = "import build; build.navigation([{'Start': 'index.md'}], {'index.md': '# A', 'lost.md': '# B'})"
    folder = ROOT / "docs" / "site"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)
    assert "not in the navigation of mkdocs.yml: lost.md" in done.stderr
