"""Builds the verdict of an ended run from its stored records."""

from pathlib import Path

from midcourse.cli.view.verdict import Verdict
from midcourse.config.defaults import NO_APPROVER
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.result import Result
from midcourse.errors import RunPruned
from midcourse.ports.store import Store
from midcourse.presentation.result import EFFECTS, effect_lines, sent_effects


async def verdict_of(result: Result, store: Store, folder: Path | None) -> Verdict:
    unattended = False
    if result.final_reason in ("rejected", "needs_human"):
        decided = await _decisions(store, result.run)
        unattended = bool(decided) and decided[-1].by == NO_APPROVER
    return Verdict(
        result=result,
        folder=folder,
        unattended=unattended,
        sent=await sent_effects(store, result.run),
        effects=effect_lines(folder / EFFECTS) if folder else (),
    )


async def _decisions(store: Store, run_id: str) -> list[ApprovalDecided]:
    try:
        return [row.event for row in await store.journal(run_id) if isinstance(row.event, ApprovalDecided)]
    except RunPruned:
        return []
