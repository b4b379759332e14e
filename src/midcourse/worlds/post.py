"""One request to a world host: sent once, never again, and given up when the caller gives up."""

import asyncio
import contextlib
import socket
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from pydantic import ValidationError

from midcourse.codec import decode
from midcourse.worlds.host.wire import Handle, Trouble


class Lost(Exception):
    """There is no such host any more. `sure` is False if only the connection broke: ask again to be sure."""

    def __init__(self, detail: str, *, sure: bool = True) -> None:
        super().__init__(detail)
        self.sure = sure


class Silent(Exception):
    """The host is there and did not answer in time."""


class Refused(Exception):
    """The session is somebody else's now, or closed."""


class Broken(Exception):
    """The host answered with an error of its own, or of its world's."""


async def post(to: Handle, path: str, body: str, timeout: float) -> bytes:  # noqa: ASYNC109
    """The answer's body. Raises one of the four above."""
    where = urlsplit(to.url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=timeout)
    try:
        status, answer = await asyncio.to_thread(_exchange, connection, path, body, to.token)
    except asyncio.CancelledError:
        # Else the thread would wait on, and the process could not end before it.
        if connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)
        raise
    match status:
        case 200:
            return answer
        case 401:
            raise Lost("something else answers where the host was")
        case 409:
            raise Refused(_detail(answer))
        case _:
            raise Broken(_detail(answer) or f"the host answered {status}")


def _exchange(connection: HTTPConnection, path: str, body: str, token: str) -> tuple[int, bytes]:
    try:
        connection.request("POST", path, body.encode(), {"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        return response.status, response.read()
    except TimeoutError:
        raise Silent(f"no answer from the host within {connection.timeout:g} s") from None
    except (OSError, HTTPException) as error:
        sure = isinstance(error, ConnectionRefusedError)
        raise Lost(f"the host is gone ({type(error).__name__})", sure=sure) from None
    finally:
        connection.close()


def _detail(answer: bytes) -> str:
    try:
        return decode(Trouble, answer).detail
    except ValidationError:
        return ""
