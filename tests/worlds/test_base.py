"""What a world author gets from `BaseWorld`, `@skill` and `@probe`."""

import asyncio
import pickle
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest

from midcourse.codec import decode, encode
from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.expectation import Expectation, Probe, TextContains
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, Target
from midcourse.domain.skill import Parameter, Skill
from midcourse.errors import NotSent, SkillInvalid
from midcourse.ports.world import Call, ProbeSpec, World
from midcourse.worlds.base import (
    BaseWorld,
    Outcome,
    Scene,
    Unseen,
    Zone,
    failed,
    no_effect,
    not_sent,
    probe,
    skill,
    unreachable,
)


class Lamp(BaseWorld):
    name = "lamp"

    def __init__(self) -> None:
        super().__init__()
        self.on = False

    def look(self) -> Scene:
        return Scene("Room", Zone(id="lamp", role="switch", label="Lamp", state=(("on", self.on),)))

    @skill(effect="set_state")
    def turn(self, zone: Zone, on: bool) -> None:
        """Turn the lamp on or off.

        More of this is not for planners.
        """
        self.on = on

    @probe
    def is_on(self) -> bool:
        """Whether it is lit."""
        return self.on


def call(skill_name: str, zone: str = GLOBAL, command: int = 1, arguments: Pairs = ()) -> Call:
    return Call(
        command=command,
        skill=skill_name,
        zone=zone,
        target=Target(surface="Room", role="switch", label="Lamp"),
        arguments=arguments,
    )


async def test_a_lamp_is_a_world() -> None:
    world: World = Lamp()
    assert await world.open() == ""
    assert world.name == "lamp"
    assert world.fences
    before = await world.observe()
    assert isinstance(before, Observation)
    assert before.surface.title == "Room"
    assert await world.probe("is_on", ()) == "absent"
    assert await world.act(call("turn", "lamp", arguments=(("on", True),))) == Outcome()
    after = await world.observe()
    assert isinstance(after, Observation)
    assert after.zones[0].get("on") is True
    assert after.fingerprint != before.fingerprint
    assert await world.probe("is_on", ()) == "present"
    assert not await world.attach("anything")
    await world.close()
    await world.close()


def test_the_catalogue_is_read_off_the_methods() -> None:
    catalogue = Lamp().catalogue()
    assert catalogue.skills == (
        Skill(
            name="turn",
            description="Turn the lamp on or off.",
            parameters=(Parameter(name="on", type="boolean"),),
            effect="set_state",
            on_zone=True,
        ),
    )
    assert catalogue.probes == (ProbeSpec(name="is_on", description="Whether it is lit."),)


