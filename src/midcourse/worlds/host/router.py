"""Who may ask a host for what, and what the answer is. It knows nothing of HTTP but paths and numbers."""

import hmac
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from pydantic import ValidationError

from midcourse.codec import decode, encode
from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import Observation, Unseen
from midcourse.ports.world import Finding
from midcourse.worlds.host.registry import NotServed
from midcourse.worlds.host.session import Fenced
from midcourse.worlds.host.sessions import Full, KeyInUse, Leaving, NotOpened, Sessions, Stay
from midcourse.worlds.host.wire import (
    Ask,
    AttachAsk,
    BarAsk,
    Barred,
    CallAsk,
    ConcealAsk,
    Listed,
    OpenAsk,
    Opened,
    ProbeAsk,
    RereadAsk,
    Trouble,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

Reply: TypeAlias = tuple[int, str]
Answer: TypeAlias = Callable[[bytes], Awaitable[Reply]]
"""From a request's body to its reply."""


class Malformed(Exception):
    """The body is not what this path takes."""


class NoSuchPath(Exception):
    """Nothing is answered there, or not in this way."""


STATUSES: dict[type[Exception], int] = {
    Malformed: 400,
    NoSuchPath: 404,
    Fenced: 409,
    KeyInUse: 409,
    NotServed: 422,
    NotOpened: 502,
    Full: 503,
    Leaving: 503,
}


class Desk:
    """Answers for the host with its token, and for each session with that session's."""

    def __init__(self, sessions: Sessions, token: str) -> None:
        self._sessions = sessions
        self._token = token.encode()

    def admit(self, method: str, path: str, token: str) -> Answer | None:
        """What answers this request. None: whoever has no fitting token is told nothing at all."""
        _, _, rest = path.partition("/sessions/")
        session, _, what = rest.partition("/")
        if session and (stay := self._sessions.find(session, token)) is not None:
            return lambda body: _replied(path, self._asked(stay, f"{method} {what}", body))
        if hmac.compare_digest(token.encode(), self._token):
            return lambda body: _replied(path, self._asked_of_host(f"{method} {path}", body))
        return None

    async def _asked_of_host(self, what: str, body: bytes) -> str:
        match what:
            case "POST /sessions":
                stay = await self._sessions.open(_read(OpenAsk, body))
                return encode(Opened(session=stay.id, token=stay.token))
            case "GET /sessions":
                return encode(self._sessions.listed(), tuple[Listed, ...])
            case _:
                raise NoSuchPath(f"{what} is nothing that a host answers")

    async def _asked(self, stay: Stay, what: str, body: bytes) -> str:
        session = stay.session
        with stay.asked():
            match what:
                case "POST attach":
                    ask = _read(AttachAsk, body)
                    return encode(session.attach(ask.not_after, ask.turn))
                case "POST conceal":
                    ask = _read(ConcealAsk, body)
                    await session.conceal(ask.epoch, ask.secrets)
                    return "null"
                case "POST observe":
                    return encode(await session.observe(_read(Ask, body).epoch), Observation | Unseen)
                case "POST commit_set":
                    ask = _read(CallAsk, body)
                    return encode(await session.commit_set(ask.epoch, ask.call), CommitSet | None)
                case "POST reread":
                    ask = _read(RereadAsk, body)
                    return encode(await session.reread(ask.epoch, ask.call, ask.names), tuple[str, ...] | None)
                case "POST act":
                    ask = _read(CallAsk, body)
                    return encode(await session.act(ask.epoch, ask.call, ask.not_after))
                case "POST probe":
                    ask = _read(ProbeAsk, body)
                    return encode(await session.probe(ask.epoch, ask.name, ask.arguments), Finding)
                case "POST attend":
                    return encode(await session.attend())
                case "POST bar":
                    ask = _read(BarAsk, body)
                    return encode(Barred(over=await session.bar(ask.epoch, ask.command)))
                case "POST close":
                    await self._sessions.close(stay, _read(Ask, body).epoch)
                    return "null"
                case _:
                    raise NoSuchPath(f"{what} is nothing that a session answers")


async def _replied(path: str, answer: Awaitable[str]) -> Reply:
    try:
        return 200, await answer
    except Exception as error:
        status = STATUSES.get(type(error), 500)
        if status != 500:
            return status, encode(Trouble(detail=str(error)))
        log.exception("%s failed", path)
        return 500, encode(Trouble(detail=f"{type(error).__name__}: {error}"))


def _read(kind: type[T], body: bytes) -> T:
    try:
        return decode(kind, body)
    except ValidationError as error:
        raise Malformed(str(error)) from error
