"""What goes through the engine comes back as it was, takes little room, and can be read by nobody without the key."""

import json
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st
from temporalio.api.common.v1 import Payload
from temporalio.converter import WorkflowSerializationContext

from midcourse.codec import encode
from midcourse.domain.command import Act, Command
from midcourse.domain.event import Acted, Event
from midcourse.domain.observation import ObservationRef
from midcourse.domain.run import Run
from midcourse.ports.store import Happened
from midcourse.runtimes.temporal.codec import RefusingConverter, Sealing, data_converter
from midcourse.runtimes.temporal.wire import Done, Start, Work
from midcourse.sealing import Key

OLD, NEW = Key(id="2025", secret=b"o" * 32), Key(id="2026", secret=b"n" * 32)
STEP = Act(id=12, timeout=90.0, version=2, index=3, seen="o11", made_by=7)
SEEN = ObservationRef(id="o12", fingerprint="a635822079d42400", zones=9, surface="Checkout")


async def through(value: Any, kind: type, *keys: Key) -> Any:
    converter = data_converter(keys)
    return (await converter.decode(await converter.encode([value]), [kind]))[0]


def finite(value: Any) -> bool:
    return "inf" not in repr(value) and "nan" not in repr(value)


COMMANDS: Any = Command
EVENTS: Any = Event
rows = st.lists(st.builds(Happened, seq=st.integers(1, 9), event=st.from_type(EVENTS)), max_size=2).map(tuple)


@given(st.builds(Work, command=st.from_type(COMMANDS), seq=st.integers(1, 9), rows=rows).filter(finite))
async def test_any_work_comes_back_as_it_was(work: Work) -> None:
    assert await through(work, Work) == work


@given(st.builds(Done, event=st.from_type(EVENTS), holder=st.text()).filter(finite))
async def test_anything_done_comes_back_as_it_was(done: Done) -> None:
    assert await through(done, Done) == done


async def test_a_step_takes_little_room() -> None:
    converter = data_converter()
    work, done = Work(command=STEP, seq=12), Done(event=Acted(answers=12, at=1794713483.148, seen=SEEN))
    sizes = [len(payload.data) for payload in await converter.encode([work, done])]
    assert sizes == [105, 143]


async def test_a_state_is_written_in_full_since_its_defaults_may_change_while_it_waits() -> None:
    (payload,) = await data_converter().encode([Start(run=Run(id="r"))])
    assert b'"max_calls":30' in payload.data
    assert await through(Start(run=Run(id="r")), Start) == Start(run=Run(id="r"))


async def test_sealed_says_nothing_but_the_name_of_its_key() -> None:
    (payload,) = await data_converter([NEW]).encode([Work(command=STEP, seq=12)])
    assert dict(payload.metadata) == {"encoding": b"binary/encrypted", "key": b"2026", "bound": b"run"}
    assert b"act" not in payload.data
    assert await through(Work(command=STEP, seq=12), Work, NEW) == Work(command=STEP, seq=12)


async def test_the_same_twice_is_sealed_differently() -> None:
    one, other = await data_converter([NEW]).encode([STEP, STEP])
    assert one.data != other.data


async def test_a_new_key_seals_and_the_old_one_still_opens() -> None:
    before = await data_converter([OLD]).encode([STEP])
    both = data_converter([NEW, OLD])
    assert await both.decode(before, [Act]) == [STEP]
    (after,) = await both.encode([STEP])
    assert after.metadata["key"] == b"2026"


async def test_what_is_not_sealed_is_refused_where_there_are_keys() -> None:
    with pytest.raises(ValueError, match="is not sealed"):
        await data_converter([NEW]).decode(await data_converter().encode([STEP]), [Act])


async def test_what_is_sealed_for_one_run_is_refused_in_another() -> None:
    one, other = (
        data_converter([NEW]).with_context(WorkflowSerializationContext(namespace="default", workflow_id=run))
        for run in ("acme/r1", "acme/r2")
    )
    sealed = await one.encode([STEP])
    assert await one.decode(sealed, [Act]) == [STEP]
    with pytest.raises(ValueError, match="for another run"):
        await other.decode(sealed, [Act])


async def test_what_an_earlier_version_sealed_for_any_run_is_still_read() -> None:
    nonce, (payload,) = b"n" * 12, await data_converter().encode([STEP])
    data = nonce + AESGCM(NEW.secret).encrypt(nonce, payload.SerializeToString(), b"2026")
    earlier = Payload(metadata={"encoding": b"binary/encrypted", "key": b"2026"}, data=data)
    assert await data_converter([NEW]).decode([earlier], [Act]) == [STEP]


async def test_without_its_key_it_says_which_one_is_missing() -> None:
    with pytest.raises(LookupError, match="'2025', which is not here"):
        await data_converter([NEW]).decode(await data_converter([OLD]).encode([STEP]), [Act])


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


# --- what goes without saying

KNOWN = Path(__file__).parents[1] / "fixtures" / "wire-defaults.json"


def defaults(kind: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Of everything that goes out with a step: what a field is taken for where it was left out."""
    for member in (*get_args(kind), kind):
        if is_dataclass(member) and isinstance(member, type):
            hints = get_type_hints(member)
            for field in fields(member):
                if field.default is not MISSING and field.name != "kind":
                    found[f"{member.__name__}.{field.name}"] = json.loads(encode(field.default, hints[field.name]))
                defaults(hints[field.name], found)
        elif member is not kind:
            defaults(member, found)
    return found


def test_what_is_left_out_is_taken_for_the_same_for_ever() -> None:
    """New fields may come; add them to the file. What histories rely on must not change under them."""
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    assert defaults(Work, {}) | defaults(Done, {}) == known
