"""Builds the documentation site into site/: `python docs/site/build.py`, or `just site`.

The pages stay where they are, with links that also work in the repository. They are copied into one folder together with the pages
that are written from the code, their links are changed to where each page is in the site, and zensical builds from there. A link
that leads nowhere, a page without a place in the navigation, and every warning of zensical fail the build.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from reference import api_pages, command_page
from scripts import SCRIPTS, content_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIG = ROOT / "mkdocs.yml"
WHOLE_FILES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks/index.md",
}
"""Pages outside docs/, and where they are in the site."""
LINK = re.compile(r"(?P<before>!?\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\()(?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


class PythonName(str):
    """A name in Python that mkdocs.yml refers to."""


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without importing what it names."""


class Dumper(yaml.SafeDumper):
    """Writes what `Loader` has read."""


PYTHON_NAME = "tag:yaml.org,2002:python/name:"
Loader.add_multi_constructor(PYTHON_NAME, lambda _, name, __: PythonName(name))
Dumper.add_representer(PythonName, lambda dumper, name: dumper.represent_scalar(f"{PYTHON_NAME}{name}", ""))


class SiteError(Exception):
    """The site cannot be built as the pages are."""


def placed() -> dict[Path, str]:
    """Every file that the site takes from the repository, with its place in the site."""
    places = {ROOT / name: place for name, place in WHOLE_FILES.items()}
    for path in sorted(DOCS.rglob("*")):
        if path.suffix in {".md", ".svg", ".png", ".webp"}:
            places[path] = path.relative_to(DOCS).as_posix()
    for folder in ("design", "benchmarks/results"):
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in {".md", ".png", ".svg"}:
                places[path] = path.relative_to(ROOT).as_posix()
    return places


def relinked(text: str, source: Path, places: dict[Path, str]) -> str:
    """The page with its links as they are in the site. Code that it links to is named, since the site does not have it."""

    def change(link: re.Match[str]) -> str:
        target, _, anchor = link["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return link[0]
        path = Path(os.path.normpath(source.parent / target))
        if path == ROOT / "benchmarks" or path == ROOT / "benchmarks" / "results":
            path = ROOT / "benchmarks" / "README.md"
        if place := places.get(path):
            here = Path(places[source]).parent
            return f"{link['before']}{os.path.relpath(place, here)}{'#' if anchor else ''}{anchor})"
        if path.exists():
            return link["text"] if "`" in link["text"] else f"{link['text']} (`{path.relative_to(ROOT).as_posix()}`)"
        raise SiteError(f"{source.relative_to(ROOT)}: the link to {link['target']} leads nowhere")

    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(change, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(change, text[end:])])


def stage(folder: Path) -> dict[str, str]:
    """Put every page into the folder, and return the texts of pages by place."""
    places, pages = placed(), dict[str, str]()
    for source, place in places.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            pages[place] = relinked(source.read_text(encoding="utf-8"), source, places)
        else:
            shutil.copyfile(source, target)
    pages["reference/commands.md"] = command_page()
    pages |= {f"reference/{name}": text for name, text in api_pages().items()}
    for place, text in pages.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return pages


def title_of(page: str) -> str:
    return next((line[2:].strip() for line in page.splitlines() if line.startswith("# ")), "").replace("`", "")


def navigation(config: Any, pages: dict[str, str]) -> Any:
    """The navigation of mkdocs.yml, with a list of all pages of a folder where it names the folder."""

    def fill(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {name: fill(value) for name, value in entry.items()}
        if isinstance(entry, list):
            return [each for one in entry for each in (folder_of(one) if is_folder(one) else [fill(one)])]
        return entry

    def is_folder(entry: Any) -> bool:
        return isinstance(entry, str) and entry.endswith("/")

    def folder_of(folder: str) -> list[Any]:
        inside = [place for place in sorted(pages) if place.startswith(folder) and not place.endswith("index.md")]
        return [{title_of(pages[place]): place} for place in inside if place not in named]

    named = set(_places(config))
    filled = fill(config)
    listed = _places(filled)
    if missing := sorted(pages.keys() - set(listed)):
        raise SiteError(f"not in the navigation of mkdocs.yml: {', '.join(missing)}")
    if twice := sorted({place for place in listed if listed.count(place) > 1}):
        raise SiteError(f"twice in the navigation of mkdocs.yml: {', '.join(twice)}")
    return filled


def _places(entry: Any) -> list[str]:
    if isinstance(entry, dict):
        return [place for value in entry.values() for place in _places(value)]
    if isinstance(entry, list):
        return [place for value in entry for place in _places(value)]
    return [] if entry.endswith("/") else [entry]


def overview(filled: Any, pages: dict[str, str]) -> str:
    """llms.txt: every page with its first sentence, for models that read documentation."""
    lines = ["# Midcourse", "", "> A Python runtime for agents whose actions have consequences.", ""]
    for section in filled:
        for name, entry in section.items():
            lines += [f"## {name}", ""]
            lines += [
                f"- [{title_of(pages[place])}]({place}): {first_sentence(pages[place])}" for place in _places(entry)
            ]
            lines.append("")
    return "\n".join(lines)


def first_sentence(page: str) -> str:
    body = re.sub(r"^#.*$|^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL if "```" in page else re.MULTILINE)
    paragraph = next(
        (one for one in body.split("\n\n") if one.strip() and not one.lstrip().startswith(("|", "!", ">", "-"))), ""
    )
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
    return re.split(r"(?<=[.:])\s", plain, maxsplit=1)[0]


def build(to: Path) -> int:
    """Build the site and return the number of its pages."""
    config = yaml.load(CONFIG.read_text(encoding="utf-8"), Loader)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        pages = stage(work / "docs")
        config["nav"] = navigation(config["nav"], pages)
        (work / "docs" / "llms.txt").write_text(overview(config["nav"], pages), encoding="utf-8")
        (work / "mkdocs.yml").write_text(yaml.dump(config, Dumper=Dumper, sort_keys=False), encoding="utf-8")
        (work / "docs" / "javascripts").mkdir()
        for script in SCRIPTS:
            (work / "docs" / script.place).write_bytes(content_of(script))
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode or "warning" in done.stdout.lower() + done.stderr.lower():
            raise SiteError(done.stdout + done.stderr)
        shutil.rmtree(to, ignore_errors=True)
        shutil.move(work / "site", to)
    return len(pages)


def main() -> int:
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    try:
        pages = build(to)
    except SiteError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"{pages} pages in {to}; open {to / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
