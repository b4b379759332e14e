"""The server of a domain, seen from the trial and from the programs under test. Imports the standard library alone."""

import json
import os
import socket
from typing import Any


class Refused(Exception):
    """A tool answered with an error."""


class Client:
    """A connection to the server."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("r", encoding="utf-8")

    def ask(self, do: str, **given: Any) -> Any:
        self._socket.sendall(json.dumps({"do": do, **given}).encode() + b"\n")
        answer = self._lines.readline()
        if not answer:
            raise ConnectionError(f"the server ended at '{do}'")
        return json.loads(answer)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool. Raises `TimeoutError` if no answer comes, and `Refused` if the answer is an error."""
        reply = self.ask("call", tool=tool, arguments=arguments, pid=os.getpid())
        if reply.get("timeout"):
            raise TimeoutError(f"{tool}: no answer in time")
        if "refused" in reply:
            raise Refused(reply["refused"])
        return reply["result"]

    def call_unless(self, probe: Any, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool unless its probe, if it has one, finds the effect."""
        return None if self._finds(probe, arguments) else self.call(tool, arguments)

    def _finds(self, probe: Any, arguments: dict[str, Any]) -> bool:
        try:
            return probe is not None and probe(self, arguments)
        except Refused:
            return False

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
