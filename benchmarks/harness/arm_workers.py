"""Processes that run an arm of a comparison, each in its own environment."""

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import psutil

from benchmarks import ROOT
from benchmarks.harness.environments import CACHE

ARM_PROCESS = Path(__file__).with_name("arm_process.py")
GRACE_SECONDS = 60.0
"""Seconds beyond its own limit after which a run's process is ended."""


class Worker:
    """The process of an arm. It runs one job at a time, and is started again if it died."""

    def __init__(self, name: str, make_command: Callable[[], list[str]]) -> None:
        self._name = name
        self._make_command = make_command
        self._process: subprocess.Popen[str] | None = None

    def run(self, job: dict[str, Any]) -> dict[str, Any] | None:
        """Run a job and return the report of the arm, or None if the process died."""
        process = self._ensure_started()
        assert process.stdin
        assert process.stdout
        guard = Timer(job["limit"] + GRACE_SECONDS, self.kill)
        guard.start()
        try:
            print(json.dumps(job), file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            guard.cancel()
        if answer:
            return json.loads(answer)
        self.close()
        return None

    def kill(self) -> None:
        """Kill the process and its descendants with -9, including its browser."""
        if self._process is None:
            return
        with suppress(psutil.NoSuchProcess):
            itself = psutil.Process(self._process.pid)
            for process in [itself, *itself.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()

    def close(self) -> None:
        if self._process is None:
            return
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            with suppress(BrokenPipeError):
                stream.close()
        self._process = None

    def _ensure_started(self) -> subprocess.Popen[str]:
        if self._process is None:
            CACHE.mkdir(exist_ok=True)
            command = self._make_command()
            with (CACHE / f"{self._name}.log").open("a") as log:
                self._process = subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
            assert self._process.stdout
            if not self._process.stdout.readline():
                raise SystemExit(f"{self._name} did not start; see {CACHE}/{self._name}.log")
        return self._process
