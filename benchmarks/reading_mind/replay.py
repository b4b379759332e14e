"""Replays transcripts against the code as it is: would the same answers still be possible, and still be the same plans?

An answer was written from a prompt that the code of its day made. Beside each transcript (`NAME.jsonl`) its planning contexts are
kept (`NAME.contexts.xz`), from which the prompt of today is made. An answer holds if everything that it takes from its prompt (zones,
labels, names of results, quoted values) is in the prompt of today, and if reading it gives the same resolved steps.

    python -m benchmarks.reading_mind.replay            # what holds, and what does not
    python -m benchmarks.reading_mind.replay --rekey    # writes the prompts of today into the transcripts that hold

What does not hold has to be answered again by a reading mind.
"""

import argparse
import hashlib
import json
import lzma
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from midcourse import codec
from midcourse.llm.answer_parser import Parsed, parse_answer
from midcourse.llm.prompt.prompt_text import format_arguments
from midcourse.llm.prompt.quoting import quote
from midcourse.llm.prompt.template import Prompt
from midcourse.llm.roles import planner
from midcourse.llm.roles.plan_answer import PlanAnswer, build_plan_draft
from midcourse.policy.plan.horizon import Scope, resolve
from midcourse.ports.planner import PlanDraft, PlanningContext

TRANSCRIPTS = Path(__file__).parent / "transcripts"
Line: TypeAlias = dict[str, Any]

OWN_WORDS = frozenset(("skill", "name", "verdict", "says", "reason", "answer", "note", "as"))
"""Fields whose texts are the model's own or belong to the schema. The others take something from the prompt or the task."""
_WORD = re.compile(r"\w")


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One answer of the planner, and the context that its prompt was made from."""

    context: PlanningContext
    room: int
    marked: bool
    answer: str
    exchange: Line

    @property
    def asked_text(self) -> str:
        """The prompt that was answered, without the instructions, which are the same for every task."""
        return "\n".join(part["text"] for part in self.exchange["asked"] if part["role"] != "system")

    @property
    def prompt(self) -> Prompt:
        """The prompt of today."""
        return planner.build_planner_prompt(self.context, self.room, marked=self.marked)

    def list_steps(self) -> list[Line]:
        """The steps that the answer means today, in words that survive other ids. Raises `ValueError` if it cannot be read."""
        parsed = parse_answer(self.answer, PlanAnswer)
        if not isinstance(parsed, Parsed):
            raise ValueError(f"cannot be read: {parsed.why}")
        return list(_describe_draft(build_plan_draft(parsed.answer, self.context), self.context))

    def find_changes(self) -> list[str]:
        """Say what no longer holds; empty if all does."""
        today = "\n".join(self.prompt.parts)
        lost = [name for name in self.list_names() if not _shows(today, name)]
        found = [f"{name!r} was in the prompt and is not any more" for name in lost]
        try:
            steps = self.list_steps()
        except ValueError as error:
            return [*found, str(error)]
        if steps != self.exchange["steps"]:
            found.append(f"it was read as {self.exchange['steps']} and is now {steps}")
        return found

    def list_names(self) -> list[str]:
        """What the answer takes from its prompt."""
        names = dict.fromkeys(_find_texts(json.loads(self.answer)))
        return [name for name in names if _shows(self.asked_text, name)]


def _describe_draft(draft: PlanDraft, context: PlanningContext) -> Iterator[Line]:
    if draft.verdict != "steps":
        yield {"verdict": draft.verdict}
        return
    scope = Scope(
        task=context.task,
        observation=context.observation,
        catalogue=context.catalogue,
        beyond=context.beyond,
        detours=context.detours,
    )
    for step in resolve(draft.steps, draft.final, context.version, scope).steps:
        on = f"{step.target.role}:{step.target.label}" if step.target.role else step.zone
        yield {"skill": step.skill, "on": on, "arguments": format_arguments(step.arguments)}


def _find_texts(value: object, field: str = "") -> Iterator[str]:
    match value:
        case str() if field not in OWN_WORDS and _WORD.search(value):
            yield value
        case dict():
            for name, inner in cast(Line, value).items():
                yield from _find_texts(inner, name)
        case list():
            for inner in cast(list[object], value):
                yield from _find_texts(inner, field)
        case _:
            pass


def _shows(prompt: str, name: str) -> bool:
    """Whether the prompt has this as a whole word, as it is or quoted."""
    forms = {name, quote(name)[1:-1], name.removeprefix("$result.")}
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", prompt) for form in forms)


# --- files


def read_transcript(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_transcript(path: Path, lines: Iterable[Line]) -> None:
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")


def contexts_path(path: Path) -> Path:
    return path.with_suffix(".contexts.xz")


def write_contexts(path: Path, lines: Iterable[str]) -> None:
    contexts_path(path).write_bytes(lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))


def read_planned(path: Path, lines: list[Line]) -> list[Planned]:
    """Read the planner's exchanges, each with its context. Raises `ValueError` if one has none."""
    contexts = [json.loads(line) for line in lzma.decompress(contexts_path(path).read_bytes()).decode().splitlines()]
    by_digest = {each["digest"]: each for each in contexts}
    planned: list[Planned] = []
    for line in lines:
        if line["kind"] != "exchange" or line["role"] != planner.ROLE:
            continue
        kept = by_digest.get(line["context"])
        if kept is None:
            raise ValueError(f"{path.name}: the context {line['context']} is not in {contexts_path(path).name}")
        planned.append(_read_exchange(line, kept))
    return planned


