"""The history of a run, from its plans and ledger: completed steps, failed attempts and results."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from midcourse.domain.approval import OutcomeAnswer
from midcourse.domain.argument import Arguments, Pairs, Reference, Scalar, json_text
from midcourse.domain.failure import FailedStep, Failure
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import UNASKED, CompletedStep, Outcome, Reading
from midcourse.domain.plan import PlanVersion, Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.domain.skill import READ_MORE
from midcourse.ports.store import Store

NO_ANSWER = Outcome(status="unknown", reason="lost", detail="the answer was lost")

WHOLE = "returned"
"""The name under which a world of functions reports all that a call returned, besides its fields."""

TriedStep: TypeAlias = CompletedStep | FailedStep


@dataclass(frozen=True, kw_only=True)
class History:
    completed: tuple[CompletedStep, ...]
    """Steps that were done, and irreversible steps that may have been done."""
    attempts: tuple[FailedStep, ...]
    data: Pairs
    """The latest value under each name that a world or a plan gave: the result of the run."""
    results: Pairs = ()
    """Every result by the name that arguments refer to it by, so that none replaces another."""
    readings: tuple[Reading, ...] = ()
    plans: tuple[PlanVersion, ...] = ()


class HistoryCache:
    """The plans and the ledger of one run, as far as this process has read them.

    A run of thousands of steps reads and decodes each record once: only the latest plan and the latest ledger entry can still
    change, so everything from these on is read again, and nothing before. A deferred check decides an earlier entry, and has
    it read again (`forget_entries`). A process that takes a run over starts with an empty one and reads everything once.
    """

    def __init__(self) -> None:
        self._plans: dict[int, PlanVersion] = {}
        self._entries: list[LedgerEntry] = []
        self._tried: dict[int, TriedStep | None] = {}
        self._partial = _PartialHistory()

    @property
    def plans(self) -> Mapping[int, PlanVersion]:
        """Plans by version, in order."""
        return self._plans

    @property
    def entries(self) -> Sequence[LedgerEntry]:
        """Ledger entries, oldest command first."""
        return self._entries

    async def refresh(self, store: Store, run_id: str) -> "HistoryCache":
        latest = next(reversed(self._plans), 0)
        last = self._entries[-1].command if self._entries else 0
        plans = await store.plans(run_id, latest)
        entries = await store.ledger(run_id, last)
        # What is about to be read again goes, including what another asyncio task has read in the meantime.
        while self._plans and next(reversed(self._plans)) >= latest:
            self._plans.popitem()
        self.forget_entries(last)
        self._plans.update((plan.version, plan) for plan in plans)
        self._entries += entries
        return self

    def forget_entries(self, command: int) -> None:
        """Drop the ledger entries from this command on, so that the next refresh reads them again."""
        while self._entries and self._entries[-1].command >= command:
            self._tried.pop(self._entries.pop().command, None)
        if self._partial.count > len(self._entries):
            self._partial = _PartialHistory()

    def history(self, outcome_answers: tuple[OutcomeAnswer, ...]) -> History:
        """The history, where `outcome_answers` holds people's answers about tries, in the order of the tries."""
        answers = list(outcome_answers)
        partial = self._fold_settled({answer.command for answer in outcome_answers if answer.command})
        for entry in self._entries[partial.count :]:
            outcome = _final_outcome(entry, answers)
            partial.add(self._find_tried_step(entry, outcome), outcome.data)
        return History(
            completed=tuple(partial.completed),
            attempts=tuple(partial.attempts),
            data=tuple(partial.data.items()),
            results=tuple(partial.results.named.items()),
            readings=partial.results.readings,
            plans=tuple(self._plans.values()),
        )

    def outcomes(self, outcome_answers: tuple[OutcomeAnswer, ...]) -> list[tuple[LedgerEntry, Outcome]]:
        """Every entry with its outcome, where `outcome_answers` is as for `history`."""
        return decide_outcomes(self._entries, outcome_answers)

    def _fold_settled(self, answered: set[int]) -> "_PartialHistory":
        """A copy of the history up to the first entry that is undecided or that a person has answered about (`answered`)."""
        if any(entry.command in answered for entry in self._entries[: self._partial.count]):
            self._partial = _PartialHistory()
        partial = self._partial
        for entry in self._entries[partial.count : -1]:
            if entry.outcome is None or entry.outcome.status == "unknown" or entry.command in answered:
                break
            partial.add(self._find_tried_step(entry, entry.outcome), entry.outcome.data)
        return partial.copy()

    def _find_tried_step(self, entry: LedgerEntry, outcome: Outcome) -> TriedStep | None:
        """The step of this entry, cached unless a person's answer decided its outcome."""
        if outcome is not (entry.outcome or NO_ANSWER):
            return _build_tried_step(self._plans[entry.version], entry, outcome)
        if entry.command not in self._tried:
            self._tried[entry.command] = _build_tried_step(self._plans[entry.version], entry, outcome)
        return self._tried[entry.command]


