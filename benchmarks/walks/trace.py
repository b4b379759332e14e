"""A trace of the functions that are entered, by file. It needs nothing but the standard library, since it is loaded before all else."""

import atexit
import json
import os
import signal
import sys
import threading
from types import CodeType, FrameType

PACKAGE = f"{os.sep}midcourse{os.sep}"
STARTED = 8
"""The offset in the code up to which a frame is a call, and not a coroutine that is resumed."""


class Trace:
    """The calls in all threads while it records. Bodies of modules and classes do not count, nor do resumed coroutines."""

    def __init__(self) -> None:
        self.recording = False
        self.calls: list[CodeType] = []

    def install(self) -> None:
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)

    def _enter(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if not self.recording or event != "call" or PACKAGE not in code.co_filename or "benchmarks" in code.co_filename:
            return
        if frame.f_lasti <= STARTED and code.co_flags & 2:  # 2: it has local variables of its own, so it is a function
            self.calls.append(code)

    def summarize(self) -> dict[str, object]:
        files: dict[str, set[CodeType]] = {}
        returns, last = 0, ""
        for code in self.calls:
            name = code.co_filename.rpartition(PACKAGE)[2]
            returns += name in files and name != last
            files.setdefault(name, set()).add(code)
            last = name
        return {
            "files": len(files),
            "functions": sum(map(len, files.values())),
            "returns": returns,
            "entered": {name: sorted(code.co_qualname for code in codes) for name, codes in sorted(files.items())},
        }

    def write(self) -> None:
        """Write the summary to WALK_TO."""
        self.recording = False
        part = f"{os.environ['WALK_TO']}.part"
        with open(part, "w", encoding="utf-8") as file:
            json.dump(self.summarize(), file)
        os.replace(part, os.environ["WALK_TO"])


def trace_process() -> None:
    """Trace this process until it ends, or with WALK_SIGNALS between SIGUSR1 and SIGUSR2."""
    trace = Trace()
    trace.install()
    if os.environ.get("WALK_SIGNALS"):
        signal.signal(signal.SIGUSR1, lambda *_: setattr(trace, "recording", True))
        signal.signal(signal.SIGUSR2, lambda *_: trace.write())
    else:
        atexit.register(trace.write)
        trace.recording = True