def digest_prompt(parts: Iterable[str]) -> str:
    """Identify a prompt by its texts, however a protocol cuts and joins them."""
    return hashlib.sha256("".join("".join(parts).split()).encode()).hexdigest()[:16]


def keep_contexts(file: Path) -> None:
    """From now on, append each planning context of this process to this file, under the digest of its prompt."""
    build = planner.build_planner_prompt

    def build_and_keep(context: PlanningContext, room: int, *, marked: bool = False) -> Prompt:
        prompt = build(context, room, marked=marked)
        kept = {
            "digest": digest_prompt(prompt.parts),
            "room": room,
            "marked": marked,
            "context": json.loads(codec.encode(replace(context, picture=b""))),
        }
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(kept, ensure_ascii=False)}\n")
        return prompt

    planner.build_planner_prompt = build_and_keep


def bind_contexts(lines: list[Line], kept: Iterable[str]) -> list[str]:
    """Give each exchange of the planner the digest of its context and the steps that its answer means. Return the contexts that are used."""
    contexts = {json.loads(line)["digest"]: line for line in kept}
    used: dict[str, str] = {}
    for line in lines:
        if line["kind"] != "exchange" or line["role"] != planner.ROLE:
            continue
        digest = digest_prompt(part["text"] for part in line["asked"] if part["role"] != "system")
        used[digest] = contexts[digest]
        line["context"] = digest
        line["steps"] = _read_exchange(line, json.loads(contexts[digest])).list_steps()
    return list(used.values())


def _read_exchange(line: Line, kept: Line) -> Planned:
    return Planned(
        context=codec.decode(PlanningContext, json.dumps(kept["context"])),
        room=kept["room"],
        marked=kept["marked"],
        answer=line["answer"],
        exchange=line,
    )


# --- the command


def rekey(path: Path) -> list[str]:
    """Write the prompts of today into a transcript. Return why not, if an answer no longer holds."""
    lines = read_transcript(path)
    planned = read_planned(path, lines)
    if changes := [change for each in planned for change in each.find_changes()]:
        return changes
    contexts: list[str] = []
    for each in planned:
        prompt = each.prompt
        digest = digest_prompt(prompt.parts)
        kept = {
            "digest": digest,
            "room": each.room,
            "marked": each.marked,
            "context": json.loads(codec.encode(each.context)),
        }
        contexts.append(f"{json.dumps(kept, ensure_ascii=False)}\n")
        each.exchange["context"] = digest
        each.exchange["asked"] = [
            {"role": "system", "text": prompt.instructions},
            *({"role": "user", "text": part} for part in prompt.parts),
        ]
    write_transcript(path, lines)
    write_contexts(path, contexts)
    return []


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading_mind.replay", description=__doc__)
    parser.add_argument("--rekey", action="store_true", help="write the prompts of today into transcripts that hold")
    given = parser.parse_args(words)
    broken = 0
    for path in sorted(TRANSCRIPTS.glob("*.jsonl")):
        if given.rekey:
            changes = rekey(path)
        else:
            changes = [change for each in read_planned(path, read_transcript(path)) for change in each.find_changes()]
        broken += bool(changes)
        print(f"{path.stem}: {'holds' if not changes else 'answer it again'}")
        print("".join(f"  {change}\n" for change in changes), end="")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
