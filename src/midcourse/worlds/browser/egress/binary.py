"""Reads a binary message of a WebSocket, so that a person sees what it says instead of a digest.

Most are protocol buffers, whose values can be found without their schema. Of anything else the printable texts are listed. A reader
can be wrong about either, so the digest of the whole message stays beside it.
"""

import re
import struct
from collections.abc import Iterator
from math import isfinite
from typing import TypeAlias

from midcourse.domain.argument import Pairs, Scalar

_Field: TypeAlias = "tuple[int, Scalar | bytes | list[_Field]]"
_TEXTS = re.compile(r"[^\x00-\x1f\x7f-\x9f\ufffd]{3,}")
_DEEPEST = 20
_HASH = re.compile(r"[0-9a-f]{16,}")


def read_binary(body: bytes) -> Pairs:
    """Return the values of a message, each named by its path and the text that comes first beside it."""
    fields = read_fields(body)
    if fields is not None:
        return tuple(_flatten(fields, ""))
    texts = _TEXTS.findall(body.decode(errors="replace"))
    return tuple((f"text {number}", text) for number, text in enumerate(texts, start=1))


def read_fields(body: bytes, depth: int = 0) -> list[_Field] | None:
    """Return the fields of a protocol buffer, or None if it is none or could be written in another way."""
    found: list[_Field] = []
    at = 0
    while at < len(body):
        try:
            tag, at = _read_number(body, at)
            number, kind = tag >> 3, tag & 7
            if number == 0 or depth > _DEEPEST:
                return None
            if kind == 0:
                value, at = _read_number(body, at)
                found.append((number, value))
            elif kind in (1, 5):
                size, form = (8, "<d") if kind == 1 else (4, "<f")
                raw = body[at : at + size]
                at += size
                (real,) = struct.unpack(form, raw)
                found.append((number, real if isfinite(real) else raw))
            elif kind == 2:
                size, at = _read_number(body, at)
                raw = body[at : at + size]
                at += size
                if len(raw) != size:
                    return None
                found.append((number, _read_content(raw, depth)))
            else:
                return None
        except (IndexError, ValueError, struct.error):
            return None
    return found


def _read_number(body: bytes, at: int) -> tuple[int, int]:
    """Read a number in as few bytes as it needs. Raise `ValueError` if it has more, since they could say something."""
    value, shift = 0, 0
    while True:
        byte = body[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if (byte == 0 and shift) or value >= 1 << 64:
                raise ValueError("not as short as it can be")
            return value, at
        shift += 7


def _read_content(raw: bytes, depth: int) -> "Scalar | bytes | list[_Field]":
    """Read a text, a message within the message, or bytes. A short message can look like a text with line ends, but not like other text."""
    try:
        text = raw.decode()
    except ValueError:
        text = None
    if text is not None and text.isprintable():
        return text
    inner = read_fields(raw, depth + 1)
    if inner is not None:
        return inner
    plain = text is not None and text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()
    return text if plain else raw


def _flatten(fields: list[_Field], path: str) -> Iterator[tuple[str, Scalar]]:
    label = path
    for place, (number, value) in enumerate(fields):
        name = f"{label}.{number}" if label else str(number)
        if isinstance(value, list):
            yield from _flatten(value, name)
        elif isinstance(value, bytes):
            yield name, f"bytes {value.hex()}"
        elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
            yield name, f"{value} ({_read_signed(value)} if signed)"
        else:
            yield name, value
        if place == 0 and isinstance(value, str) and value and len(fields) > 1:
            label = f"{path} {_HASH.sub('…', value)}"


def _read_signed(value: int) -> int:
    """Return what a number means if its lowest bit is its sign."""
    return (value >> 1) ^ -(value & 1)
