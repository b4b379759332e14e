"""The host's HTTP side: checks the token, decodes, hands over to the session's event loop, encodes."""

import asyncio
import hmac
import logging
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from pydantic import ValidationError

from midcourse.codec import decode, encode
from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import Observation, Unseen
from midcourse.ports.world import Finding
from midcourse.worlds.host.session import Fenced, Session
from midcourse.worlds.host.wire import Ask, AttachAsk, BarAsk, Barred, CallAsk, ProbeAsk, Trouble

log = logging.getLogger(__name__)
MAX_BODY = 16 * 2**20

Reply: TypeAlias = tuple[int, str]


class Desk:
    """Answers requests on the session's event loop, and knows since when there was none."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._under_way = 0
        self._last = time.monotonic()
        self.closed = asyncio.Event()

    def idle_seconds(self) -> float:
        return 0.0 if self._under_way else time.monotonic() - self._last

    def ask(self, path: str, body: bytes) -> Reply:
        """From any thread; waits for the answer."""
        return asyncio.run_coroutine_threadsafe(self._answer(path, body), self._loop).result()

    def dismiss(self) -> None:
        """From any thread: the last answer is out, the process may go."""
        self._loop.call_soon_threadsafe(self.closed.set)

    async def _answer(self, path: str, body: bytes) -> Reply:
        self._under_way += 1
        try:
            return 200, await self._dispatch(path, body)
        except Fenced as fenced:
            return 409, encode(Trouble(detail=str(fenced)))
        except ValidationError as error:
            return 400, encode(Trouble(detail=str(error)))
        except LookupError:
            return 404, encode(Trouble(detail=f"there is no {path} here"))
        except Exception as error:
            log.exception("%s failed", path)
            return 500, encode(Trouble(detail=f"{type(error).__name__}: {error}"))
        finally:
            self._under_way -= 1
            self._last = time.monotonic()

    async def _dispatch(self, path: str, body: bytes) -> str:
        session = self._session
        match path:
            case "/attach":
                return encode(session.attach(decode(AttachAsk, body).not_after))
            case "/observe":
                return encode(await session.observe(decode(Ask, body).epoch), Observation | Unseen)
            case "/commit_set":
                ask = decode(CallAsk, body)
                return encode(await session.commit_set(ask.epoch, ask.call), CommitSet | None)
            case "/act":
                ask = decode(CallAsk, body)
                return encode(await session.act(ask.epoch, ask.call, ask.not_after))
            case "/probe":
                ask = decode(ProbeAsk, body)
                return encode(await session.probe(ask.epoch, ask.name, ask.arguments), Finding)
            case "/bar":
                ask = decode(BarAsk, body)
                return encode(Barred(over=await session.bar(ask.epoch, ask.command)))
            case "/close":
                await session.close(decode(Ask, body).epoch)
                return "null"
            case _:
                raise LookupError(path)


def listen(desk: Desk, token: str) -> ThreadingHTTPServer:
    """A server on a free port of this machine, not yet serving. Without the token it says nothing at all."""
    return ThreadingHTTPServer(("127.0.0.1", 0), _handler(desk, token))


def _handler(desk: Desk, token: str) -> type[BaseHTTPRequestHandler]:
    expected = f"Bearer {token}".encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = self.headers.get("Authorization", "").encode("latin-1", "replace")
            size = int(self.headers.get("Content-Length") or 0)
            if not hmac.compare_digest(given, expected):
                self._reply(401, "")
            elif not 0 <= size <= MAX_BODY:
                self._reply(413, "")
            else:
                status, text = desk.ask(self.path, self.rfile.read(size))
                self._reply(status, text)
                if self.path == "/close" and status == 200:
                    desk.dismiss()

        def _reply(self, status: int, text: str) -> None:
            body = text.encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                log.info("whoever asked for %s is gone", self.path)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            log.debug(format, *args)

    return Handler
