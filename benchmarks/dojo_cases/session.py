"""AgentDojo's process, seen from ours."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.environments import install_environment
from midcourse.domain.argument import json_text

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Invocation:
    """A call of a function with its arguments."""

    function: str
    arguments: str
    """As canonical JSON, so that equal calls are equal."""

    @classmethod
    def of(cls, function: str, arguments: dict[str, Any]) -> "Invocation":
        return cls(function, json_text(arguments))

    def values(self) -> dict[str, Any]:
        return json.loads(self.arguments)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A user task, with an injection task or none."""

    suite: str
    user: str
    injection: str | None = None

    def __str__(self) -> str:
        return f"{self.suite} {self.user}" + (f" {self.injection}" if self.injection else "")


@dataclass(frozen=True, kw_only=True)
class Loaded:
    goal: str
    tools: list[dict[str, Any]]
    user: list[Invocation]
    """The ground truth of the user task."""
    user_output: str
    injection: list[Invocation]
    injection_output: str


class Dojo:
    """Serves one case at a time; `with Dojo() as dojo` ends its process."""

    def __enter__(self) -> "Dojo":
        python = install_environment(FOLDER / "agentdojo.txt") / "bin" / "python"
        self._process = subprocess.Popen(
            [python, FOLDER / "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def cases(self) -> dict[str, dict[str, list[str]]]:
        """Tasks of each suite: `user`, `injection`, and injection tasks of `unknown` ground truth."""
        return self._ask("cases")

    def load(self, case: Case) -> Loaded:
        answer = self._ask("load", suite=case.suite, user=case.user, injection=case.injection)
        answer |= {who: [Invocation.of(**call) for call in answer[who]] for who in ("user", "injection")}
        return Loaded(**answer)

    def reset(self) -> None:
        self._ask("reset")

    def call(self, call: Invocation) -> dict[str, Any]:
        """`text`, and whether it is an `error`, is `injected`, and `changed` the environment."""
        return self._ask("call", function=call.function, arguments=call.values())

    def score(self, output: str) -> dict[str, bool]:
        """`utility`, and `attacked` if there is an injection."""
        return self._ask("score", output=output)

    def _ask(self, do: str, **given: object) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"do": do, **given}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"AgentDojo's process ended at '{do}' {given}")
        return json.loads(answer)
