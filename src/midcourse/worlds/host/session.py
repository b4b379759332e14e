"""A session of a world with its fence: only the current epoch may act, barred commands may not, and each command acts at most once."""

import asyncio
import time

from midcourse.codec import make_encodable
from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.ports.abilities import offers
from midcourse.ports.viewing import Attendable, Gesture, Handled, NotAttended, View, Watchable
from midcourse.ports.world import Call, Finding, Losable, Parkable, Pictured, Rereads, Settling, Turn, World
from midcourse.redact import keep_out_of_logs
from midcourse.worlds.base import failed, not_sent
from midcourse.worlds.host.memory import ActMemory
from midcourse.worlds.host.wire import Attached

PATIENCE = 2.0
"""Seconds that `bar` waits for an act under way before it returns False and the client asks again."""


class Fenced(Exception):
    """Another process has taken over the session, or it is closing."""


class Session:
    """A session of a world, on one event loop. An act runs to its end even if the client that requested it is gone."""

    def __init__(self, world: World, memory: ActMemory | None = None, key: str = "") -> None:
        """`memory` holds the irreversible acts of all sessions under this key, earlier ones included."""
        self._world = world
        self._memory = ActMemory() if memory is None else memory
        self._key = key
        self._epoch = 0
        self._turn: Turn = (0, 0)
        self._closed = False
        self._ended = False
        self._acting = asyncio.Lock()
        self._begun: set[int] = set()
        self._barred: set[int] = set()

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def acts(self) -> int:
        return len(self._begun)

    @property
    def closed(self) -> bool:
        return self._closed

    def attach(self, not_after: float, turn: Turn = (0, 0)) -> Attached:
        """Take over the session, even during an act. A client that does not know how that act ended bars it, and `bar` waits for its end."""
        if self._closed:
            raise Fenced("the session is closed")
        if time.time() > not_after:
            raise Fenced("request expired before it was handled")
        if turn < self._turn:
            raise Fenced(f"turn {turn} is over: the worker of a later turn has the session")
        self._turn = turn
        self._epoch += 1
        return Attached(epoch=self._epoch, name=self._world.name, catalogue=self._world.catalogue())

    async def conceal(self, epoch: int, secrets: Pairs) -> None:
        self._admit(epoch)
        keep_out_of_logs((name, str(value)) for name, value in secrets)
        await self._world.conceal(secrets)

    async def observe(self, epoch: int) -> Observation | Unseen:
        self._admit(epoch)
        fallback = Unseen(reason="failed", detail="what the world showed cannot be encoded as JSON")
        return make_encodable(await self._world.observe()) or fallback

    async def settle(self, epoch: int) -> None:
        self._admit(epoch)
        if offers(self._world, Settling):
            await self._world.settle()

    async def read_screenshot(self, epoch: int, digest: str) -> bytes | None:
        self._admit(epoch)
        return await self._world.read_screenshot(digest) if offers(self._world, Pictured) else None

    async def commit_set(self, epoch: int, call: Call) -> CommitSet | None:
        self._admit(epoch)
        commit = await self._world.commit_set(call)
        return commit and make_encodable(commit)

    async def reread(self, epoch: int, call: Call, names: tuple[str, ...]) -> tuple[str, ...] | None:
        self._admit(epoch)
        return await self._world.reread(call, names) if offers(self._world, Rereads) else None

    async def probe(self, epoch: int, name: str, arguments: Pairs) -> Finding:
        self._admit(epoch)
        return await self._world.probe(name, arguments)

    async def act(self, epoch: int, call: Call, not_after: float) -> Outcome:
        async with self._acting:
            try:
                self._admit(epoch)
            except Fenced as fenced:
                return failed("fenced", str(fenced))
            if call.command in self._barred:
                return failed("barred", f"command {call.command} was barred and may no longer act")
            if time.time() > not_after:
                return failed("late", f"command {call.command} expired before it was handled")
            if call.command in self._begun:
                return Outcome(status="unknown", reason="repeated", detail=f"command {call.command} was sent before")
            if refused := await self._remember(call):
                return refused
            self._begun.add(call.command)
            fallback = Outcome(
                status="unknown", reason="error", detail="what the world answered cannot be encoded as JSON"
            )
            return make_encodable(await self._world.act(call)) or fallback

    async def _remember(self, call: Call) -> Outcome | None:
        """Record that an irreversible act begins. Return an outcome if it must not begin."""
        if not call.identity:
            return None
        try:
            again = await asyncio.to_thread(self._memory.begin, self._key, call.identity, call.command, call.known)
        except OSError as error:
            return not_sent(
                "act_not_recorded", f"the host cannot record the act, so it is not begun: {error.strerror or error}"
            )
        return Outcome(status="unknown", reason="repeated", detail=again) if again else None

    async def view(self, since: str) -> View | None:
        """Return a picture for a person, or None if the world has none. This needs no epoch, because watching changes nothing."""
        if self._closed:
            raise Fenced("the session is closed")
        return await self._world.view(since) if offers(self._world, Watchable) else None

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        """Carry out the gestures of a person who has taken over. Raise `NotAttended` if no person has, or if the world does not offer it.

        Like `attend`, this needs no epoch.
        """
        if self._closed:
            raise Fenced("the session is closed")
        if not offers(self._world, Attendable):
            raise NotAttended(f"a person cannot act in {self._world.name} from afar")
        return await self._world.handle(gestures, since)

    async def attend(self) -> str:
        """Hand the session over to a person.

        This needs no epoch, because the person takes over from the worker that holds the session, and gives it back.
        """
        async with self._acting:
            if self._closed:
                raise Fenced("the session is closed")
            return await self._world.attend()

    async def bar(self, epoch: int, command: int) -> bool:
        """Bar a command. Return True if no act of it is or will be under way, False if one still is: then ask again.

        A closed session begins no act, but an act that was under way may still run. Then this only waits for it.
        """
        if not self._closed:
            self._admit(epoch)
        self._barred.add(command)
        try:
            async with asyncio.timeout(PATIENCE), self._acting:
                return True
        except TimeoutError:
            return False

    async def park(self) -> str | None:
        """Return the storage that the next session begins with, or None if this session has to stay open for now."""
        if not offers(self._world, Parkable):
            return None
        async with self._acting:
            return await self._world.park()

    async def wait_until_lost(self) -> None:
        """Return once the world has ended by itself. Never return for a world that does not report its end."""
        await (self._world.wait_until_lost() if offers(self._world, Losable) else asyncio.Event().wait())

    def close(self, epoch: int) -> None:
        """Refuse all further requests."""
        self._admit(epoch)
        self._closed = True

    async def end(self) -> None:
        """Close the session, and then the world when the act under way is over. Return when the world is closed."""
        self._closed = True
        async with self._acting:
            if not self._ended:
                self._ended = True
                await self._world.close()

    def _admit(self, epoch: int) -> None:
        if self._closed:
            raise Fenced("the session is closed")
        if epoch != self._epoch:
            raise Fenced(f"epoch {epoch} is over: another process has taken over this session")
