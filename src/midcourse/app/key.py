"""The business key: what earlier runs under it did decides whether another may begin."""

from dataclasses import dataclass
from typing import TypeAlias

from midcourse.domain.result import Result
from midcourse.errors import KeyTaken
from midcourse.ports.store import Store


@dataclass(frozen=True, kw_only=True)
class Free:
    """A run may begin, `after` the latest under this key if there is one."""

    after: str = ""


@dataclass(frozen=True, kw_only=True)
class Unfinished:
    """A run under this key has not ended: it is the one to go on with."""

    run: str


@dataclass(frozen=True, kw_only=True)
class Done:
    """A run under this key has done it, and this is what it came to."""

    result: Result


Standing: TypeAlias = Free | Unfinished | Done


async def standing_of(store: Store, key: str, *, again: bool = False) -> Standing:
    """How things stand under a key; none is always free.

    A run that ended without success and left nothing behind frees its key. One that did something irreversible, or may
    have, does not: whoever comes next would know nothing of it and do it a second time. That is `KeyTaken`, until
    somebody has looked and says `again`.
    """
    run_id = await store.run_with_key(key) if key else None
    if run_id is None:
        return Free()
    result = await store.result(run_id)
    if result is None:
        return Unfinished(run=run_id)
    if result.success:
        return Done(result=result)
    run, _ = await store.load(run_id)
    left = [step for step in result.completed if step.irreversible]
    if again or not (left or run.finished_irreversible):
        return Free(after=run_id)
    may_have = "may have done" if any(step.doubtful for step in left) or not left else "did"
    what = ", ".join(f"'{step.says or step.skill}'" for step in left) or "something irreversible"
    raise KeyTaken(
        f"run {run_id} has the key '{key}' and ended without success ({result.final_reason}), but {may_have} {what}; "
        f"see what it left, and if it may be done once more, say so with --again (in Python again=True)"
    )
