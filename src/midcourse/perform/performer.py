"""The performer: one function for each command."""

from typing import Literal, assert_never

from midcourse.containment import Contained
from midcourse.domain import commands, events
from midcourse.domain.observation import Observation
from midcourse.domain.replace import replace
from midcourse.errors import TaskInvalid
from midcourse.perform.acting import act
from midcourse.perform.advising import advise
from midcourse.perform.asking import ask_person
from midcourse.perform.detouring import judge_closeness, plan_revert, plan_try
from midcourse.perform.finishing import check_done, finish
from midcourse.perform.looking import look
from midcourse.perform.planning import make_plan
from midcourse.perform.ports import Ports, describe_error
from midcourse.perform.reuse import drop_failed
from midcourse.perform.verification import verify
from midcourse.ports.abilities import offers
from midcourse.ports.world import Renewed, WorldAway, WorldFull


class Performer:
    """Performs the commands of one run. Runtimes decide where and when."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    async def perform(self, command: commands.Command) -> events.Event:
        event = await self._perform(command)
        # These carry words of the world or of a model, in which there may be a secret, or a whole page.
        if isinstance(event, events.Accounted | events.WorldOpened):
            return replace(event, detail=self.ports.sanitize(event.detail))
        return event

    async def _perform(self, command: commands.Command) -> events.Event:
        ports = self.ports
        match command:
            case commands.OpenWorld():
                return await self._open(command)
            case commands.Observe():
                return await self._observe(command)
            case commands.MakePlan():
                return await make_plan(ports, command)
            case commands.Advise():
                return await advise(ports, command)
            case commands.Act():
                acted = await act(ports, command)
                await drop_failed(ports, command, acted)
                return acted
            case commands.Verify():
                return await verify(ports, command)
            case commands.PlanTry():
                return await plan_try(ports, command)
            case commands.JudgeCloseness():
                return await judge_closeness(ports, command)
            case commands.PlanRevert():
                return await plan_revert(ports, command)
            case commands.CheckDone():
                return await check_done(ports, command)
            case commands.AskPerson():
                return await ask_person(ports, command)
            case commands.Wait():
                await ports.clock.sleep(command.seconds)
                return events.TimerFired(answers=command.id)
            case commands.Record():
                return events.Recorded(answers=command.id)
            case commands.Finish():
                return await finish(ports, command)
            case _:
                assert_never(command)

    async def reach_world(self) -> Literal["kept", "reopened"]:
        """Attach to the world's existing session, or open a new one."""
        store, run_id, world = self.ports.store, self.ports.run_id, self.ports.world
        handle = await store.session(run_id)
        if handle and await world.attach(handle):
            if offers(world, Renewed) and (renewed := world.renewed_handle()):
                await store.save_session(run_id, renewed)
            return "kept"
        handle = await world.open()
        if secrets := self.ports.secrets():
            origins = dict(self.ports.task.secret_origins)
            named = ((f"{name}@{origins[name]}" if name in origins else name, value) for name, value in secrets)
            await world.conceal(tuple(named))
        # Last: a session that is found in the store already hides the secrets.
        await store.save_session(run_id, handle)
        return "reopened"

    async def _open(self, command: commands.OpenWorld) -> events.WorldOpened:
        try:
            async with Contained(command.timeout):
                await self.reach_world()
        except Exception as error:
            return events.WorldOpened(
                answers=command.id,
                opened=False,
                invalid=isinstance(error, TaskInvalid),
                away=isinstance(error, WorldAway),
                full=isinstance(error, WorldFull),
                detail=describe_error(error),
            )
        return events.WorldOpened(answers=command.id, opened=True)

    async def _observe(self, command: commands.Observe) -> events.Observed:
        looked = await look(self.ports, command.id, command.timeout, free=command.free, settle=command.settle)
        if isinstance(looked.seen, Observation):
            return events.Observed(answers=command.id, seen=looked.ref, cost=looked.cost, spent=looked.spent)
        unseen = looked.seen
        return events.Observed(
            answers=command.id,
            reason=unseen.reason,
            detail=unseen.detail,
            wait=looked.wait,
            cost=looked.cost,
            spent=looked.spent,
        )
