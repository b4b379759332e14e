"""Trial 17, small: one secret of each kind, on the local runtime. `test_redaction.py` looks at the pictures."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from benchmarks.leak_checks.pictures import find_unmatched, look_alike
from benchmarks.leak_checks.sinks import find_hits, read_files
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.store.sqlite import SqliteStore
from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_no_secret_is_in_anything_that_a_run_leaves_behind():
    words = ["--secrets", "5", "--runtime", "local", "--quick"]
    result = measure("leaks", *words)
    assert (result["secrets"], result["hits"], result["blind"]) == (5, 0, [])
    assert result["places"] >= 6, "planner, SQLite, exports, logs, terminal, other files"


def drawn(text: str = "", ink: int = 0, corner: int = 162) -> bytes:
    picture = Image.new("RGB", (80, 40), "white")
    ImageDraw.Draw(picture).text((5, 5), text, fill=(ink, ink, ink))
    picture.putpixel((70, 30), (corner, corner, corner))
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def test_pictures_are_told_apart_by_a_letter_however_faint_and_not_by_the_corner_of_a_button():
    assert look_alike(drawn("pin"), drawn("pin", corner=161))
    assert not look_alike(drawn("pin"), drawn("pit"))
    assert not look_alike(drawn(), drawn(".", ink=250))
    assert find_unmatched({"a": drawn("1"), "b": drawn("2")}, {"c": drawn("2", corner=161), "d": drawn("3")}) == ["a"]


async def test_a_secret_in_a_compressed_observation_is_found(tmp_path: Path) -> None:
    zones = tuple(Zone(id=f"z{place}", role="text", label=f"Paragraph {place} of a page") for place in range(60))
    leaking = Observation(
        id="o1", surface=Surface(title="Page"), zones=(*zones, replace(zones[0], label="tiger")), fingerprint="f"
    )
    with SqliteStore(tmp_path / "midcourse.db") as store:
        await store.begin(Run(id="a"), Task(goal="Read"))
        await store.save_observation("a", leaking)
    assert b"tiger" not in (tmp_path / "midcourse.db").read_bytes()
    assert find_hits(read_files(tmp_path)["SQLite"], {"password": "tiger"}) != []
