"""Records which files each kept result measures, and finds results with changed files: `results/measured.toml`.

    python -m benchmarks.harness.measured
    python -m benchmarks.harness.measured --waive hostile --reason "only a message changed"

A kept result is stale as soon as one of its files changes. Measure it again (`--keep` removes its waivers), or waive it: a waiver
has a reason, and covers the files as they are now, not later changes. A later one adds its reason to the earlier ones.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from benchmarks import ROOT

MEASURED = ROOT / "benchmarks" / "results" / "measured.toml"
SUFFIXES = frozenset({".py", ".js", ".sql", ".toml", ".md"})
HEAD = """# What each kept result measures, and a digest of those files when it was measured. Written by `--keep` and by
# `python -m benchmarks.harness.measured --waive`; the paths are maintained by hand.
"""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The files behind one kept result."""

    paths: tuple[str, ...] = ("src/midcourse",)
    commit: str = ""
    digest: str = ""
    waived: str = ""
    """The digest of the files that the waivers are about."""
    reasons: tuple[str, ...] = ()
    """One for each waiver, oldest first."""

    @property
    def is_current(self) -> bool:
        return digest_of(self.paths) in (self.digest, self.waived)


def digest_of(paths: Iterable[str], root: Path | None = None) -> str:
    """Return a digest of all source files under these paths, by name and content."""
    root = root or ROOT
    files = (file for path in paths for file in _list_files(root / path))
    lines = (f"{file.relative_to(root).as_posix()} {sha256(file.read_bytes()).hexdigest()}" for file in sorted(files))
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def _list_files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return (path,)
    return (file for file in path.rglob("*") if file.suffix in SUFFIXES and "dist" not in file.parts)  # dist is built


def load(file: Path | None = None) -> dict[str, Measured]:
    document = tomllib.loads((file or MEASURED).read_text(encoding="utf-8"))
    numbered = document.pop("reasons", {})
    return {
        name: Measured(
            **entry
            | {"paths": tuple(entry["paths"]), "reasons": tuple(numbered[str(n)] for n in entry.get("reasons", ()))}
        )
        for name, entry in document.items()
    }


def save(entries: dict[str, Measured], file: Path | None = None) -> None:
    """Write the entries, and before them each reason once, with a number."""
    reasons = dict.fromkeys(reason for _, entry in sorted(entries.items()) for reason in entry.reasons)
    numbers = {reason: n for n, reason in enumerate(reasons, start=1)}
    text = HEAD + ("\n[reasons]\n" if numbers else "")
    text += "".join(f"{n} = {json.dumps(reason, ensure_ascii=False)}\n" for reason, n in numbers.items())
    for name, entry in sorted(entries.items()):
        values = asdict(entry) | {"reasons": [numbers[reason] for reason in entry.reasons]}
        lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items() if value)
        text += f"\n[{name}]\n{''.join(lines)}"
    (file or MEASURED).write_text(text, encoding="utf-8")


def record(name: str, commit: str) -> None:
    """Note that a result was measured with the files as they are now."""
    entries = load()
    known = entries.get(name, Measured())
    entries[name] = Measured(paths=known.paths, commit=commit, digest=digest_of(known.paths))
    save(entries)


def waive(names: Iterable[str], reason: str) -> None:
    """Accept, for this reason, that results are older than the files they measure. Earlier reasons stay: they still hold."""
    entries = load()
    for name in names:
        known = entries[name]
        reasons = tuple(dict.fromkeys((*known.reasons, reason)))
        entries[name] = replace(known, waived=digest_of(known.paths), reasons=reasons)
    save(entries)


def find_stale() -> list[str]:
    return [name for name, entry in load().items() if not entry.is_current]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--waive", nargs="+", metavar="NAME", default=(), help="results to waive, or `stale` for all of them"
    )
    parser.add_argument("--reason", help="why the figures still hold, or what is known about the difference")
    args = parser.parse_args()
    if args.waive and not args.reason:
        parser.error("--waive needs a --reason")
    if args.waive:
        waive(find_stale() if args.waive == ["stale"] else args.waive, args.reason)
    stale = find_stale()
    for name in stale:
        print(f"{name}: {', '.join(load()[name].paths)} changed since {load()[name].commit}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
