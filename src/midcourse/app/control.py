"""Control of a run that another process drives, the same for local and durable runs."""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar, Protocol

from midcourse.domain.approval import Question
from midcourse.domain.event import ApprovalDecided
from midcourse.domain.records.summary import RunSummary
from midcourse.domain.replace import replace
from midcourse.ports.controls import Request
from midcourse.ports.inbox import Inbox, PostedControls
from midcourse.ports.store import Store
from midcourse.ports.viewing import Gesture, Handled, View

NOT_DRIVEN = "no process is running it; midcourse resume {run} continues it"
WINDOWS = "on Windows a local run is controlled only where it runs: in its own terminal, or by its own program"
WORLD_ELSEWHERE = (
    "its world is open in the process that runs it, so take over there: Ctrl-C in its terminal, then t. "
    "midcourse pause {run} pauses it from here"
)


class NotDriven(Exception):
    """Nothing drives the run, and nothing will unless it is started again; the message says how."""


class FollowedStore(Store, Inbox, Protocol):
    """What following and controlling a run needs of a store."""


class RunControl(PostedControls):
    """Controls a run that another process drives, and says whether one does."""

    quiet_looks: ClassVar[int] = 1
    """Looks without news after which a process that follows the run checks whether it is still driven."""

    def __init__(self, store: FollowedStore, run_id: str) -> None:
        self.store = store
        self.run_id = run_id

    async def open_question(self) -> Question | None:
        return await self.store.open_question(self.run_id)

    @abstractmethod
    async def why_not_driven(self) -> str:
        """Why nothing drives the run now; empty if something does, or if that cannot be known. Raises `NotDriven`."""

    async def why_no_take_over(self) -> str:
        """Why a user cannot act in its world from here; empty if it can be tried."""
        return ""

    async def attend(self) -> str:
        """Show the world of the paused run to a user who takes over. Returns where. Raises `ConnectionError` if it cannot."""
        from midcourse.worlds.remote import hand_over

        if why_not := await self.why_no_take_over():
            raise ConnectionError(why_not)
        return await hand_over(await self.store.session(self.run_id))

    async def view(self, since: str) -> View | None:
        """What its world shows now, for a person who watches. None: it has no pictures. Raises `ConnectionError`."""
        from midcourse.worlds.remote import view_session

        return await view_session(await self.store.session(self.run_id), since)

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        """Do what a person does who has taken over its world. Raises `NotAttended` and `ConnectionError`."""
        from midcourse.worlds.remote import handle_in_session

        return await handle_in_session(await self.store.session(self.run_id), gestures, since)


class LocalStore(FollowedStore, Protocol):
    """What controlling a local run needs of a store."""

    def is_claimed(self, run_id: str) -> bool | None: ...


async def list_open_questions(
    store: LocalStore, asking: Iterable[RunSummary], is_driven: Callable[[str], bool]
) -> tuple[Question, ...]:
    """The open questions of these runs that can be decided now.

    If nothing drives the run, a decision waits until the run is resumed, so only an expired question is left out.
    """
    found = [await store.open_question(run.id) for run in asking]
    now = time.time()
    return tuple(question for question in found if question and (is_driven(question.run) or question.expires_at > now))


class LocalControl(RunControl):
    """Controls a run that another process on this machine drives, through the inbox of its store."""

    store: LocalStore

    def __init__(self, store: LocalStore, run_id: str) -> None:
        super().__init__(store, run_id)

    async def tell(self, event: Request, /) -> str:
        """Post it. A run that no process drives takes decisions only: they wait until it is resumed, as after `Pending`."""
        if await self.store.result(self.run_id) is None and not isinstance(event, ApprovalDecided):
            driven = self.store.is_claimed(self.run_id)
            if not driven:
                return WINDOWS if driven is None else NOT_DRIVEN.format(run=self.run_id)
        return (await self.store.post(self.run_id, replace(event, at=time.time()))).refused

    async def why_not_driven(self) -> str:
        return NOT_DRIVEN.format(run=self.run_id) if self.store.is_claimed(self.run_id) is False else ""

    async def why_no_take_over(self) -> str:
        """A world with a host can be reached by the session's handle; any other is open in the driving process only."""
        if not self.store.is_claimed(self.run_id) or await self.store.session(self.run_id):
            return ""
        return WORLD_ELSEWHERE.format(run=self.run_id)
