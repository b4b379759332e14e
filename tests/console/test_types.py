"""The console's types are made from the API as it is."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CONSOLE = Path(__file__).parents[2] / "console"


def test_types_are_those_of_the_api() -> None:
    make = runpy.run_path(str(CONSOLE / "openapi" / "make.py"))
    named = make["TYPES"].read_text(encoding="utf-8").partition("\n")[0].split()[-1]
    assert named == make["digest"](make["document"]()), "run `just console-types`"
