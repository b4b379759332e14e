"""A gate in front of Temporal's development server, which has neither TLS nor API keys: it has both, as Temporal Cloud does.

It reads the frames of HTTP/2 that pass, so tests see the headers that arrive, and it can refuse single requests.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from hpack import Decoder, Encoder, NeverIndexedHeaderTuple

from tests.certificates import Authority, Issued

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, CONTINUATION = 0, 1, 9
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 32
UNAUTHENTICATED, PERMISSION_DENIED = "16", "7"


@dataclass(kw_only=True)
class Gate:
    address: str = ""
    api_key: str = ""
    """Requests without it are refused."""
    operators: bool = True
    """Whether clients may look at and change search attributes."""
    requests: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """Their headers."""

    def refusal(self, request: dict[str, str]) -> tuple[str, str] | None:
        """The status and the message of gRPC."""
        if self.api_key and request.get("authorization") != f"Bearer {self.api_key}":
            return UNAUTHENTICATED, "Request unauthorized."
        if not self.operators and "OperatorService" in request[":path"]:
            return PERMISSION_DENIED, "Request unauthorized."
        return None


@asynccontextmanager
async def gate(
    upstream: str, server: Issued, *, clients: Authority | None = None, api_key: str = "", operators: bool = True
) -> AsyncGenerator[Gate]:
    """With `clients`, only those with a certificate of that authority are let in."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.certificate, server.key)
    context.set_alpn_protocols(["h2"])
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.file)
    found = Gate(api_key=api_key, operators=operators)
    passing: set[asyncio.Task[None]] = set()

    async def pass_through(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        passing.add(task)
        task.add_done_callback(passing.discard)
        host, _, port = upstream.rpartition(":")
        there, to_there = await asyncio.open_connection(host, port)
        requests = asyncio.ensure_future(_requests(reader, to_there, writer, found))
        answers = asyncio.ensure_future(_answers(there, writer))
        try:
            await asyncio.wait((requests, answers), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            pass  # the server complains about handlers that are cancelled
        finally:
            requests.cancel()
            answers.cancel()
            to_there.transport.abort()
            writer.transport.abort()
            await asyncio.gather(requests, answers, return_exceptions=True)

    listening = await asyncio.start_server(pass_through, "127.0.0.1", 0, ssl=context)
    found.address = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield found
    finally:
        listening.close()
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(65536):
        writer.write(part)
        await writer.drain()


async def _requests(
    reader: asyncio.StreamReader, forward: asyncio.StreamWriter, back: asyncio.StreamWriter, gate: Gate
) -> None:
    """Headers are written again, because the compression of both sides depends on all earlier ones."""
    decoder, encoder, refused = Decoder(), Encoder(), set[bytes]()
    forward.write(await reader.readexactly(len(PREFACE)))
    while True:
        head = await reader.readexactly(9)
        kind, flags, stream = head[3], head[4], head[5:]
        payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
        if kind == HEADERS:
            block = _block(payload, flags)
            while not flags & END_HEADERS:
                more = await reader.readexactly(9)
                block += await reader.readexactly(int.from_bytes(more[:3], "big"))
                flags |= more[4] & END_HEADERS
            headers = [(str(name), str(value)) for name, value in decoder.decode(block)]
            gate.requests.append(dict(headers))
            refusal = gate.refusal(dict(headers))
            if refusal is not None:
                refused.add(stream)
                back.write(_refuse(stream, *refusal))
                await back.drain()
                continue
            flags, payload = END_HEADERS | flags & END_STREAM, encoder.encode(headers)
        elif stream in refused:
            continue
        forward.write(_frame(kind, flags, stream, payload))
        await forward.drain()


def _block(payload: bytes, flags: int) -> bytes:
    padding = payload[0] if flags & PADDED else 0
    start = (1 if flags & PADDED else 0) + (5 if flags & PRIORITY else 0)
    return payload[start : len(payload) - padding]


def _refuse(stream: bytes, status: str, message: str) -> bytes:
    """An answer that adds nothing to the compression's table, in which the real answers continue."""
    headers = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", status)]
    never = [NeverIndexedHeaderTuple(name, value) for name, value in [*headers, ("grpc-message", message)]]
    return _frame(HEADERS, END_STREAM | END_HEADERS, stream, Encoder().encode(never))


def _frame(kind: int, flags: int, stream: bytes, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream + payload
