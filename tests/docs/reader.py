"""A reader of the documentation, who types a page from top to bottom: in a new folder, in a terminal, with the built wheel and no checkout."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 600.0
END = 4000
"""Characters of what was printed that a failure shows."""
BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n\n?(?:<!-- not typed: (?P<reason>[^\n]+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
SHELL = frozenset({"bash", "console"})
FILE_NAME = re.compile(r"`(\w+\.(?:py|toml))`")
ESCAPES = re.compile(r"\x1b(?:\[[\d;?]*[A-Za-z]|[78=>])|\r")
QUESTION = re.compile(r"\by(?:/\w)+> ")
NOT_TYPED = {"playwright install chromium": "downloads a browser, and the page allows the one that is there"}
"""Lines that are left out, with the reason."""
ENDS_WITH = {"midcourse run unreachable_cube": "1"}
"""Commands whose exit code is not 0, as the page says."""
PIP = """\
#!/bin/sh
# As locked, mostly from the cache that uv has since it installed the lock. The package itself is the wheel that was built.
[ "$1" = install ] || exit 2
shift
{uv} pip install --quiet --python {python} --constraint {constraints} "$@" && exit
exec {pip} --python {python} install --quiet --disable-pip-version-check --constraint {constraints} "$@"
"""


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout, with the build requirements of the cache, or else of an index."""
    words = ["uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)]
    if subprocess.run([*words, "--offline"], stdin=subprocess.DEVNULL, capture_output=True).returncode:
        subprocess.run(words, stdin=subprocess.DEVNULL, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def make_environment(place: Path, wheel: Path) -> None:
    """An empty environment, whose `pip` finds the wheel."""
    uv = shutil.which("uv")
    subprocess.run([str(uv), "venv", "--quiet", "--python", sys.executable, str(place)], check=True)
    lock = re.sub(r" \\\n    --hash=\S+", "", (ROOT / "requirements.lock").read_text())
    constraints = place / "constraints.txt"
    constraints.write_text(f"{lock}\nmidcourse @ {wheel.as_uri()}\n")
    python = place / "bin" / "python"
    pip = place / "bin" / "pip"
    outside = f"{Path(sys.base_prefix) / 'bin' / 'python3'} -m pip"
    pip.write_text(PIP.format(uv=uv, python=python, constraints=constraints, pip=outside))
    pip.chmod(0o755)


@dataclass
class Reader:
    """Types shell blocks, saves files, runs programs, says yes to every question, and compares what is printed."""

    folder: Path
    environment: dict[str, str]
    reasons: list[str] = field(default_factory=list)
    """Why blocks were not typed."""
    programs: list[Path] = field(default_factory=list)

    @classmethod
    def at(cls, folder: Path, wheel: Path, **variables: str) -> "Reader":
        place, work = folder / "environment", folder / "work"
        make_environment(place, wheel)
        work.mkdir()
        ours = ("MIDCOURSE_", "PYTHON", "VIRTUAL_ENV", "COLUMNS", "PATH")
        usual = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        path = f"{place / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        return cls(work, {**usual, "PATH": path, "TERM": "xterm-256color", **variables})

    def read(self, page: Path) -> None:
        """Type everything on the page, in order."""
        printed = ""
        for block in BLOCK.finditer(page.read_text()):
            where = f"{page.relative_to(ROOT)}:\n{block['text']}"
            name = FILE_NAME.findall(block["before"])
            if block["reason"]:
                self.reasons.append(block["reason"])
            elif block["language"] in SHELL:
                printed = self.type(block["text"], where)
            elif block["language"] == "text":
                missing = [line for line in block["text"].splitlines() if line not in printed]
                assert not missing, f"{where}was not printed:\n{printed[-END:]}"
            elif name:
                (self.folder / name[-1]).write_text(block["text"])
            elif block["language"] == "python":
                self.programs.append(self.folder / f"program_{len(self.programs) + 1}.py")
                self.programs[-1].write_text(block["text"])
                printed = self.type(f"python {self.programs[-1].name}\n", where)

    def type(self, block: str, where: str = "") -> str:
        """Run the lines in a shell, and return what was printed. A line that fails is an error, unless the page says so."""
        failures = self.folder.parent / "failures"
        lines = [
            "\n".join(as_typed(line)) for line in block.splitlines() if line.partition("#")[0].strip() not in NOT_TYPED
        ]
        script = "\n".join([f"trap 'echo \"$? $BASH_COMMAND\" >>{failures}' ERR", *lines])
        printed = in_terminal(["bash", "-c", script], self.folder, self.environment)
        failed = failures.read_text().splitlines() if failures.exists() else []
        failures.unlink(missing_ok=True)
        wrong = [line for line in failed if ENDS_WITH.get(line.partition(" ")[2]) != line.partition(" ")[0]]
        assert not wrong, f"{where or block}\nfailed: {wrong}\n{printed[-END:]}"
        assert "Traceback" not in printed, f"{where or block}\n{printed[-END:]}"
        return printed


def as_typed(line: str) -> list[str]:
    """What a reader makes of a line: one that may be killed is killed at the worst moment, and a question is waited for."""
    command = line.partition("#")[0].strip()
    if "kill -9 it at any point" in line:
        ordered = "cat .midcourse/runs/*/effects.jsonl 2>/dev/null | grep -q ."
        return [f"{command} &", f"until {ordered}; do sleep 0.1; done", "kill -9 $!"]
    if re.fullmatch(r"midcourse approve \S+ --yes", command):
        return [f"until {command}; do sleep 0.5; done"]
    return [line]


def in_terminal(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run a command in a terminal of 200 by 50, answer each of its questions with yes, and return what it printed as plain text."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    printed, answered, give_up_at = "", 0, time.monotonic() + PATIENCE
    try:
        while True:
            ended = process.poll() is not None
            ready = select.select([ours], [], [], 0 if ended else 0.1)[0]
            try:
                printed += os.read(ours, 65536).decode(errors="replace") if ready else ""
            except OSError:  # no process has the terminal any more
                ready = []
            if ended and not ready:
                return ESCAPES.sub("", printed)
            asked = len(QUESTION.findall(ESCAPES.sub("", printed)))
            if asked > answered:
                answered = asked
                os.write(ours, b"y\n")
            assert time.monotonic() < give_up_at, f"does not end: {command}\n{printed[-END:]}"
    finally:
        process.kill()
        process.wait()
        os.close(ours)
