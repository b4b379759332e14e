"""README and tutorial, typed from top to bottom with the built wheel in an empty environment: every block, in order, in one folder."""

import itertools
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from midcourse.testing.models import ModelServer
from midcourse.testing.sites import PASSWORD
from tests.docs.reader import ROOT, Reader, build_wheel
from tests.leftovers import run_folder
from tests.llm.clerk import Clerk

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which("uv"), reason="type: pip install uv")]
ALLOWED = {"h11", "pydantic", "python-dotenv", "typer", "rich"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@contextmanager
def reader_at(name: str, wheel: Path, **variables: str) -> Iterator[Reader]:
    """A reader in a folder of the test run, which is removed with all that a fleet keeps for it elsewhere."""
    folder = run_folder() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    reader = Reader.at(folder, wheel, **variables)
    try:
        yield reader
    finally:
        down = ["bash", "-c", "! command -v midcourse || midcourse down"]
        subprocess.run(down, cwd=reader.folder, env=reader.environment, stdin=subprocess.DEVNULL, capture_output=True)


def orders(runs: Path) -> list[int]:
    """How many orders each run has in the log of its shop. Other worlds have logs, too."""
    logs = [log.read_text().count('"effect": "order"') for log in runs.glob("*/effects.jsonl")]
    return [count for count in logs if count]


def test_the_base_install_needs_only_the_allowed_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    needed = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    assert {re.split(r"[^\w-]", one)[0] for one in needed if "extra ==" not in one} == ALLOWED


def test_every_block_of_the_readme_works_when_typed(wheel: Path) -> None:
    with (
        ModelServer(Clerk(password=PASSWORD, customer="C-4711")) as model,
        reader_at("readme", wheel, MIDCOURSE_MODEL_BASE_URL=model.url, OPENAI_API_KEY="sk-typed-by-a-test") as reader,
    ):
        reader.read(ROOT / "README.md")
        assert model.requests
        again = reader.type(f"python {reader.programs[0].name}")
    assert again.strip() == "[]", "the guarded order is not sent by the next start, as the page says"
    runs = orders(reader.folder / ".midcourse" / "runs")
    assert runs == [1] * len(runs)
    assert len(runs) >= 3, "the first was killed, one was approved here, one in a fleet"
    assert reader.reasons == ["shop.example is no shop"]


def test_every_block_of_the_tutorial_works_when_typed(wheel: Path) -> None:
    navigation = re.search(r"^  - Tutorial:\n((?:      - .*\n)+)", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert navigation
    pages = [ROOT / "docs" / place for entry in yaml.safe_load(navigation[1]) for place in entry.values()]
    assert set(pages) == set((ROOT / "docs" / "tutorial").glob("*.md"))
    for page, following in itertools.pairwise(pages):
        assert re.search(rf"^Next: \[.*\]\({following.name}\)\.$", page.read_text(), re.MULTILINE), page.name
    with reader_at("tutorial", wheel) as reader:
        for page in pages:
            reader.read(page)
    runs = orders(reader.folder / ".midcourse" / "runs")
    assert runs == [1] * 6
    assert (reader.folder / "outbox.txt").read_text() == "Hello\n"
    assert (reader.folder / "shop.txt").read_text() == "PO-1 Desk lamp\nPO-2 Desk\n"
    assert reader.reasons == []
