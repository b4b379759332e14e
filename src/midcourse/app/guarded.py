"""`@guarded`: a plain function whose effect happens once for each key, however often it is called and whatever crashes.

A call is a run of one step, driven as any other: it is in the ledger before it is sent, its outcome is unknown if it raises, and
`happened` decides then. So it is listed by `midcourse runs`, approved with `midcourse approve`, and shown in the console.
"""

import asyncio
import inspect
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from string import Formatter
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast

from midcourse.app.agent import Agent
from midcourse.app.defaults import LeaveOpen
from midcourse.app.process_store import PROCESS_STORE, load_settings
from midcourse.app.settings.run import Settings
from midcourse.app.start import new_run_id
from midcourse.app.undo import UndoReport
from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Limits
from midcourse.domain.plan import Draft
from midcourse.domain.result import Result
from midcourse.domain.skill import Effect, Undo
from midcourse.domain.task import Task
from midcourse.errors import AnswerLost, KeyTaken, OutcomeUnknown, Rejected, RunBusy, RunUnknown, SkillInvalid
from midcourse.planners.same_plan import SamePlan
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store
from midcourse.worlds.functions import GUARD, RETURNED, Function, Functions, function_of

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

BUSY_SECONDS = 0.05
"""How often to look whether another process has finished the same call."""
NEVER = 10.0**9
"""A plain function cannot be interrupted, so it has no time-out but its own."""


def guarded(
    *,
    key: str,
    name: str = "",
    effect: Effect = "irreversible",
    happened: Callable[..., Any] | None = None,
    absent_on: tuple[type[Exception], ...] = (),
    settles_after: float = 0.0,
    undo: str | Undo | Callable[..., Any] = "",
    approve: Literal["never", "always"] = "never",
    approver: Approver | None = None,
    wait: float | None = None,
    timeout: float | None = None,
    settings: Settings | None = None,
    database: str = "",
    tenant: str = "default",
    store: Store | None = None,
) -> "Callable[[Callable[P, R]], GuardedFunction[P, R]]":
    """Make the effect of a function, plain or `async`, happen at most once for each key.

    `key` is built from the arguments, such as `"{order_id}"`. The same call again returns what the first one returned; other values
    under the same key raise `KeyTaken`. Keys belong to `name`, by default the function's module and qualified name.

    `happened` takes the same arguments and says whether the effect is there: True, False, or None if it cannot tell. It is asked
    when a call raised or its process died; without it a person is. `settles_after` is how long the effect may take to be seen, in
    seconds. After an exception in `absent_on` nothing was sent. `undo` is the function that reverts this one, or its name in the same
    module: `order.undo(…)` with the arguments of a call reverts that call.

    `approve="always"` asks `approver`, or posts the question for `midcourse approve` and the console; a caller that waits no longer
    than `wait` seconds gets `Pending`. `timeout` is for `async` functions, in seconds. `database` is the URL of a PostgreSQL database,
    for calls from several machines. Raises `Rejected`, `OutcomeUnknown` and `AnswerLost`; if nothing happened, the function's own
    exception.
    """

    def decorate(call: Callable[P, R]) -> GuardedFunction[P, R]:
        function = Function(
            call=call,
            effect=effect,
            happened=happened,
            absent_on=absent_on,
            settles_after=settles_after,
            undo=_read_undo(undo),
        )
        guard = Guard(
            function=function,
            name=name or default_name(call),
            key=key,
            approvals=approve,
            approver=approver,
            wait=wait,
            timeout=timeout,
            settings=settings,
            database=database,
            tenant=tenant,
            store=store,
            inverse=undo if callable(undo) else None,
        )
        return _wrap(call, guard)

    return decorate


class GuardedFunction(Protocol[P, R_co]):
    """What `@guarded` makes of a function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def undo(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Undo the call with these arguments, and return an `UndoReport`; of an `async` function it is awaited."""
        ...


def _read_undo(given: str | Undo | Callable[..., Any]) -> Undo | None:
    if not given:
        return None
    if isinstance(given, Undo):
        return given
    return Undo(skill=given if isinstance(given, str) else function_of(given).name)


