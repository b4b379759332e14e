"""Measurements of source files: unusual English, unused names, circles of imports, and, as alarms that `just lint` prints, long files
and functions.

python -m tests.habits.source
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES, FUNCTION_LINES = 700, 80
"""Alarms: does a longer file still hold one idea, and a longer function do one thing? Many do; no test fails for them."""

PHRASES = re.compile(
    r"\b(whoever|whatever|nobody|somebody|of its own|anew|mend(?:s|ed|ing)?|(?<!there )(?:is|are|was|were) no (?!longer\b|more\b)\w+"
    r"|came to nothing|ha(?:s|ve|d) to be|of late|at once|otherwise than|in vain|go(?:es)? on)\b",
    re.IGNORECASE,
)
"""Fifteen phrases that made the code hard to read for engineers who did not write it."""

_PRIVATE = re.compile(r"\b_[A-Za-z]\w*")
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def python_files(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py") if ".cache" not in path.parts)


def long_files(files: list[Path], limit: int) -> dict[Path, int]:
    """The files with more lines than the limit, with their number of lines."""
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    return {path: count for path, count in lines.items() if count > limit}


def long_functions(files: list[Path], limit: int) -> dict[str, int]:
    """The functions with more lines than the limit, as `path:name`."""
    return {
        f"{path}:{node.name}": length
        for path in files
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > limit
    }


def unused_private_names(files: list[Path]) -> list[str]:
    """The private functions and classes whose name occurs only where they are defined, as `path:name`."""
    occurs = Counter(name for path in files for name in _PRIVATE.findall(path.read_text(encoding="utf-8")))
    return [
        f"{path}:{node.name}"
        for path in files
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.decorator_list
        and occurs[node.name] == 1
    ]


def docstrings(files: list[Path]) -> Iterator[tuple[str, str]]:
    """Every docstring of modules, classes and functions, with where it is."""
    for path in files:
        for node in ast.walk(_tree(path)):
            if isinstance(node, _WITH_DOCSTRING) and (text := ast.get_docstring(node)):
                yield f"{path}:{getattr(node, 'lineno', 1)}", text


def unusual_docstrings(files: list[Path]) -> list[str]:
    return [f"{where}: {found[0]}" for where, text in docstrings(files) if (found := PHRASES.search(text))]


def modules_without_docstring(files: list[Path]) -> list[Path]:
    """Modules with code and no docstring."""
    return [path for path in files if _tree(path).body and not ast.get_docstring(_tree(path))]


def circles_of_imports(package: Path) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others. Imports in functions and for type checkers count, too."""
    names = {".".join(path.relative_to(package.parent).with_suffix("").parts): path for path in package.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in names.items()}
    imports = {name: _imported(path, modules.keys()) for name, path in modules.items()}
    below = {name: _reachable(name, imports) for name in modules}
    groups = {frozenset({name, *(other for other in below[name] if name in below[other])}) for name in modules}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _imported(path: Path, modules: Collection[str]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in whole.values()}
    return found.intersection(modules)


def _reachable(start: str, imports: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        new = imports[left.pop()] - found
        found |= new
        left += new
    return found


@cache
def _tree(path: Path) -> ast.Module:
    """Parsed once for all limits that are measured."""
    return ast.parse(path.read_text(encoding="utf-8"))


def print_alarms() -> None:
    files = python_files(ROOT / "src", ROOT / "benchmarks", ROOT / "examples", ROOT / "tests")
    found = long_files(files, LINES) | long_functions(files, FUNCTION_LINES)
    for where, lines in sorted(found.items(), key=lambda item: -item[1]):
        print(f"{lines} lines: {str(where).removeprefix(f'{ROOT}/')}")


if __name__ == "__main__":
    print_alarms()
