"""Controls a run that another process drives. The interface is the same for local and durable runs."""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol

from midcourse.domain.approval import Question
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.records.summary import RunSummary
from midcourse.domain.replace import replace
from midcourse.policy.approval.question import Difference, compare_steps
from midcourse.ports.controls import Inbox, PostedControls, Request
from midcourse.ports.store import Store
from midcourse.ports.viewing import Gesture, Handled, View

NOT_DRIVEN = "no process is running it; midcourse resume {run} continues it"
WINDOWS = "on Windows a local run is controlled only where it runs: in its own terminal, or by its own program"
WORLD_ELSEWHERE = (
    "its world is open in the process that runs it, so take over there: Ctrl-C in its terminal, then t. "
    "midcourse pause {run} pauses it from here"
)


class NotDriven(Exception):
    """Nothing drives the run, and nothing will until someone starts it again. The message says how."""


class FollowedStore(Store, Inbox, Protocol):
    """The methods of a store that are needed to follow and control a run."""


class RunControl(PostedControls):
    """Controls a run that another process drives, and tells whether one drives it."""

    quiet_looks: ClassVar[int] = 1
    """After this many looks without news, a process that follows the run checks whether it is still driven."""

    def __init__(self, store: FollowedStore, run_id: str) -> None:
        self.store = store
        self.run_id = run_id

    async def open_question(self) -> Question | None:
        return await self.store.open_question(self.run_id)

    async def find_changes(self, question: Question, shown: Sequence[str]) -> tuple[Difference, ...]:
        """What changed in the question since its author was shown these digests. Empty: they were never all asked about in this run."""
        earlier = [await self.store.consequence(self.run_id, digest) for digest in shown]
        known = [consequence for consequence in earlier if consequence is not None]
        return compare_steps(known, question.consequences) if known and len(known) == len(earlier) else ()

    @abstractmethod
    async def why_not_driven(self) -> str:
        """Why nothing drives the run now; empty if something does, or if that is unknown. Raises `NotDriven`."""

    async def why_no_take_over(self) -> str:
        """Why a user cannot act in the run's world from here; empty if it can be tried."""
        return ""

    async def attend(self) -> str:
        """Let a user act in the world of the paused run. Returns where to find it. Raises `ConnectionError` if that is not possible."""
        from midcourse.worlds.remote import hand_over

        if why_not := await self.why_no_take_over():
            raise ConnectionError(why_not)
        return await hand_over(await self.store.session(self.run_id))

    async def view(self, since: str) -> View | None:
        """A picture of the run's world now, for a person who watches. None: it has no pictures. Raises `ConnectionError`."""
        from midcourse.worlds.remote import view_session

        return await view_session(await self.store.session(self.run_id), since)

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        """Repeat the gestures of a person who has taken over the world. Raises `NotAttended` and `ConnectionError`."""
        from midcourse.worlds.remote import handle_in_session

        return await handle_in_session(await self.store.session(self.run_id), gestures, since)


class LocalStore(FollowedStore, Protocol):
    """The methods of a store that are needed to control a local run."""

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

    def __init__(self, store: LocalStore, run_id: str) -> None:
        super().__init__(store, run_id)
        self._claims = store

    async def tell(self, event: Request, /) -> str:
        """Post the event. A run that no process drives accepts only decisions; they wait until it is resumed, as after `Pending`."""
        if await self.store.result(self.run_id) is None and not isinstance(event, ApprovalDecided):
            driven = self._claims.is_claimed(self.run_id)
            if not driven:
                return WINDOWS if driven is None else NOT_DRIVEN.format(run=self.run_id)
        return (await self.store.post(self.run_id, replace(event, at=time.time()))).refused

    async def why_not_driven(self) -> str:
        return NOT_DRIVEN.format(run=self.run_id) if self._claims.is_claimed(self.run_id) is False else ""

    async def why_no_take_over(self) -> str:
        """Why a user cannot act in the world: without a host, it is open only in the process that drives the run."""
        if not self._claims.is_claimed(self.run_id) or await self.store.session(self.run_id):
            return ""
        return WORLD_ELSEWHERE.format(run=self.run_id)