def _wrap(call: Callable[P, R], guard: "Guard") -> GuardedFunction[P, R]:
    """The function that callers get: its calls go through the guard."""
    if inspect.iscoroutinefunction(call):

        @wraps(call)
        async def invoke_async(*args: P.args, **kwargs: P.kwargs) -> Any:
            return await guard.call(guard.function.arguments(*args, **kwargs))

        wrapper: Callable[..., Any] = invoke_async
        undo: Callable[..., Any] = guard.undo
    else:

        @wraps(call)
        def invoke(*args: P.args, **kwargs: P.kwargs) -> Any:
            return run_blocking(guard.call(guard.function.arguments(*args, **kwargs)))

        def undo_call(*args: P.args, **kwargs: P.kwargs) -> UndoReport:
            return run_blocking(guard.undo(*args, **kwargs))

        wrapper, undo = invoke, undo_call
    in_worlds = replace(guard.function, call_once=guard.call_within_run)
    for name, value in ((GUARD, in_worlds), ("undo", undo)):
        setattr(wrapper, name, value)
    return cast(GuardedFunction[P, R], wrapper)


class Stops:
    """An approver that leaves a call in doubt: the run that made it asks its own."""

    async def ask(self, question: Question) -> Decision:
        return Decision(verdict="stop")


