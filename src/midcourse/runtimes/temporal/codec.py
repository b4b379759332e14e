"""Values into payloads and back: terse JSON, and sealed for whoever has no key."""

import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    JSONPlainPayloadConverter,
)

from midcourse.codec import decode_any, encode
from midcourse.runtimes.temporal.wire import Done, Work


class TerseConverter(EncodingPayloadConverter):
    """JSON as our codec writes it. What goes out with every step is written without what goes without saying."""

    @property
    def encoding(self) -> str:
        return "json/plain"

    def to_payload(self, value: Any) -> Payload | None:
        text = json.dumps(terse(value), separators=(",", ":")) if isinstance(value, Work | Done) else encode(value)
        return Payload(metadata={"encoding": self.encoding.encode()}, data=text.encode())

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        return decode_any(type_hint or Any, payload.data)


def terse(value: object) -> object:
    """Without fields that have their default. `kind` stays: it tells the members of a union apart."""
    if is_dataclass(value) and not isinstance(value, type):
        said = ((field, getattr(value, field.name)) for field in fields(value))
        return {f.name: terse(v) for f, v in said if f.name == "kind" or f.default is MISSING or v != f.default}
    if isinstance(value, tuple):
        return [terse(item) for item in cast(tuple[object, ...], value)]
    return value


class Payloads(CompositePayloadConverter):
    def __init__(self) -> None:
        usual = DefaultPayloadConverter.default_encoding_payload_converters
        super().__init__(*(TerseConverter() if isinstance(c, JSONPlainPayloadConverter) else c for c in usual))


def data_converter() -> DataConverter:
    return DataConverter(payload_converter_class=Payloads)
