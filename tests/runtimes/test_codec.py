"""What goes through the engine comes back as it was, takes little room, and cannot be read without the key."""

from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st
from temporalio.api.common.v1 import Payload
from temporalio.converter import WorkflowSerializationContext

from midcourse.runtimes.temporal.codec import RefusingConverter, Sealing, data_converter
from midcourse.runtimes.temporal.wire import Left, Placement
from midcourse.sealing import Key

OLD, NEW = Key(id="2025", secret=b"o" * 32), Key(id="2026", secret=b"n" * 32)
RESTED = Left(why="waits", status="asking", messages=3, wake_at=1794713483.148)


async def through(value: Any, kind: type, *keys: Key) -> Any:
    converter = data_converter(keys)
    return (await converter.decode(await converter.encode([value]), [kind]))[0]


def finite(value: Any) -> bool:
    return "inf" not in repr(value) and "nan" not in repr(value)


@given(st.from_type(Left).filter(finite))
async def test_the_state_in_which_a_run_was_left_is_decoded_unchanged(left: Left) -> None:
    assert await through(left, Left) == left


@given(st.from_type(Placement).filter(finite))
async def test_a_placement_is_decoded_unchanged(placement: Placement) -> None:
    assert await through(placement, Placement) == placement


async def test_sealed_says_nothing_but_the_name_of_its_key() -> None:
    (payload,) = await data_converter([NEW]).encode([RESTED])
    assert dict(payload.metadata) == {"encoding": b"binary/encrypted", "key": b"2026", "bound": b"run"}
    assert b"asking" not in payload.data
    assert await through(RESTED, Left, NEW) == RESTED


async def test_the_same_twice_is_sealed_differently() -> None:
    one, other = await data_converter([NEW]).encode([RESTED, RESTED])
    assert one.data != other.data


async def test_a_new_key_seals_and_the_old_one_still_opens() -> None:
    before = await data_converter([OLD]).encode([RESTED])
    both = data_converter([NEW, OLD])
    assert await both.decode(before, [Left]) == [RESTED]
    (after,) = await both.encode([RESTED])
    assert after.metadata["key"] == b"2026"


async def test_what_is_not_sealed_is_refused_where_there_are_keys() -> None:
    with pytest.raises(ValueError, match="is not sealed"):
        await data_converter([NEW]).decode(await data_converter().encode([RESTED]), [Left])


async def test_what_is_sealed_for_one_run_is_refused_in_another() -> None:
    one, other = (
        data_converter([NEW]).with_context(WorkflowSerializationContext(namespace="default", workflow_id=run))
        for run in ("acme/r1", "acme/r2")
    )
    sealed = await one.encode([RESTED])
    assert await one.decode(sealed, [Left]) == [RESTED]
    with pytest.raises(ValueError, match="for another run"):
        await other.decode(sealed, [Left])


async def test_what_an_earlier_version_sealed_for_any_run_is_still_read() -> None:
    nonce, (payload,) = b"n" * 12, await data_converter().encode([RESTED])
    data = nonce + AESGCM(NEW.secret).encrypt(nonce, payload.SerializeToString(), b"2026")
    earlier = Payload(metadata={"encoding": b"binary/encrypted", "key": b"2026"}, data=data)
    assert await data_converter([NEW]).decode([earlier], [Left]) == [RESTED]


async def test_without_its_key_it_says_which_one_is_missing() -> None:
    with pytest.raises(LookupError, match="'2025', which is not among the known keys"):
        await data_converter([NEW]).decode(await data_converter([OLD]).encode([RESTED]), [Left])


@pytest.mark.parametrize("changed", ["data", "key", "bound"])
async def test_what_was_changed_is_not_opened(changed: str) -> None:
    sealing = Sealing([NEW, replace(OLD, secret=NEW.secret)])
    (payload,) = await sealing.encode([Payload(data=b"{}")])
    if changed == "data":
        payload.data = payload.data[:-1] + bytes([payload.data[-1] ^ 1])
    elif changed == "key":
        payload.metadata["key"] = b"2025"
    else:
        del payload.metadata["bound"]
    (opened,) = await sealing.decode([payload])
    with pytest.raises(ValueError, match="was changed"):
        RefusingConverter().from_payload(opened)


async def test_a_key_is_not_printed() -> None:
    assert "nnn" not in repr(NEW)