def read_window(arguments: Arguments) -> tuple[str, int]:
    """The result and the first character that a step with `read_more` asks for. The name may be written as a reference."""
    given = dict(arguments)
    name, start = given.get("name"), given.get("from")
    return name.name if isinstance(name, Reference) else str(name), start if isinstance(start, int) else 0


def find_failed_step(failure: Failure, history: History) -> FailedStep | None:
    """The latest try of the step that failed, if it was a step."""
    tries = (
        attempt
        for attempt in reversed(history.attempts)
        if (attempt.version, attempt.index) == (failure.version, failure.index)
    )
    return next(tries, None)


def drop_settled(history: History, now: Observation) -> tuple[FailedStep, ...]:
    """The failures that a planner still has to know: not of a step that worked later, nor of a screen that was left for good,
    nor of a text that did not appear, if another step has worked since.

    What is left out cannot be repeated by mistake either, since admission knows it. A screen that is seen again brings its failures back.
    """
    titles = {(step.version, step.index): step.target.surface for plan in history.plans for step in plan.steps}
    newest = max((done.version for done in history.completed), default=0)
    worked = max(((done.version, done.index) for done in history.completed if not done.doubtful), default=(0, 0))

    def is_settled(failed: FailedStep) -> bool:
        tried = (failed.version, failed.index)
        if failed.reason == "not_seen" and worked > tried:  # the run went on without the text that it waited for
            return True
        if titles.get(tried, "") not in ("", now.surface.title) and newest > failed.version:
            return True
        return any(
            not done.doubtful
            and (done.version, done.index) >= tried
            and (done.skill, done.target) == (failed.skill, failed.target)
            and (bool(done.target) or done.arguments == failed.arguments)
            for done in history.completed
        )

    return tuple(failed for failed in history.attempts if not is_settled(failed))


class _PartialHistory:
    """The history up to some ledger entry."""

    def __init__(self) -> None:
        self.count = 0
        self.completed: list[CompletedStep] = []
        self.attempts: list[FailedStep] = []
        self.data: dict[str, Scalar] = {}
        self.results = _Results()

    def copy(self) -> "_PartialHistory":
        copied = _PartialHistory()
        copied.count = self.count
        copied.completed, copied.attempts, copied.data = [*self.completed], [*self.attempts], {**self.data}
        copied.results = self.results.copy()
        return copied

    def add(self, tried: TriedStep | None, data: Pairs) -> None:
        self.count += 1
        match tried:
            case CompletedStep():
                self.completed.append(tried)
                if not tried.doubtful:
                    self.data.update(data)
                    self.data.update(self.results.add(tried, data))
            case FailedStep():
                self.attempts.append(tried)
            case None:
                pass


class _Results:
    """What steps returned, in order. No result replaces another.

    A name means the latest result that has it, as a variable would: a plan that reads twice and enters `text` after each means the
    one before. Earlier ones of the same name stay as `text_1`, `text_2` and so on.
    """

    def __init__(self) -> None:
        self._values: list[tuple[str, Scalar]] = []
        self._shown: list[tuple[int, int]] = []
        """The values that a planner is shown, and from which character on."""

    def copy(self) -> "_Results":
        copied = _Results()
        copied._values, copied._shown = [*self._values], [*self._shown]
        return copied

    def add(self, step: CompletedStep, data: Pairs) -> Pairs:
        """Keep what a step returned, and return it by the names that the plan gave. `read_more` only has more of it shown."""
        if step.skill == READ_MORE.name and not data:
            name, start = read_window(step.arguments)
            self._shown += [(place, start) for place, each in enumerate(self._names()) if each == name]
            return ()
        named = _name_results(step.result_name, step.skill, data) if step.result_name else data
        shown = set(_select_telling(step, named))
        self._shown += [(len(self._values) + n, 0) for n, (name, _) in enumerate(named) if name in shown]
        self._values += named
        return named if step.result_name else ()

    @property
    def named(self) -> dict[str, Scalar]:
        return dict(zip(self._names(), (value for _, value in self._values), strict=True))

    @property
    def readings(self) -> tuple[Reading, ...]:
        names = self._names()
        return tuple(
            Reading(name=names[place], value=self._values[place][1], start=start) for place, start in self._shown
        )

    def _names(self) -> list[str]:
        last = {name: place for place, (name, _) in enumerate(self._values)}
        count, names = Counter[str](), list[str]()
        for place, (name, _) in enumerate(self._values):
            count[name] += 1
            numbered = f"{name}_{count[name]}"
            names.append(
                name if place == last[name] else numbered if numbered not in last else f"{name}__{count[name]}"
            )
        return names


