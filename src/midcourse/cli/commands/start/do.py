"""`midcourse do`: a goal in one sentence, carried out by a model in a browser."""

import asyncio
import re
from collections.abc import Sequence
from typing import cast

from midcourse.app.extras import require_chromium
from midcourse.app.one_line import DRY, DryRun, Wish, job_for
from midcourse.app.start import new_run_id
from midcourse.cli.commands.run import check_name
from midcourse.cli.overrides import pairs
from midcourse.cli.session.local import Manner, begin
from midcourse.domain.budget import Approvals
from midcourse.errors import TaskInvalid


def do(
    goal: str,
    overrides: Sequence[str],
    *,
    at: str,
    model: str,
    inputs: Sequence[str],
    secrets: Sequence[str],
    origins: str,
    max_cost: float | None,
    approvals: str,
    headed: bool,
    dry_run: bool,
    run_id: str,
    json: bool,
    quiet: bool,
) -> int:
    check_name("--run-id", run_id)
    if not goal.strip():
        raise TaskInvalid(
            'say what is to be done, such as midcourse do "Order one desk lamp" --at https://shop.example'
        )
    wish = Wish(
        goal=goal,
        at=at,
        model=model,
        inputs=inputs_in(inputs),
        secrets=tuple(secrets),
        origins=origins or None,
        max_cost=max_cost,
        approvals=cast(Approvals, approvals) if approvals else None,  # the settings refuse what is none
        headed=headed,
    )
    dry = DryRun() if dry_run else None
    job = job_for(wish, {**pairs(overrides), **(DRY if dry else {})})
    asyncio.run(require_chromium())
    return asyncio.run(begin(job, run_id or new_run_id(), Manner(json=json, quiet=quiet), dry=dry))


def inputs_in(texts: Sequence[str]) -> dict[str, str]:
    """`--input NAME=VALUE` as names and values."""
    named: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z]\w*", name.strip()):
            raise TaskInvalid(f"--input {text}: write it as NAME=VALUE, such as --input reference=PO-1001")
        named[name.strip()] = value
    return named
