"""Codec for Temporal payloads: compact JSON, sealed if there is a key. With a key, unsealed payloads are refused.

Search attributes are not sealed, since the engine has to search by them: they contain only what `attributes.py` defines.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

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
from midcourse.runtimes.temporal.wire import name_sealing_scope
from midcourse.sealing import Key, SealBroken, Seals

SEALED = b"binary/encrypted"
REFUSED = b"binary/refused"
BOUND = "bound"
"""Metadata of a payload that can only be opened for the run that it was sealed for."""


def data_converter(keys: Sequence[Key] = ()) -> DataConverter:
    """Return the data converter. The first key seals, all of them open: put a new one first, and drop an old one when no run needs it."""
    if not keys:
        return DataConverter(payload_converter_class=Payloads)
    return DataConverter(
        payload_converter_class=Payloads,
        payload_codec=Sealing(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


# --- JSON


class JsonConverter(EncodingPayloadConverter):
    """JSON as `midcourse.codec` writes it."""

    @property
    def encoding(self) -> str:
        return "json/plain"

    def to_payload(self, value: Any) -> Payload | None:
        return Payload(metadata={"encoding": self.encoding.encode()}, data=encode(value).encode())

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
    """The engine's converters, with ours in place of its JSON converter."""

    def __init__(self) -> None:
        usual = DefaultPayloadConverter.default_encoding_payload_converters
        ours = (JsonConverter() if isinstance(c, JSONPlainPayloadConverter) else c for c in usual)
        super().__init__(RefusingConverter(), *ours)


# --- encryption


class Sealing(PayloadCodec, WithSerializationContext):
    """Seals payloads with AES-GCM, bound to the id of the key and to the run that the payload is for.

    Any client that reaches Temporal can write. So a payload that is not sealed, or was sealed for another run, is refused when
    it is read.
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        self._seals = Seals(keys)
        self._workflow = ""

    def with_context(self, context: SerializationContext) -> "Sealing":
        if not isinstance(context, WorkflowSerializationContext | ActivitySerializationContext):
            return self
        bound = copy(self)
        bound._workflow = name_sealing_scope(context.workflow_id or "")  # noqa: SLF001  # its own class
        return bound

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._seal(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._open(payload) for payload in payloads]

    def _seal(self, payload: Payload) -> Payload:
        metadata = {"encoding": SEALED, "key": self._seals.first.encode(), BOUND: b"run"}
        data = self._seals.seal(payload.SerializeToString(), self._associated_data(metadata))
        return Payload(metadata=metadata, data=data)

    def _open(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != SEALED:
            return _build_refusal("a payload is not sealed, although there are keys")
        key = payload.metadata["key"].decode(errors="replace")
        try:
            return Payload.FromString(self._seals.open(key, payload.data, self._associated_data(payload.metadata)))
        except SealBroken as broken:
            return _build_refusal(f"a payload cannot be opened: {broken}")

    def _associated_data(self, metadata: Mapping[str, bytes]) -> bytes:
        """Return the associated data of a seal. An earlier version did not bind it to a run."""
        return metadata["key"] + (b"\0" + self._workflow.encode() if BOUND in metadata else b"")


def _build_refusal(why: str) -> Payload:
    """Build a payload that raises when it is read: raised here, the error would affect all payloads of the message."""
    return Payload(metadata={"encoding": REFUSED}, data=why.encode())
