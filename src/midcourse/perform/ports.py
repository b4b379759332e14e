"""The ports of one run, and the few things that more than one command does with them."""

import asyncio
from dataclasses import dataclass, replace

from midcourse.domain.argument import Arguments, Pairs, Reference, Scalar
from midcourse.domain.budget import Cost
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.task import Task
from midcourse.ports.approver import Approver
from midcourse.ports.clock import Clock
from midcourse.ports.planner import Planner
from midcourse.ports.store import Store
from midcourse.ports.vault import Vault
from midcourse.ports.world import World


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Everything outside the director that one run works with."""

    run_id: str
    task: Task
    world: World
    planner: Planner
    approver: Approver
    store: Store
    clock: Clock
    vault: Vault
    step_delay_seconds: float = 0.0

    @property
    def look_cost(self) -> Cost:
        return Cost(calls=self.task.limits.look_calls)

    async def look(self, command: int, seconds: float) -> Observation | Unseen:
        """See the world and keep what was seen. An empty screen counts as not seen: most likely it was not read."""
        try:
            seen = await asyncio.wait_for(self.world.observe(), seconds)
        except TimeoutError:
            return Unseen(reason="timeout", detail=f"nothing was seen within {seconds:g} s")
        except Exception as error:
            return Unseen(reason="failed", detail=say(error))
        if isinstance(seen, Unseen):
            return seen
        if not seen.zones:
            return Unseen(reason="empty", detail=f"'{seen.surface.title}' showed nothing to act on")
        seen = replace(seen, id=f"o{command}")
        await self.store.save_observation(self.run_id, seen)
        return seen

    def fill_in(self, arguments: Arguments) -> Pairs | str:
        """Arguments with every reference replaced by its value, or why that cannot be done."""
        filled: list[tuple[str, Scalar]] = []
        for name, value in arguments:
            if isinstance(value, Reference):
                found = self._value_of(value)
                if found is None:
                    return f"{value.source} '{value.name}' has no value"
                filled.append((name, found))
            else:
                filled.append((name, value))
        return tuple(filled)

    def _value_of(self, reference: Reference) -> Scalar:
        match reference.source:
            case "input":
                return dict(self.task.inputs).get(reference.name)
            case "secret":
                return self.vault.reveal(reference.name) if reference.name in self.task.secrets else None
            case "file":
                return reference.name if reference.name in self.task.files else None

    def mask(self, values: Pairs) -> Pairs:
        """The same values with every secret of the task replaced by its name: this is what gets written down."""
        secrets = [(name, self.vault.reveal(name)) for name in self.task.secrets]
        known = [(name, secret) for name, secret in secrets if secret]
        return tuple((name, _mask(value, known)) for name, value in values)


def _mask(value: Scalar, secrets: list[tuple[str, str]]) -> Scalar:
    if isinstance(value, str):
        for name, secret in secrets:
            value = value.replace(secret, f"<secret {name}>")
    return value


def say(error: BaseException) -> str:
    """An exception as one line for a person."""
    return f"{type(error).__name__}: {error}"[:300]
