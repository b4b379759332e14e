"""The console's types are up to date with the API."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CONSOLE = Path(__file__).parents[2] / "console"


def test_types_are_up_to_date() -> None:
    make = runpy.run_path(str(CONSOLE / "openapi" / "make.py"))
    digest = make["TYPES"].read_text(encoding="utf-8").partition("\n")[0].split()[-1]
    assert digest == make["hash_document"](make["build_document"]()), "run `just console-types`"
