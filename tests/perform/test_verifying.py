"""The command Verify: bar the act, then find out whether it happened."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.budget import FREE
from midcourse.domain.commands import Verify
from midcourse.domain.events import Planned, Verified
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import SIGNED_IN, Outcome
from midcourse.domain.plan import Draft
from midcourse.perform import Performer
from midcourse.ports.reader import Picture, Sighting
from midcourse.ports.verifier import Claim, Verdict
from midcourse.worlds.base import not_sent, probe
from tests.harness import ORDER_PENS, Bench, Shop, draft

SIGN = Zone(id="note", role="text", label="Nothing was ordered")


class Listing(Shop):
    """Lists the orders at once."""

    @probe(looks_for="text")
    def listed(self, text: str) -> bool:
        return text in self.orders


async def in_doubt(
    shop: Shop | None = None, *, placed: bool, order: Draft = ORDER_PENS, **more: Any
) -> tuple[Bench, Planned, Shop]:
    """An order was sent, and the answer was an error page. Whether it was placed only the shop knows."""
    shop = shop or Shop()
    bench = Bench(world=shop, **more)
    await bench.prepare()

    def answer(item: str) -> Outcome:
        if placed:
            shop.orders.append(item)
        shop.title = "504"
        return Outcome(status="unknown", reason="http_504")

    shop.on_order = answer
    planned = await bench.make_plan(order)
    acted = await bench.act(planned)
    assert acted.status == "unknown"
    return bench, planned, shop


async def test_an_effect_that_the_probe_finds_happened() -> None:
    bench, planned, shop = await in_doubt(placed=True)
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.evidence) == ("happened", "probe")
    assert shop.barred == [300]
    entry = await bench.store.ledger_entry("run", 300)
    assert entry is not None
    assert entry.outcome is not None
    assert (entry.outcome.status, entry.outcome.evidence) == ("ok", "probe")


async def test_absence_counts_only_once_the_probe_has_settled() -> None:
    bench, planned, _ = await in_doubt(placed=False)
    early = await bench.verify(planned)
    assert (early.verdict, early.seconds) == ("too_early", 5.0)
    bench.clock.advance(3.0)
    early = await bench.verify(planned, id=401)
    assert (early.verdict, early.seconds) == ("too_early", 2.0)
    bench.clock.advance(2.0)
    settled = await bench.verify(planned, id=402)
    assert (settled.verdict, settled.evidence) == ("did_not_happen", "probe")
    entry = await bench.store.ledger_entry("run", 300)
    assert entry is not None
    assert entry.outcome is not None
    assert entry.outcome.status == "no_effect"


@pytest.mark.parametrize(("said", "seconds"), [(0.0, 10.0), (2.0, 2.0), (30.0, 30.0)])
async def test_a_probe_settles_as_the_world_says_unless_the_step_says_it(said: float, seconds: float) -> None:
    class Behind(Shop):
        @probe(settles_after=10.0)
        def listed(self, item: str) -> bool:
            return item in self.orders

    asked = Probe(name="listed", settles_after=said)
    bench, planned, _ = await in_doubt(Behind(), placed=False, order=replace(ORDER_PENS, probe=asked))
    early = await bench.verify(planned)
    assert (early.verdict, early.seconds) == ("too_early", seconds)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("pens", "did_not_happen"),  # sent
        (" PENS", "did_not_happen"),
        ("Help", "did_not_happen"),  # on the page from which it was sent
        ("pencils", "undecided"),
        ("ens", "undecided"),  # part of a word
    ],
)
async def test_absence_counts_only_for_a_text_that_was_sent_or_shown(text: str, verdict: str) -> None:
    """A model that types one thing and looks for another would otherwise order twice."""
    asked = Probe(name="listed", arguments=(("text", text),))
    bench, planned, _ = await in_doubt(Listing(), placed=False, order=replace(ORDER_PENS, probe=asked))
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.evidence) == (verdict, "probe" if verdict == "did_not_happen" else "")
    assert (f"'{text}', which was not sent either" in verified.detail) == (verdict == "undecided")


@pytest.mark.parametrize("text", ["for Bo", "Bo: pens"])
async def test_a_text_that_an_earlier_step_entered_counts_as_sent(text: str) -> None:
    """As in a form of several pages, of which only the last one takes effect, and in a list that shows several fields in a line."""
    shop, asked = Listing(), Probe(name="listed", arguments=(("text", text),))
    bench = Bench(world=shop)
    await bench.prepare()
    planned = await bench.make_plan(draft("name", "fill", text="Desk lamps for Bo"), replace(ORDER_PENS, probe=asked))
    await bench.act(planned)
    shop.on_order = lambda item: Outcome(status="unknown", reason="http_504")
    assert (await bench.act(planned, 1)).status == "unknown"
    verified = await bench.verify(planned, 1)
    assert (verified.verdict, verified.evidence) == ("did_not_happen", "probe")


async def test_a_text_that_was_replaced_before_it_was_sent_does_not_count() -> None:
    shop, asked = Listing(), Probe(name="listed", arguments=(("text", "Lamp arrived broken"),))
    bench = Bench(world=shop)
    await bench.prepare()
    typed = [draft("name", "fill", text=text) for text in ("Lamp arrived broken", "Lamp arrived broke3")]
    planned = await bench.make_plan(*typed, replace(ORDER_PENS, probe=asked))
    for index in (0, 1):
        await bench.act(planned, index)
    shop.on_order = lambda item: Outcome(status="unknown", reason="http_504")
    assert (await bench.act(planned, 2)).status == "unknown"
    assert (await bench.verify(planned, 2)).verdict == "undecided"


async def test_a_sign_in_that_is_decided_later_is_still_known_as_one() -> None:
    """Otherwise the same sign-in could not be sent again after its session has ended."""
    bench, planned, _shop = await in_doubt(placed=True)
    entry = await bench.store.ledger_entry("run", 300)
    assert entry is not None
    assert entry.outcome is not None
    await bench.store.write_ledger("run", replace(entry, outcome=replace(entry.outcome, reason=SIGNED_IN)))
    assert (await bench.verify(planned)).verdict == "happened"
    entry = await bench.store.ledger_entry("run", 300)
    assert entry is not None
    assert entry.outcome is not None
    assert (entry.outcome.status, entry.outcome.reason) == ("ok", SIGNED_IN)


@pytest.mark.parametrize("placed", [True, False])
async def test_absence_proves_nothing_after_the_server_accepted_it(placed: bool) -> None:
    shop = Listing()
    bench = Bench(world=shop)
    await bench.prepare()

    def accept(item: str) -> Outcome:
        shop.title = "Order 3: pans"
        shop.orders = [item] if placed else ["pans"]
        return Outcome(evidence="response")

    shop.on_order = accept
    planned = await bench.make_plan(replace(ORDER_PENS, probe=Probe(name="listed", arguments=(("text", "pens"),))))
    acted = await bench.act(planned)
    assert (acted.status, acted.reason) == ("unknown", "accepted_by_server")
    verified = await bench.verify(planned)
    assert verified.verdict == ("happened" if placed else "undecided")
    assert placed or "the server accepted it" in verified.detail


async def test_the_command_is_barred_before_anything_is_looked_at() -> None:
    order: list[str] = []

    class Watched(Shop):
        async def bar(self, command: int) -> None:
            order.append("bar")
            await super().bar(command)

        async def observe(self) -> Any:
            order.append("look")
            return await super().observe()

        async def probe(self, name: str, arguments: Any) -> Any:
            order.append("probe")
            return await super().probe(name, arguments)

    bench, planned, _ = await in_doubt(Watched(), placed=True)
    order.clear()
    await bench.verify(planned)
    assert order == ["bar", "look", "probe"]


async def test_a_barred_command_cannot_act_late() -> None:
    bench, planned, shop = await in_doubt(placed=False)
    await bench.verify(planned)
    shop.on_order = lambda item: None
    acted = await bench.act(planned)
    assert shop.orders == []
    assert acted.status == "unknown"


async def test_an_act_without_a_ledger_entry_was_not_sent() -> None:
    bench = Bench()
    await bench.prepare()
    verified = await bench.verify(await bench.make_plan(ORDER_PENS))
    assert (verified.verdict, verified.evidence) == ("did_not_happen", "not_dispatched")


async def test_an_act_without_a_ledger_entry_may_still_be_sent_where_it_cannot_be_barred() -> None:
    class Deaf(Shop):
        async def bar(self, command: int) -> None:
            raise RuntimeError("who are you?")

    bench = Bench(world=Deaf())
    await bench.prepare()
    verified = await bench.verify(await bench.make_plan(ORDER_PENS))
    assert verified.verdict == "undecided"
    assert "who are you?" in verified.detail


async def test_a_harmless_step_without_a_ledger_entry_is_undecided() -> None:
    bench = Bench()
    await bench.prepare()
    verified = await bench.verify(await bench.make_plan(draft("name", "fill", text="x")))
    assert verified.verdict == "undecided"


@pytest.mark.parametrize("step", [draft("name", "peek"), draft("name", "fill", text="x"), draft("name", "nudge")])
async def test_a_step_on_record_as_done_is_not_done_again(step: Draft) -> None:
    """The performer died after recording it, and before reporting it."""
    bench = Bench()
    await bench.prepare()
    planned = await bench.make_plan(step)
    acted = await bench.act(planned)
    assert (acted.status, acted.evidence) == ("ok", "")
    assert (await bench.verify(planned)).verdict == "happened"


async def test_an_expectation_that_is_seen_now_decides() -> None:
    bench, planned, shop = await in_doubt(placed=True)
    shop.title = "Thank you"
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.evidence) == ("happened", "expectation")
    assert verified.seen is not None


async def test_an_expectation_that_held_before_decides_nothing() -> None:
    shop = Shop()
    shop.title = "Thank you for your visit"
    bench, planned, _ = await in_doubt(shop, placed=False)
    shop.title = "Thank you for your visit"
    assert (await bench.verify(planned)).verdict == "too_early"


async def test_the_sign_of_absence_decides() -> None:
    bench, planned, shop = await in_doubt(placed=False)
    shop.zones = [SIGN]
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.evidence) == ("did_not_happen", "absent_when")


async def test_evidence_for_and_against_is_left_to_the_probe() -> None:
    bench, planned, shop = await in_doubt(placed=True)
    shop.zones, shop.title = [SIGN], "Thank you"
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.evidence) == ("happened", "probe")


async def test_a_probe_that_cannot_tell_or_fails_leaves_it_undecided() -> None:
    bench, planned, shop = await in_doubt(placed=False)
    shop.findings = [None]
    assert (await bench.verify(planned)).verdict == "undecided"

    class Broken(Shop):
        async def probe(self, name: str, arguments: Any) -> Any:
            raise RuntimeError("no such page")

    bench, planned, _ = await in_doubt(Broken(), placed=False)
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.detail) == ("undecided", "the probe failed: RuntimeError: no such page")


async def test_without_a_probe_the_screen_has_to_decide() -> None:
    bench, planned, _ = await in_doubt(placed=True)
    plan = await bench.store.plan("run", 1)
    assert plan is not None
    await bench.store.save_plan("run", replace(plan, steps=(replace(plan.steps[0], probe=None), *plan.steps[1:])))
    verified = await bench.verify(planned)
    assert verified.verdict == "undecided"
    assert "no probe" in verified.detail


async def test_a_lost_world_is_reported() -> None:
    bench, planned, shop = await in_doubt(placed=True)
    shop.unseen = [Unseen(reason="world_lost", detail="gone")]
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.reason) == ("undecided", "world_lost")


# --- a world that cannot fence


async def test_without_a_fence_absence_counts_for_an_answered_act() -> None:
    shop = Shop(fences=False)
    bench, planned, _ = await in_doubt(shop, placed=False)
    bench.clock.advance(9.0)
    assert (await bench.verify(planned)).verdict == "too_early"
    bench.clock.advance(9.0)
    assert (await bench.verify(planned, id=401)).verdict == "did_not_happen"


@pytest.mark.parametrize("how", ["times out", "raises", "crashed"])
@pytest.mark.parametrize("sign", [True, False])
async def test_without_a_fence_absence_does_not_count_for_an_unanswered_act(how: str, sign: bool) -> None:
    """It may still be under way: the shop takes its time, and the order comes a minute later."""
    shop = Shop(fences=False)
    bench = Bench(world=shop)
    await bench.prepare()

    async def slow() -> None:
        if how == "raises":
            raise ConnectionResetError("gone")
        await asyncio.sleep(60)

    shop.on_order = lambda item: slow()
    planned = await bench.make_plan(ORDER_PENS)
    await bench.act(planned, timeout=0.02)
    if how == "crashed":
        entry = await bench.store.ledger_entry("run", 300)
        assert entry is not None
        await bench.store.write_ledger("run", replace(entry, outcome=None))
    shop.zones = [SIGN] if sign else []
    bench.clock.advance(100.0)
    await bench.verify(planned)
    bench.clock.advance(100.0)
    assert (await bench.verify(planned, id=401)).verdict == "undecided"
    shop.orders.append("pens")
    assert (await bench.verify(planned, id=402)).verdict == "happened", "what is there counts at once"


# --- a world that does not answer


async def test_a_world_that_cannot_bar_an_act_that_never_answered_leaves_it_undecided() -> None:
    class Deaf(Shop):
        async def bar(self, command: int) -> None:
            raise RuntimeError("who are you?")

    shop = Deaf()
    bench, planned, _ = await in_doubt(shop, placed=False)
    assert (await bench.verify(planned)).verdict == "too_early", "it answered, so it is over"
    entry = await bench.store.ledger_entry("run", 300)
    assert entry is not None
    await bench.store.write_ledger("run", replace(entry, outcome=None, barred_at=None))
    verified = await bench.verify(planned, id=401)
    assert (verified.verdict, verified.detail) == (
        "undecided",
        "its effect is not there, but it may still be under way",
    )


async def test_nothing_in_a_verification_is_waited_for_without_end() -> None:
    class Slow(Shop):
        slow = ""

        async def _maybe(self, what: str) -> None:
            if self.slow == what:
                await asyncio.sleep(60)

        async def bar(self, command: int) -> None:
            await self._maybe("bar")

        async def observe(self) -> Any:
            await self._maybe("look")
            return await super().observe()

        async def probe(self, name: str, arguments: Any) -> Any:
            await self._maybe("probe")
            return await super().probe(name, arguments)

    for what in ("bar", "look", "probe"):
        shop = Slow()
        bench, planned, _ = await in_doubt(shop, placed=False)
        shop.slow = what
        verified = await asyncio.wait_for(bench.verify(planned, timeout=0.05), 2.0)
        assert verified.verdict in ("undecided", "too_early")


async def test_a_recorded_verdict_is_final() -> None:
    """The process died between writing the verdict down and telling it; by now the page is another one."""
    bench, planned, shop = await in_doubt(placed=True)
    assert (await bench.verify(planned)).verdict == "happened"
    shop.findings = [None]
    again = await bench.verify(planned, id=401)
    assert (again.verdict, again.evidence) == ("happened", "probe")


class Counting:
    """A verifier and a reader of pictures that count how often they are asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def verify(self, claim: Claim) -> Verdict:
        self.asked += 1
        return Verdict(holds=True, quote="504")

    async def read(self, picture: Picture) -> Sighting:
        self.asked += 1
        return Sighting(zones=(SIGN,))


