"""What the programs of the other systems have in common: the user's words, questions to the user, and the end. It runs in their environments.

The session reads the terminal as it reads ours: a frame's upper edge is a headline, and `> ` waits for a line.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TERMINAL = os.fdopen(os.dup(1), "w", buffering=1)


@dataclass(frozen=True)
class End:
    done: bool
    """Whether the system says that it has done the task."""
    answer: str


async def ask_person(question: str) -> str:
    """Put a question of the agent to the user, and return what was typed."""
    print(f"╭─ the agent asks ─╮\n{question}\n> ", end="", file=_TERMINAL, flush=True)
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


def describe(job: dict[str, Any], secrets: str) -> str:
    """The task as a user would type it: address, goal, and what else `midcourse do` is given with its options."""
    lines = [f"Go to {job['url']} and do this: {job['goal']}"]
    lines += [f"- {name}: {value}" for name, value in job["inputs"].items()]
    lines += [f"- {name}: {secrets.format(name)}" for name in job["secrets"]]
    lines += [f"- file: {path}" for path in job["files"]]
    lines += [f"- report at the end: {' and '.join(job['outputs'])}"] if job["outputs"] else []
    return "\n".join(lines)


def main(run: Callable[[dict[str, Any]], Coroutine[Any, Any, End]]) -> None:
    """Carry out the job in the file that the first argument names, and end with 0 if the system says that it is done."""
    os.dup2(os.open("run.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), 1)  # what libraries print
    os.dup2(1, 2)
    Path("pid").write_text(str(os.getpid()))
    end = asyncio.run(run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    Path("result.json").write_text(json.dumps({"answer": end.answer}, ensure_ascii=False), encoding="utf-8")
    print(f"╭─ {'done' if end.done else 'not done'} ─╮\n{end.answer}", file=_TERMINAL, flush=True)
    sys.exit(0 if end.done else 1)
