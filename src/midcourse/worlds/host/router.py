"""Routes requests to the host or to a session, by path and token. It knows only the paths and status codes of HTTP."""

import hmac
import logging
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from pydantic import ValidationError

from midcourse.codec import decode, encode
from midcourse.containment import Contained
from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import Observation, Unseen
from midcourse.ports.viewing import NotAttended, View
from midcourse.ports.world import Finding
from midcourse.worlds.host.registry import NotServed
from midcourse.worlds.host.session import Fenced
from midcourse.worlds.host.sessions import Full, KeyInUse, Lease, Leaving, NotOpened, Sessions
from midcourse.worlds.host.wire import (
    Ask,
    AttachAsk,
    BarAsk,
    Barred,
    CallAsk,
    ConcealAsk,
    HandleAnswer,
    HandleAsk,
    Listed,
    OpenAsk,
    Opened,
    ProbeAsk,
    RereadAsk,
    ScreenshotAsk,
    Trouble,
    ViewAsk,
    Viewed,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

Reply: TypeAlias = tuple[int, str]
Answer: TypeAlias = Callable[[bytes], Awaitable[Reply]]
"""A function that takes the body of a request and returns the reply."""


class Malformed(Exception):
    """The body does not fit the path."""


class NoSuchPath(Exception):
    """There is no such path, or it does not accept this method."""


STATUSES: dict[type[Exception], int] = {
    Malformed: 400,
    NoSuchPath: 404,
    Fenced: 409,
    KeyInUse: 409,
    NotAttended: 409,
    NotServed: 422,
    NotOpened: 502,
    Full: 503,
    Leaving: 503,
}


class Router:
    """Answers requests to the host with the host's token, and requests to a session with the token of that session."""

    def __init__(self, sessions: Sessions, token: str) -> None:
        self._sessions = sessions
        self._token = token.encode()

    def admit(self, method: str, path: str, token: str) -> Answer | None:
        """Return the function that answers this request, or None for a wrong token: such a client gets no explanation."""
        _, _, rest = path.partition("/sessions/")
        session, _, what = rest.partition("/")
        if session and (lease := self._sessions.find(session, token)) is not None:
            return lambda body: _reply(path, self._answer_for_session(lease, f"{method} {what}", body))
        if hmac.compare_digest(token.encode(), self._token):
            return lambda body: _reply(path, self._answer_for_host(f"{method} {path}", body))
        return None

    async def _answer_for_host(self, what: str, body: bytes) -> str:
        match what:
            case "POST /sessions":
                lease = await self._sessions.open(_read(OpenAsk, body))
                return encode(Opened(session=lease.id, token=lease.token))
            case "GET /sessions":
                return encode(self._sessions.list(), tuple[Listed, ...])
            case _:
                raise NoSuchPath(f"{what} is not a request to a host")

    async def _answer_for_session(self, lease: Lease, what: str, body: bytes) -> str:
        session = lease.session
        if what == "POST view":  # being watched does not keep a session open
            return encode(_build_viewed(await session.view(_read(ViewAsk, body).since)))
        with lease.track_request():
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
                case "POST settle":
                    await session.settle(_read(Ask, body).epoch)
                    return "null"
                case "POST screenshot":
                    ask = _read(ScreenshotAsk, body)
                    picture = await session.read_screenshot(ask.epoch, ask.digest)
                    return encode(None if picture is None else b64encode(picture).decode(), str | None)
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
                case "POST handle":
                    ask = _read(HandleAsk, body)
                    done = await session.handle(ask.gestures, ask.since)
                    return encode(HandleAnswer(viewed=_build_viewed(done.view), deeds=done.deeds, dialog=done.dialog))
                case "POST attend":
                    return encode(await session.attend())
                case "POST bar":
                    ask = _read(BarAsk, body)
                    return encode(Barred(over=await session.bar(ask.epoch, ask.command)))
                case "POST close":
                    await self._sessions.close(lease, _read(Ask, body).epoch)
                    return "null"
                case _:
                    raise NoSuchPath(f"{what} is not a request to a session")


def _build_viewed(seen: View | None) -> Viewed:
    if seen is None:
        return Viewed(watchable=False)
    return Viewed(stamp=seen.stamp, picture=b64encode(seen.picture).decode())


async def _reply(path: str, answer: Awaitable[str]) -> Reply:
    try:
        async with Contained(keeps_process=True):
            return 200, await answer
    except Exception as error:
        status = STATUSES.get(type(error), 500)
        if status != 500:
            return status, encode(Trouble(detail=str(error), full=isinstance(error, Full)))
        log.exception("%s failed", path)
        return 500, encode(Trouble(detail=f"{type(error).__name__}: {error}"))


def _read(kind: type[T], body: bytes) -> T:
    try:
        return decode(kind, body)
    except ValidationError as error:
        raise Malformed(str(error)) from error
