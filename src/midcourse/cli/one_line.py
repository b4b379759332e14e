"""`await midcourse.do(...)`: the command `midcourse do` for Python."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from midcourse.agent.agent import agent_for
from midcourse.agent.one_line import DRY, DryRun, OneLineTask, job_for, tape_settings
from midcourse.agent.start import new_run_id
from midcourse.agent.wiring import run_folder, save_job
from midcourse.config.extras import require_chromium
from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Approvals
from midcourse.domain.result import Result
from midcourse.ports.approver import Approver
from midcourse.terminal.approver import TerminalApprover


async def do(
    goal: str,
    *,
    at: str,
    model: str = "",
    inputs: Mapping[str, Scalar] | None = None,
    secrets: Iterable[str] = (),
    origins: str | Mapping[str, object] | None = None,
    max_cost: float | None = None,
    approvals: Approvals | None = None,
    headed: bool = False,
    sends: bool = False,
    record: str | Path | None = None,
    approver: Approver | None = None,
    run_id: str = "",
) -> Result:
    """Let a model carry out a goal in a browser, which starts at the page `at`.

    `secrets` are names, such as `password` or `password@https://shop.example`; their values are in the environment
    (`MIDCOURSE_SECRET_PASSWORD`). Without an `approver` you are asked in the terminal, and without a terminal nothing irreversible
    is sent. With `sends` a run that sent nothing but a sign-in fails. The approver `DryRun()` drops the first irreversible request and keeps it in `dropped`. The run is stored in the home:
    `midcourse show`, `resume` and `init task --from` find it.
    """
    one_line = OneLineTask(
        goal=goal,
        at=at,
        model=model,
        inputs=inputs or {},
        secrets=tuple(secrets),
        origins=origins,
        max_cost=max_cost,
        approvals=approvals,
        headed=headed,
        sends=sends,
    )
    approver = approver or TerminalApprover()
    job = job_for(one_line, {**tape_settings(record=record), **(DRY if isinstance(approver, DryRun) else {})})
    await require_chromium()
    run_id = run_id or new_run_id()
    folder = run_folder(job.settings, run_id)
    live = agent_for(job, folder, approver).start(job.task, run_id=run_id)
    save_job(job, folder)
    return await live.result()
