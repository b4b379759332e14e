"""Runs the four walks and prints how many files, functions and returns each one has: see the package's docstring."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2 as httpx

from midcourse.testing.models import ModelServer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MIDCOURSE = (sys.executable, "-m", "midcourse")
WALKS = ("act", "step", "do", "decision")


def trace(folder: Path, *command: str, **environment: str) -> dict[str, Any]:
    """Run a program with the tracer and return its summary."""
    to = folder / "walk.json"
    traced = {
        **os.environ,
        "WALK_TO": str(to),
        "PYTHONPATH": os.pathsep.join((str(HERE / "tracer"), str(ROOT))),
        **environment,
    }
    subprocess.run(command, cwd=folder, env=traced, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return json.loads(to.read_text())


def walk_do(folder: Path) -> dict[str, Any]:
    page = folder / "page.html"
    page.write_text("<title>Lamp</title><p>49.00</p>")
    site = subprocess.Popen(
        (sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        port = read_line(site, r"port (\d+)")[1]
        with ModelServer(lambda _: {"verdict": "done", "reason": "It costs 49.00"}) as model:
            command = (
                *MIDCOURSE,
                "do",
                "What does the lamp cost?",
                "--at",
                f"http://127.0.0.1:{port}/page.html",
                "--model",
                "openai:gpt-5",
            )
            return trace(folder, *command, MIDCOURSE_MODEL_BASE_URL=model.url, OPENAI_API_KEY="any")
    finally:
        site.terminate()
        site.wait()


def walk_decision(folder: Path) -> dict[str, Any]:
    to = folder / "walk.json"
    environment = {
        **os.environ,
        "WALK_TO": str(to),
        "WALK_SIGNALS": "1",
        "PYTHONPATH": os.pathsep.join((str(HERE / "tracer"), str(ROOT))),
    }
    server = subprocess.Popen(
        (*MIDCOURSE, "serve", "--port", "0"), cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        found = read_line(server, r"(http://[^/]+)/#token=(\S+)")
        client = httpx.Client(
            base_url=f"{found[1]}/api/v1", headers={"Authorization": f"Bearer {found[2]}"}, timeout=60
        )
        started = client.post("/runs", json={"task": "order", "settings": {"approvals": "always"}, "run_id": "walk"})
        started.raise_for_status()
        run = "walk"
        question = wait_for(
            lambda: next((one for one in client.get("/questions").json()["questions"] if one["run"] == run), None)
        )
        server.send_signal(signal.SIGUSR1)
        time.sleep(0.2)
        decision = {"verdict": "rejected", "shown": question["shown"]}
        client.post(f"/runs/{run}/questions/{question['id']}", json=decision).raise_for_status()
        wait_for(lambda: client.get(f"/runs/{run}").json().get("result"))
        server.send_signal(signal.SIGUSR2)
        wait_for(to.exists)
        return json.loads(to.read_text())
    finally:
        server.terminate()
        server.wait()


def read_line(program: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """Read what the program prints until a line matches."""
    assert program.stdout is not None
    for line in program.stdout:
        if found := re.search(pattern, line):
            return found
    raise SystemExit(f"a program ended without printing {pattern}")


def wait_for(condition: Callable[[], Any]) -> Any:
    for _ in range(600):
        if found := condition():
            return found
        time.sleep(0.1)
    raise SystemExit("it did not happen within a minute")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", nargs="+", choices=WALKS, default=WALKS)
    parser.add_argument("--entered", action="store_true", help="list the functions of each file")
    args = parser.parse_args()
    for walk in args.walks:
        with tempfile.TemporaryDirectory() as folder:
            match walk:
                case "do":
                    found = walk_do(Path(folder))
                case "decision":
                    found = walk_decision(Path(folder))
                case _:
                    found = trace_here(Path(folder), walk)
        print(f"{walk:10} {found['files']:4} files {found['functions']:5} functions {found['returns']:6} returns")
        for name, functions in found["entered"].items() if args.entered else ():
            print(f"    {name}: {', '.join(functions)}")


def trace_here(folder: Path, walk: str) -> dict[str, Any]:
    to = folder / "walk.json"
    environment = {**os.environ, "WALK_TO": str(to), "PYTHONPATH": str(ROOT)}
    subprocess.run((sys.executable, "-m", "benchmarks.walks.acts", walk), cwd=folder, env=environment, check=True)
    return json.loads(to.read_text())


if __name__ == "__main__":
    main()