def _name_results(name: str, skill: str, data: Pairs) -> Pairs:
    """The results of a step under the name that the plan gave it: the whole, and its parts behind a dot."""
    if len(data) <= 1:
        return tuple((name, value) for _, value in data)
    given = dict(data)
    whole = next((given[each] for each in (WHOLE, skill) if each in given), json_text(given))
    return ((name, whole), *((f"{name}.{each}", value) for each, value in data if each not in (WHOLE, skill)))


def _select_telling(step: CompletedStep, named: Pairs) -> Iterable[str]:
    """The names of these results without those that only repeat another one, so that a planner does not pay for them twice."""
    if step.result_name:
        yield step.result_name
        return
    given = dict(named)
    text = given.get(step.skill)
    for name, value in named:
        # A world of functions reports the parts besides the whole; one of MCP, the fields that are in its text.
        repeats = name == WHOLE and (len(given) > 1 or value == "null")
        if isinstance(text, str) and name != step.skill:
            repeats = repeats or str(value) in text or json_text(value).strip('"') in text
        if not repeats:
            yield name


def _build_tried_step(plan: PlanVersion, entry: LedgerEntry, outcome: Outcome) -> TriedStep | None:
    """The step of a ledger entry. None for a step of a detour: its effect shows on the screen."""
    if plan.cause == "detour":
        return None
    step = plan.steps[entry.index]
    if outcome.status == "ok":
        return _build_completed_step(step, entry, outcome)
    if outcome.status == "unknown" and outcome.reason not in UNASKED and _is_irreversible(step, entry):
        return _build_completed_step(step, entry, outcome)
    target, says = _name_target(step, entry)
    return FailedStep(
        version=step.version,
        index=step.index,
        skill=step.skill,
        target=target,
        arguments=step.arguments,
        reason=outcome.reason,
        detail=outcome.detail,
        says=says,
    )


def decide_outcomes(
    entries: Iterable[LedgerEntry], outcome_answers: tuple[OutcomeAnswer, ...]
) -> list[tuple[LedgerEntry, Outcome]]:
    """Every entry with its outcome, where `outcome_answers` holds people's answers about tries, in the order of the tries."""
    answers = list(outcome_answers)
    return [(entry, _final_outcome(entry, answers)) for entry in entries]


def _final_outcome(entry: LedgerEntry, answers: list[OutcomeAnswer]) -> Outcome:
    """What a person answered about this try, otherwise the outcome in the ledger.

    An answer that names no command is about the first unknown try of its step that no other answer is about.
    """
    outcome = entry.outcome or NO_ANSWER
    known = (entry.version, entry.index, 0) if outcome.status == "unknown" else None
    answer = next(
        (a for a in answers if a.command == entry.command or (a.version, a.index, a.command) == known),
        None,
    )
    if answer is None:
        return outcome
    answers.remove(answer)
    who = answer.by or "a person"
    if answer.happened:  # what the act has returned stays
        return replace(outcome, status="ok", reason="", detail=f"{who} says that it happened", evidence="person")
    return Outcome(
        status="no_effect", reason="no_effect", detail=f"{who} says that it did not happen", evidence="person"
    )


def _is_irreversible(step: Step, entry: LedgerEntry) -> bool:
    """Whether it is irreversible by its skill, or was found to be when tried: only such an act has an identity."""
    return step.effect == "irreversible" or bool(entry.identity)


def _name_target(step: Step, entry: LedgerEntry) -> tuple[str, str]:
    """The label of the target, as it was found where the plan gave a pattern, and the step in words."""
    generated = step.says == f"{step.skill} {step.target.label}".strip()
    target = entry.target or step.target.label
    return target, f"{step.skill} {target}".strip() if entry.target and generated else step.says


def _build_completed_step(step: Step, entry: LedgerEntry, outcome: Outcome) -> CompletedStep:
    target, says = _name_target(step, entry)
    return CompletedStep(
        version=step.version,
        index=step.index,
        skill=step.skill,
        target=target,
        says=says,
        arguments=step.arguments,
        irreversible=_is_irreversible(step, entry),
        doubtful=outcome.status == "unknown",
        evidence=outcome.evidence,
        result_name=step.result_name,
        unsent=bool(outcome.unsent),
    )