@pytest.mark.parametrize("free", [True, False])
async def test_a_free_check_asks_no_model_and_costs_nothing(free: bool) -> None:
    """Neither for an expectation in words nor for a picture."""
    order = replace(ORDER_PENS, expect=Expectation(says="the order is confirmed"))
    bench, planned, shop = await in_doubt(placed=False, order=order)
    shop.findings = [None]
    counting = Counting()
    bench.with_limits(reads_words=True, vision=free, look_calls=1)  # its pictures cannot be read
    ports = replace(bench.ports, verifier=counting, reader=counting)
    step = planned.steps[0]
    command = Verify(id=400, timeout=50.0, version=step.version, index=step.index, doubted=300, free=free)
    verified = await Performer(ports).perform(command)
    assert isinstance(verified, Verified)
    assert (counting.asked == 0, verified.cost == FREE) == (free, free)
    assert verified.seen is not None, "the world was observed"


async def refused(*, sent: bool, believe: bool = True) -> tuple[Bench, Planned, Shop]:
    """The world says that nothing was sent. Whether that is true only the shop knows."""
    shop = Shop()
    bench = Bench(world=shop)
    await bench.prepare()

    def refuse(item: str) -> Outcome:
        if sent:
            shop.orders.append(item)
        return not_sent("permission", "the account is closed")

    shop.on_order = refuse
    planned = await bench.make_plan(ORDER_PENS)
    acted = await bench.act(planned, believe_claim=believe)
    assert (acted.status, acted.claimed) == (("no_effect", True) if believe else ("unknown", False))
    return bench, planned, shop


