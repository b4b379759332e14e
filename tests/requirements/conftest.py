"""`pytest tests/requirements` also runs the tests that the rows of docs/requirements.md name, where they are.

They are added to what pytest was told to run only if this folder was named: in a run of everything they come anyway.
"""

import pytest

from tests.cli.conftest import cli, home
from tests.requirements.rows import ROOT, ROWS

__all__ = ["cli", "home"]

FOLDER = "tests/requirements"


def pytest_configure(config: pytest.Config) -> None:
    named = [(config.invocation_params.dir / argument.partition("::")[0]).resolve() for argument in config.args]
    if (ROOT / FOLDER) not in named:
        return
    wanted = dict.fromkeys(str(ROOT / test) for row in ROWS for test in row.tests)
    config.args += [test for test in wanted if not test.startswith(str(ROOT / FOLDER)) and test not in config.args]