class Posted(LeaveOpen):
    """Leaves the question open, and says so in the log: the caller waits for the decision without another sign of it."""

    async def ask(self, question: Question) -> None:
        log.warning("run %s waits for a decision: midcourse approve %s", question.run, question.run)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """One guarded function: its calls as runs."""

    function: Function
    name: str
    """What its keys belong to."""
    key: str
    approvals: Literal["never", "always"]
    approver: Approver | None
    wait: float | None
    timeout: float | None
    settings: Settings | None
    database: str
    tenant: str
    store: Store | None
    inverse: Callable[..., Any] | None = None
    """The function that reverts this one, if it was given as one; else its name is looked up in the module."""

    def __post_init__(self) -> None:
        name, parameters = self.function.name, [each.name for each in self.function.signature.parameters]
        fields = [field for _, field, _, _ in Formatter().parse(self.key) if field is not None]
        if not fields:
            raise SkillInvalid(f"{name}: key '{self.key}' names no argument; write it like '{{{parameters[0]}}}'")
        if unknown := [field for field in fields if field not in parameters]:
            raise SkillInvalid(f"{name}: key '{self.key}' names {', '.join(unknown)}, which is not an argument of it")
        if self.timeout is not None and not inspect.iscoroutinefunction(self.function.call):
            raise SkillInvalid(f"{name}: a plain function cannot be interrupted; set the time-out inside it")

    @cached_property
    def limits(self) -> Limits:
        """One step, once: the caller decides what to do after an exception."""
        return Limits(
            approvals=self.approvals,
            max_replans=0,
            max_error_replans=0,
            max_step_retries=0,
            outline="off",
            act_timeout_seconds=self.timeout or NEVER,
            max_wall_seconds=NEVER,
        )

    async def call(self, arguments: Pairs, *, again: bool = False) -> Any:
        """Carry out a call, or find the earlier one under its key, and return what the function returned.

        `again`: an earlier one that is in doubt was found not to have happened.
        """
        settings = self.settings or load_settings()
        async with self._open_store(settings) as store:
            return await self._call(arguments, settings, store, again=again)

    async def call_within_run(self, arguments: Pairs, again: bool) -> Any:
        """`call` as a step of another run, which asks its own approver, also whether something happened."""
        return await replace(self, approvals="never", approver=Stops(), wait=None).call(arguments, again=again)

    async def undo(self, *args: Any, **kwargs: Any) -> UndoReport:
        """Undo the call with these arguments. Raises `RunUnknown` if there was none, and as `Agent.undo` does."""
        settings = self.settings or load_settings()
        world = Functions(self.function, self._find_inverse(), shared=bool(self.database))
        limited = settings.with_overrides({"approvals": self.approvals})
        async with self._open_store(settings) as store:
            agent = Agent(world, approver=self.approver or LeaveOpen(), settings=limited, store=store)
            which, key = self._identify(self.function.arguments(*args, **kwargs))
            run_id = await store.run_with_key(key)
            if run_id is None:
                raise RunUnknown(f"{self.function.name} was not called for {which}: there is nothing to undo")
            return await agent.undo(run_id)

    def _find_inverse(self) -> Function:
        declared = self.function.undo
        if declared is None:
            raise SkillInvalid(f"{self.function.name} cannot be undone: it names no undo")
        found = self.inverse or inspect.unwrap(self.function.call).__globals__.get(declared.skill)
        if not callable(found):
            raise SkillInvalid(
                f"{self.function.name}: undone by '{declared.skill}', which is no function of its module"
            )
        return replace(function_of(found), call_once=None)  # the run that undoes it has a key of its own

    @asynccontextmanager
    async def _open_store(self, settings: Settings) -> AsyncGenerator[Store]:
        if self.store is not None:
            yield self.store
        elif self.database:
            from midcourse.app.fleet.settings import FleetSettings
            from midcourse.app.fleet.store import open_fleet_store

            fleet = FleetSettings.load(settings.home, {"database_url": self.database, "tenant": self.tenant})
            async with open_fleet_store(fleet) as store:
                yield store
        else:
            with PROCESS_STORE.use(settings.home) as store:
                yield store

    def _identify(self, arguments: Pairs) -> tuple[str, str]:
        """What the call is about, and its business key."""
        which = self.key.format(**dict(arguments))
        return which, f"{self.name}:{which}"

    async def _call(self, arguments: Pairs, settings: Settings, store: Store, *, again: bool) -> Any:
        name = self.function.name
        which, key = self._identify(arguments)
        world = Functions(self.function, shared=bool(self.database))
        agent = Agent(
            world,
            SamePlan([Draft(skill=name, arguments=arguments, says=f"{name} {which}")]),
            approver=self.approver or (Posted() if self.wait is None else LeaveOpen()),
            settings=settings,
            store=store,
        )
        task = Task(goal=f"Call {name} for {which}", key=key, inputs=arguments, limits=self.limits)
        run_id = new_run_id()
        while True:
            await self._check_values(store, key, arguments)
            try:
                result = await agent.start(task, run_id=run_id, again=again).result_unless_asked(self.wait)
            except RunBusy:
                await asyncio.sleep(BUSY_SECONDS)
                continue
            except KeyTaken:
                earlier = await store.run_with_key(key) or run_id
                may_have = f"{name} may have happened in an earlier call, and nothing could decide it"
                raise OutcomeUnknown(
                    f"{may_have}; look for it, and use another key to do it once more", earlier
                ) from None
            await self._check_values(store, key, arguments)
            if result.run == run_id or not _had_no_effect(result):
                return await self._return_or_raise(store, result, world)

    async def _check_values(self, store: Store, key: str, arguments: Pairs) -> None:
        run_id = await store.run_with_key(key)
        if run_id is None:
            return
        _, task = await store.load(run_id)
        differing = [name for name, value in arguments if dict(task.inputs).get(name) != value]
        if differing:
            raise KeyTaken(
                f"run {run_id} called {self.function.name} under the key '{key}' with other values of {', '.join(differing)}"
            )

    async def _return_or_raise(self, store: Store, result: Result, world: Functions) -> Any:
        name, run_id = self.function.name, result.run
        if result.success:
            for entry in await store.ledger(run_id):
                returned = dict(entry.outcome.data).get(RETURNED) if entry.outcome else None
                if isinstance(returned, str):
                    return self.function.read_returned(returned)
            if self.function.returns_nothing:
                return None
            raise AnswerLost(f"{name} happened, and what it returned was lost; run {run_id} has the evidence", run_id)
        if result.final_reason == "rejected":
            raise Rejected(f"{name} was not approved: {result.final_detail}", run_id)
        if world.raised is not None and _had_no_effect(result):
            raise world.raised
        raise OutcomeUnknown(f"{name} may have happened: {result.final_detail}", run_id)


def default_name(call: Callable[..., Any]) -> str:
    """The module and the qualified name of a function, the same for `python orders.py`, `python -m orders` and `import orders`."""
    module = call.__module__
    if module == "__main__":
        spec = getattr(sys.modules[module], "__spec__", None)
        module = spec.name if spec else Path(inspect.getfile(call)).stem
    return f"{module}.{call.__qualname__}"


def _had_no_effect(result: Result) -> bool:
    """Whether an earlier call under this key failed without an effect, so that this one may be made."""
    failed = not result.success and result.final_reason != "rejected"
    return failed and not any(step.irreversible for step in result.completed)


def run_blocking(call: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine from plain code; where an event loop runs in this thread already, in another thread."""
    if not _runs_loop():
        return asyncio.run(call)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, call).result()


def _runs_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