class Everything(BaseWorld):
    """One of each."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Mapping[str, object]] = []

    def look(self) -> Scene:
        return Scene("All", fingerprint="mine")

    @skill
    def bare(self) -> None: ...

    @skill(effect="read")
    async def take(
        self,
        text: Annotated[str, "What to say."],
        count: int,
        size: float,
        maybe: int | None,
        page: Literal["a", "b"] = "a",
        loud: bool = False,
    ) -> Mapping[str, str | int | float | bool | None]:
        self.got.append({"text": text, "count": count, "size": size, "maybe": maybe, "page": page, "loud": loud})
        return {"text": text, "count": count}

    @skill(effect="irreversible", transition=True, undo="bare", commit_set="form", probe="sent", settles_after=2.0)
    def send(self, amount: int) -> Outcome:
        return unreachable(f"{amount} is too far")

    def form(self, amount: int) -> Mapping[str, str | int]:
        return {"amount": amount, "hidden": "token"}

    @skill(
        commit_set=lambda self: CommitSet(address="here"),
        probe=Probe(name="sent"),
        absent_when=Expectation(checks=(TextContains(text="refused"),)),
    )
    def post(self) -> Outcome:
        return no_effect("nothing to post")

    @probe()
    async def sent(self, to: str | None, verdict: bool | None = None) -> bool | None:
        return verdict


def test_parameters_come_from_annotations() -> None:
    take = Everything().catalogue().skill("take")
    assert take is not None
    assert take.parameters == (
        Parameter(name="text", description="What to say."),
        Parameter(name="count", type="integer"),
        Parameter(name="size", type="number"),
        Parameter(name="maybe", type="integer", required=False),
        Parameter(name="page", required=False, choices=("a", "b")),
        Parameter(name="loud", type="boolean", required=False),
    )
    assert not take.on_zone


def test_class_without_a_name_gets_one_from_the_class() -> None:
    assert Everything().name == "everything"


async def test_a_scene_may_bring_its_own_fingerprint() -> None:
    seen = await Everything().observe()
    assert isinstance(seen, Observation)
    assert seen.fingerprint == "mine"


async def test_result_of_a_skill_becomes_an_outcome() -> None:
    world = Everything()
    arguments: Pairs = (("text", "hi"), ("count", 2.0), ("size", 3), ("page", "b"))
    assert await world.act(call("take", arguments=arguments)) == Outcome(data=(("text", "hi"), ("count", 2)))
    assert world.got == [{"text": "hi", "count": 2, "size": 3.0, "maybe": None, "page": "b", "loud": False}]
    sent = await world.act(call("send", arguments=(("amount", 7),)))
    assert (sent.status, sent.reason, sent.detail) == ("unreachable", "unreachable", "7 is too far")
    assert (await world.act(call("post"))).status == "no_effect"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (("text", "x"), ("count", 1)),
        (("text", "x"), ("count", True), ("size", 1.0)),
        (("text", "x"), ("count", 1.5), ("size", 1.0)),
        (("text", 1), ("count", 1), ("size", 1.0)),
        (("text", None), ("count", 1), ("size", 1.0)),
        (("text", "x"), ("count", 1), ("size", "big")),
        (("text", "x"), ("count", 1), ("size", 1.0), ("page", "c")),
        (("text", "x"), ("count", 1), ("size", 1.0), ("colour", "red")),
    ],
)
async def test_unfit_arguments_are_refused_before_anything_is_done(arguments: Pairs) -> None:
    world = Everything()
    outcome = await world.act(call("take", arguments=arguments))
    assert (outcome.status, outcome.reason, outcome.evidence) == ("no_effect", "bad_arguments", "rule")
    assert world.got == []


async def test_the_commit_set_is_the_call_or_what_the_world_says() -> None:
    world = Everything()
    assert await world.commit_set(call("bare", arguments=(("x", 1),))) == CommitSet(values=(("x", 1),))
    assert await world.commit_set(call("send", arguments=(("amount", 7),))) == CommitSet(
        values=(("amount", 7), ("hidden", "token"))
    )
    assert await world.commit_set(call("post")) == CommitSet(address="here")
    assert await world.commit_set(call("nothing")) is None
    assert await world.commit_set(call("send", arguments=(("amount", "much"),))) is None
    commits = {s.name: s.commits for s in world.catalogue().skills}
    assert commits == {"bare": "call", "take": "call", "send": "world", "post": "world"}


async def test_a_declared_probe_carries_how_long_it_needs() -> None:
    send = Everything().catalogue().skill("send")
    assert send is not None
    assert send.probe == Probe(name="sent", settles_after=2.0)
    assert (send.effect, send.transition, send.undo) == ("irreversible", True, "bare")


async def test_a_probe_answers_present_absent_or_unclear() -> None:
    world = Everything()
    assert await world.probe("sent", (("verdict", True),)) == "present"
    assert await world.probe("sent", (("verdict", False), ("to", "me"))) == "absent"
    assert await world.probe("sent", ()) == "unclear"
    assert await world.probe("nothing", ()) == "unclear"
    assert await world.probe("sent", (("nonsense", 1),)) == "unclear"


async def test_an_unknown_skill_fails_and_a_zone_that_is_not_there_is_not_visible() -> None:
    world = Lamp()
    assert (await world.act(call("explode"))).reason == "unknown_skill"
    for zone in ("curtain", GLOBAL):
        outcome = await world.act(call("turn", zone, arguments=(("on", True),)))
        assert (outcome.status, outcome.reason, outcome.evidence) == ("no_effect", "target_not_visible", "rule")
    assert not world.on


async def test_a_barred_command_does_nothing() -> None:
    world = Lamp()
    await world.bar(5)
    outcome = await world.act(call("turn", "lamp", command=5, arguments=(("on", True),)))
    assert (outcome.status, outcome.reason) == ("failed", "barred")
    assert not world.on
    assert (await world.act(call("turn", "lamp", command=6, arguments=(("on", True),)))).status == "ok"
    await world.open()
    assert (await world.act(call("turn", "lamp", command=5, arguments=(("on", False),)))).status == "ok"


class Slow(BaseWorld):
    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.under_way = 0
        self.most = 0
        self.done = 0

    def look(self) -> Unseen:
        return Unseen(reason="failed", detail="dark")

    @skill
    async def work(self) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self.gate.wait()
        self.under_way -= 1
        self.done += 1


async def test_acts_come_one_at_a_time_and_a_bar_waits_for_the_one_under_way() -> None:
    world = Slow()
    first = asyncio.create_task(world.act(call("work", command=1)))
    second = asyncio.create_task(world.act(call("work", command=2)))
    while not world.under_way:
        await asyncio.sleep(0)
    bars = [asyncio.create_task(world.bar(command)) for command in (1, 2)]
    for _ in range(10):
        await asyncio.sleep(0)
    assert not bars[0].done()
    world.gate.set()
    await asyncio.gather(*bars)
    assert (await first).status == "ok"
    assert (await second).reason == "barred"
    assert (world.most, world.done) == (1, 1)


async def test_a_look_may_say_that_it_failed() -> None:
    assert await Slow().observe() == Unseen(reason="failed", detail="dark")


class Clumsy(BaseWorld):
    async def look(self) -> Scene:
        raise OSError("no camera")

    @skill
    def fall(self) -> None:
        raise RuntimeError("ouch")

    @skill(commit_set="forget")
    def push(self, zone: Zone) -> None: ...

    @skill(commit_set="forget_all")
    def shove(self) -> None: ...

    @skill
    def mumble(self) -> Any:
        return 7

    def forget(self, zone: Zone) -> Mapping[str, str]:
        return {}

    def forget_all(self) -> Mapping[str, str]:
        raise KeyError("form")

    @probe
    def hurt(self) -> bool:
        raise RuntimeError("cannot tell")


async def test_exceptions_become_a_failed_look_an_unclear_probe_or_no_commit_set() -> None:
    world = Clumsy()
    seen = await world.observe()
    assert isinstance(seen, Unseen)
    assert (seen.reason, seen.detail.partition(" (")[0]) == ("failed", "OSError: no camera")
    assert "test_base.py:" in seen.detail
    assert await world.probe("hurt", ()) == "unclear"
    assert await world.commit_set(call("push", "x")) is None
    assert await world.commit_set(call("shove")) is None
    assert (await world.act(call("push", "x"))).reason == "target_not_visible"


async def test_an_exception_in_a_skill_reaches_the_caller() -> None:
    with pytest.raises(RuntimeError, match="ouch"):
        await Clumsy().act(call("fall"))
    with pytest.raises(SkillInvalid, match=r"clumsy\.mumble came back as int"):
        await Clumsy().act(call("mumble"))


class Door(BaseWorld):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    @skill(effect="irreversible", absent_on=(PermissionError,))
    async def knock(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason", "detail"),
    [
        (NotSent("permission", "it is locked"), "permission", "it is locked"),
        (NotSent("it is locked"), "not_sent", "it is locked"),
        (NotSent("locked"), "locked", "locked"),
        (NotSent("It is locked", "by the owner"), "not_sent", "It is locked: by the owner"),
        (PermissionError("no"), "not_sent", "PermissionError: no (tests/worlds/test_base.py:"),
    ],
)
async def test_a_refusal_says_that_nothing_was_sent(error: Exception, reason: str, detail: str) -> None:
    outcome = await Door(error).act(call("knock"))
    assert (outcome.status, outcome.reason, outcome.evidence, outcome.claimed) == ("no_effect", reason, "rule", True)
    assert outcome.detail.startswith(detail)


@pytest.mark.parametrize("error", [OSError("no"), FileNotFoundError("no"), RuntimeError("PermissionError")])
async def test_the_type_of_any_other_exception_says_nothing(error: Exception) -> None:
    with pytest.raises(type(error)):
        await Door(error).act(call("knock"))


async def test_a_refusal_of_a_guarded_function_does_not_speak_for_the_skill_that_called_it() -> None:
    refused = NotSent("permission", "the card was declined")
    refused.raised_by = call
    with pytest.raises(NotSent, match="the card was declined"):
        await Door(refused).act(call("knock"))


def test_a_refusal_can_be_sent_to_another_process() -> None:
    refused = NotSent("permission", "the card was declined")
    refused.raised_by = lambda: None
    copied = pickle.loads(pickle.dumps(refused))
    assert (copied.reason, copied.detail, str(copied)) == (
        "permission",
        "the card was declined",
        "the card was declined",
    )


def test_older_peers_read_a_refusal_and_theirs_is_read() -> None:
    """An older client takes it for the word of a policy, as it does today."""
    told = not_sent("permission", "it is locked")
    assert '"status":"no_effect"' in encode(told)
    assert '"evidence":"rule"' in encode(told)
    old = decode(Outcome, '{"status":"no_effect","reason":"x","detail":"","data":[],"evidence":"rule","later":1}')
    assert (old.evidence, old.claimed) == ("rule", False)


def test_an_override_without_a_mark_stays_a_skill() -> None:
    class Dimmer(Lamp):
        def turn(self, zone: Zone, on: bool) -> None:
            super().turn(zone, on)

        @skill
        def dim(self, zone: Zone) -> None: ...

    assert [s.name for s in Dimmer().catalogue().skills] == ["turn", "dim"]


def test_helpers_name_their_reasons() -> None:
    assert failed("busy", "later") == Outcome(status="failed", reason="busy", detail="later")


def declare(**members: Any) -> type:
    return type("Odd", (BaseWorld,), members)


def unannotated(self: BaseWorld, what) -> None: ...
def of_a_dict(self: BaseWorld, what: dict[str, int]) -> None: ...
def of_two_kinds(self: BaseWorld, what: int | str) -> None: ...
def of_mixed_choices(self: BaseWorld, what: Literal["a", 1]) -> None: ...
def of_many(self: BaseWorld, *what: int) -> None: ...
def of_a_zone_by_id(self: BaseWorld, zone: str) -> None: ...
def on_another_name(self: BaseWorld, where: Zone) -> None: ...
def unresolved(self: BaseWorld, what: "Nowhere") -> None: ...  # pyrefly: ignore[unknown-name]  # noqa: F821
def on_a_zone(self: BaseWorld, zone: Zone) -> bool: ...
def plain(self: BaseWorld) -> None: ...
def of_one(self: BaseWorld, text: str) -> None: ...


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"odd": skill(unannotated)}, r"Odd\.unannotated.*'what' has no annotation"),
        ({"odd": skill(of_a_dict)}, r"'what' is annotated dict\[str, int\]"),
        ({"odd": skill(of_two_kinds)}, r"'what' is annotated int \| str"),
        ({"odd": skill(of_mixed_choices)}, "'what'"),
        ({"odd": skill(of_many)}, "'what' cannot be passed by name"),
        ({"odd": skill(of_a_zone_by_id)}, "'zone' is annotated Zone"),
        ({"odd": skill(on_another_name)}, "'where' is annotated Zone"),
        ({"odd": skill(unresolved)}, "Nowhere"),
        ({"odd": probe(on_a_zone)}, "a probe has no zone"),
        ({"odd": skill(effect="magic")(lambda self: None)}, "effect 'magic'"),  # pyrefly: ignore[bad-argument-type]
        ({"odd": skill(undo="back")(lambda self: None)}, "undone by 'back'"),
        ({"odd": skill(probe="sent")(lambda self: None)}, "probe 'sent' is not a probe"),
        ({"odd": skill(probe="sent")(lambda self: None), "sent": probe(of_one)}, r"takes \(text\), not \(\)"),
        ({"odd": skill(settles_after=1.0)(lambda self: None)}, "there is no probe"),
        ({"odd": skill(absent_on=PermissionError)(lambda self: None)}, r"such as \(PermissionError,\)"),  # pyrefly: ignore[bad-argument-type]
        ({"odd": skill(absent_on=("PermissionError",))(lambda self: None)}, "tuple of exceptions"),  # pyrefly: ignore[bad-argument-type]
        ({"odd": skill(commit_set="form")(lambda self: None)}, "commit_set 'form' is not a method"),
        ({"odd": skill(commit_set="form")(lambda self: None), "form": of_one}, "must take the same arguments"),
        ({"open": skill(lambda self: None)}, "every world has a method of this name"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused_when_the_class_is_made(
    members: dict[str, Any], says: str
) -> None:
    with pytest.raises(SkillInvalid, match=says):
        declare(**members)


def needs_a_zone(self: BaseWorld, zone: Zone) -> None: ...


def test_world_with_zones_and_without_look_gets_an_error_with_advice() -> None:
    with pytest.raises(NotImplementedError, match="give it a `look` method"):
        declare(odd=skill(needs_a_zone))().look()