async def outcome_on_record(bench: Bench) -> Outcome:
    entry = await bench.store.ledger_entry("run", 300)
    assert entry is not None
    assert entry.outcome is not None
    return entry.outcome


async def test_a_refusal_stands_if_the_probe_does_not_find_the_effect() -> None:
    bench, planned, _ = await refused(sent=False)
    bench.clock.advance(60)
    verified = await bench.verify(planned)
    if verified.verdict == "too_early":
        bench.clock.advance(verified.seconds)
        verified = await bench.verify(planned, id=401)
    assert (verified.verdict, verified.evidence) == ("did_not_happen", "rule")
    kept = await outcome_on_record(bench)
    assert (kept.reason, kept.detail, kept.claimed) == ("permission", "the account is closed", True)


async def test_a_refusal_that_the_probe_contradicts_happened() -> None:
    bench, planned, shop = await refused(sent=True)
    verified = await bench.verify(planned)
    assert (verified.verdict, verified.evidence) == ("happened", "probe")
    assert "although the world says that it sent nothing" in verified.detail
    found = await outcome_on_record(bench)
    assert (found.status, found.reason, found.evidence, found.claimed) == ("ok", "disputed", "probe", False)
    shop.findings = [None]
    again = await bench.verify(planned, id=401)
    assert (again.verdict, again.evidence) == ("happened", "probe"), "a recorded verdict is final"


async def test_a_refusal_stands_if_nothing_can_be_seen_or_asked() -> None:
    bench, planned, shop = await refused(sent=False)
    shop.unseen = [Unseen(reason="failed")]
    shop.findings = [None]
    assert (await bench.verify(planned)).verdict == "did_not_happen"


async def test_a_refusal_of_a_world_that_is_not_believed_is_an_unknown_outcome() -> None:
    bench, planned, shop = await refused(sent=False, believe=False)
    assert (await outcome_on_record(bench)).status == "unknown"
    shop.findings = [None]
    assert (await bench.verify(planned)).verdict == "undecided"
