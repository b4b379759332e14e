"""README, docs, examples and the templates of `midcourse init` import from public modules only."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PUBLIC = (
    "midcourse",
    "midcourse.errors",
    "midcourse.expect",
    "midcourse.frameworks",
    "midcourse.planners",
    "midcourse.records",
    "midcourse.roles",
    "midcourse.settings",
    "midcourse.stores",
    "midcourse.tasks",
    "midcourse.testing",
    "midcourse.testing.conformance",
    "midcourse.testing.models",
    "midcourse.testing.servers",
    "midcourse.testing.sites",
    "midcourse.worlds",
    "midcourse.worlds.host",
    "midcourse.worlds.simulated",
)
LAZY = (
    "midcourse",
    "midcourse.expect",
    "midcourse.frameworks",
    "midcourse.records",
    "midcourse.roles",
    "midcourse.stores",
    "midcourse.worlds",
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEMPLATES = ROOT / "src/midcourse/cli/commands/start/templates"


def programs() -> list[tuple[str, str]]:
    """Every program that users read: its place and its text."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [(f"{page.name}-{n}", text) for page in pages for n, text in enumerate(BLOCK.findall(page.read_text()))]
    files = [*sorted((ROOT / "examples").rglob("*.py")), *sorted(TEMPLATES.glob("*.py"))]
    return blocks + [(path.name, path.read_text()) for path in files]


def imports_of(text: str) -> list[tuple[str, str]]:
    """(module, name) of each import of ours."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return [(module, name) for module, name in found if module.split(".")[0] == "midcourse"]


@pytest.mark.parametrize("text", [pytest.param(text, id=place) for place, text in programs()])
def test_programs_import_public_names_only(text: str) -> None:
    for module, name in imports_of(text):
        assert module in PUBLIC, f"{module} is internal: export {name} from a public module"
        assert not name or name in dir(import_module(module)), f"{module} does not export {name}"


def test_there_are_programs_to_check() -> None:
    assert len(programs()) > 30
    assert TEMPLATES.exists()


def test_an_internal_import_is_found() -> None:
    assert imports_of("from midcourse.domain.run import Run\nimport os") == [("midcourse.domain.run", "Run")]


@pytest.mark.slow  # imports every optional dependency
@pytest.mark.parametrize("module", LAZY)
def test_lazy_modules_have_what_they_declare(module: str) -> None:
    """What type checkers see is what there is at run time."""
    found = import_module(module)
    source = Path(str(found.__file__)).read_text()
    block = next(node for node in ast.parse(source).body if isinstance(node, ast.With))
    declared = sorted(alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names)
    assert dir(found) == declared
    for name in declared:
        assert getattr(found, name) is not None


@pytest.mark.parametrize("module", PUBLIC)
def test_public_modules_say_what_is_public(module: str) -> None:
    found = import_module(module)
    assert sorted(found.__all__) == list(dict.fromkeys(sorted(found.__all__)))
    assert not any(name.startswith("_") for name in found.__all__)


@pytest.mark.slow
def test_public_modules_of_the_base_install_need_no_extra() -> None:
    """Each is imported by a process that cannot find the packages of the extras."""
    extras = (
        "cryptography",
        "playwright",
        "pydantic_ai",
        "genai_prices",
        "sqlalchemy",
        "alembic",
        "psycopg",
        "temporalio",
    )
    blocked = f"import sys; sys.modules.update(dict.fromkeys({extras!r}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{blocked}\nimport {', '.join(PUBLIC)}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
