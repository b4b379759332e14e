"""The contents of a page about a run, read from the store once before the page is rendered."""

import time
from base64 import b64encode
from dataclasses import dataclass, field

from midcourse.domain.approval import Consequence
from midcourse.domain.commands import AskedStep, AskPerson
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.result import Result
from midcourse.history.journal import Journal, journal_of
from midcourse.history.pictures import list_pictures
from midcourse.ports.blobs import Blobs
from midcourse.ports.store import Store
from midcourse.presentation.evidence import SentAct, sent_acts
from midcourse.presentation.narration import LogLine, Narrator
from midcourse.presentation.result import headline
from midcourse.presentation.status import run_sentence
from midcourse.presentation.vocabulary import describe_step
from midcourse.replay import count_carried_out

MOST_BYTES = 20_000_000
"""The maximum number of bytes of pictures in a page."""


@dataclass(frozen=True, kw_only=True)
class ShownStep:
    says: str
    consequence: Consequence | None


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question of the run, with the decision if there was one."""

    at: float
    command: AskPerson
    steps: tuple[ShownStep, ...]
    decision: ApprovalDecided | None


@dataclass(frozen=True, kw_only=True)
class Picture:
    number: int
    at: float
    surface: str
    digest: str
    source: str = field(repr=False)
    """A `data:` address; empty if the picture was left out or is gone."""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, kw_only=True)
class Story:
    journal: Journal
    result: Result | None
    sentence: str
    name: str
    """The name of the task; empty if a program started the run."""
    log: tuple[LogLine, ...]
    sent: tuple[SentAct, ...]
    questions: tuple[AskedQuestion, ...]
    pictures: tuple[Picture, ...]
    shots: dict[str, Picture]
    """Pictures by observation."""
    carried_out: dict[int, int]
    """The number of steps that were carried out, by plan version."""
    told_at: float

    @property
    def began_at(self) -> float:
        return self.journal.rows[0].event.at if self.journal.rows else self.journal.state.started_at

    @property
    def left_out(self) -> int:
        return sum(not picture.source for picture in self.pictures)


async def read_story(store: Store, blobs: Blobs, run_id: str, *, name: str = "", most_bytes: int = MOST_BYTES) -> Story:
    """Read the contents of a page. Raises `RunUnknown`."""
    journal = await journal_of(store, run_id)
    result = await store.result(run_id)
    pictures = await _load_pictures(store, blobs, run_id, most_bytes)
    return Story(
        journal=journal,
        result=result,
        sentence=_describe_state(journal, result),
        name=name,
        log=_narrate(journal),
        sent=await sent_acts(store, journal),
        questions=await _load_questions(store, journal),
        pictures=pictures,
        shots=await _load_shots(store, journal, pictures),
        carried_out=count_carried_out(journal.opening, journal.rows),
        told_at=time.time(),
    )


def _describe_state(journal: Journal, result: Result | None) -> str:
    if result is not None:
        words = headline(result)
        return f"{words[:1].upper()}{words[1:]}."
    run = journal.state
    plan = journal.plan(run.segment.version) if run.segment else None
    at = run.segment.cursor if run.segment else 0
    step = describe_step(plan.steps[at]) if plan and at < len(plan.steps) else ""
    return run_sentence(run, run.now, step)


def _narrate(journal: Journal) -> tuple[LogLine, ...]:
    narrator = Narrator()
    narrator.add_commands(issued.command for issued in journal.opening.pending)
    for plan in journal.plans:
        narrator.add_plan(plan)
    lines = (narrator.describe(row.event, row.commands) for row in journal.rows)
    return tuple(line for line in lines if line is not None)


async def _load_questions(store: Store, journal: Journal) -> tuple[AskedQuestion, ...]:
    asked = [
        (row.event.at, command) for row in journal.rows for command in row.commands if isinstance(command, AskPerson)
    ]
    decided = {row.event.question: row.event for row in journal.rows if isinstance(row.event, ApprovalDecided)}
    return tuple(
        [
            AskedQuestion(
                at=at,
                command=command,
                steps=tuple([await _load_step(store, journal, step) for step in command.steps]),
                decision=decided.get(command.id),
            )
            for at, command in asked
        ]
    )


async def _load_step(store: Store, journal: Journal, step: AskedStep) -> ShownStep:
    plan = journal.plan(step.version)
    says = describe_step(plan.steps[step.index]) if plan and step.index < len(plan.steps) else ""
    found = await store.consequence(journal.opening.id, step.consequence) if step.consequence else None
    return ShownStep(says=says, consequence=found)


async def _load_pictures(store: Store, blobs: Blobs, run_id: str, most_bytes: int) -> tuple[Picture, ...]:
    """Every picture once, in the order of the looks. Pictures are embedded until `most_bytes` are used up."""
    found: list[Picture] = []
    room = most_bytes
    for number, look in enumerate(await list_pictures(store, blobs, run_id), start=1):
        blob = await blobs.read(run_id, look.digest) if room > 0 else None
        if blob is not None and (not blob.media_type.startswith("image/") or len(blob.data) > room):
            blob = None
        room -= len(blob.data) if blob else 0
        source = f"data:{blob.media_type};base64,{b64encode(blob.data).decode()}" if blob else ""
        found.append(
            Picture(
                number=number,
                at=look.at,
                surface=look.surface,
                digest=look.digest,
                source=source,
                width=blob.width if blob else 0,
                height=blob.height if blob else 0,
            )
        )
    return tuple(found)


async def _load_shots(store: Store, journal: Journal, pictures: tuple[Picture, ...]) -> dict[str, Picture]:
    by_digest = {picture.digest: picture for picture in pictures if picture.source}
    shots: dict[str, Picture] = {}
    for row in journal.rows if by_digest else ():
        seen = getattr(row.event, "seen", None)
        full = await store.observation(journal.opening.id, seen.id) if seen is not None else None
        if full is not None and full.screenshot in by_digest:
            shots[full.id] = by_digest[full.screenshot]
    return shots
