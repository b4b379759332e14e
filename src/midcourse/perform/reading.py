"""Text that a model reads: expectations in words, and the output of a task."""

from dataclasses import dataclass

from midcourse.containment import Contained
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Spent, bill, without_call
from midcourse.domain.expectation import Expectation
from midcourse.domain.observation import Observation
from midcourse.domain.skill import Parameter
from midcourse.perform.history import History
from midcourse.perform.ports import Deadline, Ports, describe_error
from midcourse.policy.arguments import fits_type
from midcourse.policy.evidence.presence import is_shown
from midcourse.policy.evidence.verification import needs_reader
from midcourse.policy.spending import worst_plan
from midcourse.ports.extractor import Extract, Wanted
from midcourse.ports.verifier import Claim, Verdict

MOST_SCREENS = 6
"""The number of screens that are searched for the output, the latest first."""
LONGEST_VALUE = 2000


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The verifier's verdict, None if it was not asked, and what it cost."""

    verdict: Verdict | None = None
    spent: tuple[Spent, ...] = ()


async def read_words(
    ports: Ports,
    condition: Expectation | None,
    now: Observation,
    time: Deadline,
    *,
    before: Observation | None = None,
    version: int = 0,
    turn: int = 0,
) -> Reading:
    """Have the verifier read a condition that is only words, if there is one and the settings allow it."""
    if condition is None or not needs_reader(condition) or ports.verifier is None or not ports.task.limits.reads_words:
        return Reading()
    worst, seconds = worst_plan(ports.task.limits), time.left(ports.task.limits.plan_timeout_seconds)
    says, task = ports.sanitize(condition.says), ports.public_task
    claim = Claim(says=says, task=task, now=now, before=before, worst=worst, turn=turn)
    try:
        async with Contained(seconds):
            verdict = await ports.verifier.verify(claim)
    except TimeoutError:
        verdict = Verdict(why="it was not read in time", cost=without_call(worst), wait=0.0)
    except Exception as error:
        verdict = Verdict(why=describe_error(error), cost=worst)
    return Reading(verdict=verdict, spent=bill("verifier", verdict.cost, version, verdict.model))


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """The values that were read for the output, and what that cost."""

    data: Pairs = ()
    spent: tuple[Spent, ...] = ()
    wait: float | None = None


async def extract_output(
    ports: Ports, history: History, now: Observation | None, time: Deadline, turn: int = 0
) -> Extraction:
    """Read the missing fields of the task's output from the screens of this run."""
    have = {
        name
        for name, value in history.data
        if any(_fits(value, field) for field in ports.task.output if field.name == name)
    }
    fields = tuple(field for field in ports.task.output if field.name not in have)
    if not fields or ports.extractor is None or not ports.task.limits.reads_words:
        return Extraction()
    screens = await _load_screens(ports, history, now)
    worst = worst_plan(ports.task.limits)
    wanted = Wanted(task=ports.public_task, fields=fields, screens=screens, worst=worst, turn=turn)
    try:
        seconds = time.left(ports.task.limits.plan_timeout_seconds)
        async with Contained(seconds):
            found = await ports.extractor.extract(wanted)
    except TimeoutError:
        found = Extract(why="it was not read in time", cost=without_call(worst), wait=0.0)
    except Exception as error:
        found = Extract(why=describe_error(error), cost=worst)
    data = ports.mask(_select_valid(found.data, fields, screens))
    return Extraction(data=data, spent=bill("extractor", found.cost, 0, found.model), wait=found.wait)


async def _load_screens(ports: Ports, history: History, now: Observation | None) -> tuple[Observation, ...]:
    ids = dict.fromkeys(plan.observation for plan in reversed(history.plans))
    earlier = [await ports.store.observation(ports.run_id, seen) for seen in [*ids][:MOST_SCREENS]]
    different = {seen.fingerprint: seen for seen in (now, *earlier) if seen is not None}
    return tuple(different.values())[:MOST_SCREENS]


def _select_valid(data: Pairs, fields: tuple[Parameter, ...], screens: tuple[Observation, ...]) -> Pairs:
    """Values that were asked for, have the right type and appear on a screen: any other value is made up."""
    wanted = {field.name: field for field in fields}
    return tuple(
        (name, value[:LONGEST_VALUE] if isinstance(value, str) else value)
        for name, value in dict(data).items()
        if name in wanted and _fits(value, wanted[name]) and is_shown(value, screens)
    )


def _fits(value: object, field: Parameter) -> bool:
    return fits_type(value, field.type) and (not field.choices or value in field.choices)
