"""Codec for Temporal payloads: compact JSON, sealed if there is a key. With a key, unsealed payloads are refused.

Search attributes are not sealed, or the engine could not search by them: they hold no more than `attributes.py` says.
"""

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    JSONPlainPayloadConverter,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)

from midcourse.codec import decode_any, encode
from midcourse.runtimes.temporal.wire import Done, Work
from midcourse.sealing import Key, SealBroken, Seals

SEALED = b"binary/encrypted"
REFUSED = b"binary/refused"
BOUND = "bound"
"""Metadata of a payload that can be opened only for the run that it was sealed for."""


def data_converter(keys: Sequence[Key] = ()) -> DataConverter:
    """The first key seals, all of them open: put a new one first, and drop an old one when no run needs it any more."""
    if not keys:
        return DataConverter(payload_converter_class=Payloads)
    return DataConverter(
        payload_converter_class=Payloads,
        payload_codec=Sealing(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


# --- JSON


class TerseConverter(EncodingPayloadConverter):
    """JSON as our codec writes it. What goes out with every step is written without what goes without saying."""

    @property
    def encoding(self) -> str:
        return "json/plain"

    def to_payload(self, value: Any) -> Payload | None:
        text = _compact(terse(value)) if isinstance(value, Work | Done) else encode(value)
        return Payload(metadata={"encoding": self.encoding.encode()}, data=text.encode())

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        return decode_any(type_hint or Any, payload.data)


class RefusingConverter(EncodingPayloadConverter):
    """Raises for a payload that the codec refused."""

    @property
    def encoding(self) -> str:
        return REFUSED.decode()

    def to_payload(self, value: Any) -> Payload | None:
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        raise ValueError(payload.data.decode())


class Payloads(CompositePayloadConverter):
    """The engine's own, with ours in place of its JSON."""

    def __init__(self) -> None:
        usual = DefaultPayloadConverter.default_encoding_payload_converters
        ours = (TerseConverter() if isinstance(c, JSONPlainPayloadConverter) else c for c in usual)
        super().__init__(RefusingConverter(), *ours)


def terse(value: object) -> object:
    """Without fields that have their default, so such a default must never change. `kind` stays: it tells the members
    of a union apart.
    """
    if is_dataclass(value) and not isinstance(value, type):
        said = ((field, getattr(value, field.name)) for field in fields(value))
        return {f.name: terse(v) for f, v in said if f.name == "kind" or f.default is MISSING or v != f.default}
    if isinstance(value, tuple):
        return [terse(item) for item in cast(tuple[object, ...], value)]
    return value


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- encryption


class Sealing(PayloadCodec, WithSerializationContext):
    """AES-GCM, bound to the id of its key and to the run that the payload is for.

    Any client that reaches Temporal can write. So what is not sealed, or was sealed for another run, is refused where it is
    read: a forged decision is rejected as an update, and the run continues.
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        self._seals = Seals(keys)
        self._workflow = ""

    def with_context(self, context: SerializationContext) -> "Sealing":
        if not isinstance(context, WorkflowSerializationContext | ActivitySerializationContext):
            return self
        bound = copy(self)
        bound._workflow = context.workflow_id or ""
        return bound

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._seal(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._open(payload) for payload in payloads]

    def _seal(self, payload: Payload) -> Payload:
        metadata = {"encoding": SEALED, "key": self._seals.first.encode(), BOUND: b"run"}
        data = self._seals.seal(payload.SerializeToString(), self._stands_for(metadata))
        return Payload(metadata=metadata, data=data)

    def _open(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != SEALED:
            return _refused("a payload is not sealed, although there are keys")
        key = payload.metadata["key"].decode(errors="replace")
        try:
            return Payload.FromString(self._seals.open(key, payload.data, self._stands_for(payload.metadata)))
        except SealBroken as broken:
            return _refused(f"a payload cannot be opened: {broken}")

    def _stands_for(self, metadata: Mapping[str, bytes]) -> bytes:
        """What a seal confirms besides its content. An earlier version did not bind it to a run."""
        return metadata["key"] + (b"\0" + self._workflow.encode() if BOUND in metadata else b"")


def _refused(why: str) -> Payload:
    """The reader of this payload gets the error: raised here, it would stop all payloads that came with it."""
    return Payload(metadata={"encoding": REFUSED}, data=why.encode())
