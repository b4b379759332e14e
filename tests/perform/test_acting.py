"""The command Act: check, record, dispatch, act, look, judge."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from midcourse.domain.approval import Consequence
from midcourse.domain.argument import Argument, Reference
from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act
from midcourse.domain.events import Planned
from midcourse.domain.expectation import Expectation, FingerprintChanged, TextContains, ZoneAppears
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, REPLAN
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.ports.world import Call
from midcourse.store.memory import MemoryStore
from midcourse.testing import Approves, Scripted
from midcourse.worlds.base import not_sent, skill
from tests.harness import ORDER_PENS, ORDERED, Bench, Safe, Shop, draft, steps


async def bench(**more: Any) -> Bench:
    bench = Bench(**more)
    await bench.prepare()
    return bench


def shop(bench: Bench) -> Shop:
    assert isinstance(bench.world, Shop)
    return bench.world


async def entry_of(bench: Bench, command: int = 300) -> LedgerEntry | None:
    return await bench.store.ledger_entry("run", command)


# --- what goes well


async def test_an_order_is_placed_seen_and_written_down() -> None:
    table = await bench()
    acted = await table.act(await table.make_plan(ORDER_PENS))
    assert (acted.status, acted.evidence, acted.dispatched) == ("ok", "expectation", True)
    assert shop(table).orders == ["pens"]
    assert acted.seen is not None
    assert acted.seen.surface == "Thank you"
    entry = await entry_of(table)
    assert entry is not None
    assert (entry.outcome and entry.outcome.status, entry.seen, entry.identity) == ("ok", "o101", acted.identity)


async def test_a_shortcut_needs_no_zone() -> None:
    table = await bench()
    acted = await table.act(await table.make_plan(draft(GLOBAL, "press", keys="ctrl+s")))
    assert acted.status == "ok"
    assert shop(table).calls == ["press"]


async def test_what_was_read_is_kept_in_the_ledger() -> None:
    table = await bench()
    shop(table).typed = "Ada"
    await table.act(await table.make_plan(draft("name", "peek")))
    entry = await entry_of(table)
    assert entry is not None
    assert entry.outcome is not None
    assert entry.outcome.data == (("seen", "Ada"),)


# --- what is never sent


async def test_replan_is_a_no_op() -> None:
    table = await bench()
    planned = await table.make_plan(draft("help", "follow"), draft(REPLAN))
    acted = await table.act(planned, 1)
    assert (acted.status, acted.dispatched, acted.looked) == ("ok", False, False)
    assert shop(table).calls == []
    assert await table.store.ledger("run") == ()


async def test_a_target_that_is_gone_is_not_acted_on() -> None:
    table = await bench()
    shop(table).zones = [Zone(id="popup", role="button", label="Close")]
    planned = await table.make_plan(draft("popup", "nudge"))
    shop(table).zones = []
    await table.make_plan(draft("name", "peek"), version=2)
    acted = await table.act(planned, seen="o102")
    assert (acted.status, acted.reason, acted.dispatched) == ("unreachable", "target_not_visible", False)
    assert "button 'Close' is not on 'Shop'" in acted.detail
    assert shop(table).calls == []
    entry = await entry_of(table)
    assert entry is not None
    assert entry.dispatched_at is None
    assert entry.outcome is not None
    assert entry.outcome.reason == "target_not_visible"


async def test_a_target_with_another_id_is_found_again_and_still_sends_only_what_was_allowed() -> None:
    table = await bench()
    shop(table).zones = [Zone(id="z1", role="button", label="Order them", state={"within": "Pens"})]
    planned = await table.make_plan(draft("z1", "order", item="pens", expect=ORDERED))
    shop(table).zones = [Zone(id="z9", role="button", label="Order them", state={"within": "Pens"})]
    await table.make_plan(draft("name", "peek"), version=2)
    held = await table.act(planned, seen="o102", consequence="what was allowed")
    assert (held.reason, held.dispatched, held.zone, shop(table).orders) == ("held", False, "z9", [])
    acted = await table.act(planned, seen="o102", found=held.zone)
    assert (acted.status, acted.zone, shop(table).orders) == ("ok", "", ["pens"])


async def test_a_target_that_is_listed_twice_is_not_said_to_be_gone() -> None:
    table = await bench()
    shop(table).zones = [Zone(id="z1", role="link", label="Invoice")]
    planned = await table.make_plan(draft("z1", "nudge"))
    shop(table).zones = [Zone(id=name, role="link", label="Invoice") for name in ("z8", "z9")]
    await table.make_plan(draft("name", "peek"), version=2)
    acted = await table.act(planned, seen="o102")
    assert (acted.reason, acted.dispatched) == ("target_not_visible", False)
    assert acted.detail == (
        "'z1' is not on 'Shop' any more; link 'Invoice' is listed there as z8 and z9, and it is not certain that one of them is meant"
    )


async def test_an_observation_that_is_gone_is_stale() -> None:
    table = await bench()
    acted = await table.act(await table.make_plan(draft("name", "peek")), seen="o999")
    assert (acted.status, acted.reason, acted.dispatched) == ("failed", "stale_target", False)
    assert shop(table).calls == []


async def test_another_thing_under_the_same_id_is_not_the_target() -> None:
    """The button that said Order when the plan was made says Pay now now. Only for what cannot be taken back."""
    table = await bench()
    shop(table).zones = [Zone(id="z9", role="button", label="Cancel")]
    planned = await table.make_plan(draft("z9", "order", item="pens"), draft("z9", "nudge"))
    shop(table).zones = [Zone(id="z9", role="button", label="Pay now")]
    await table.make_plan(draft("name", "peek"), version=2)
    acted = await table.act(planned, seen="o102")
    assert (acted.status, acted.reason, acted.dispatched) == ("unreachable", "target_not_visible", False)
    assert "'Pay now'" in acted.detail
    assert shop(table).orders == []
    assert (await table.act(planned, 1, seen="o102")).status == "ok"


async def test_a_target_that_nobody_had_seen_is_what_is_there_now() -> None:
    """A plan that goes beyond the visible: the person is asked about the button that is there when it comes up."""
    table = await bench()
    planned = await table.make_plan(draft("late", "order", item="pens", expect=ORDERED), beyond=True)
    shop(table).zones = [Zone(id="late", role="button", label="Order at last")]
    await table.make_plan(draft("name", "peek"), version=2)
    acted = await table.act(planned, seen="o102")
    assert (acted.reason, acted.dispatched) == ("held", False)
    kept = await table.store.consequence("run", acted.consequence)
    assert kept is not None
    assert kept.target.label == "Order at last"
    acted = await table.act(planned, seen="o102", consequence=acted.consequence)
    assert (acted.status, shop(table).orders) == ("ok", ["pens"])


async def test_arguments_are_checked_again() -> None:
    table = await bench(task=Task(goal="", secrets=("pin",)), vault=Safe(pin="1234"))
    planned = await table.make_plan(draft("name", "fill", text=Reference(source="secret", name="pin")))
    table.vault = Safe()
    acted = await table.act(planned)
    assert (acted.reason, acted.dispatched) == ("bad_arguments", False)
    assert acted.detail == "secret 'pin' has no value"
    assert shop(table).calls == []


async def test_a_skill_that_is_gone_is_a_failure() -> None:
    class Bare(Shop):
        def catalogue(self) -> Any:
            return type(super().catalogue())()

    table = await bench()
    planned = await table.make_plan(ORDER_PENS)
    table.world = Bare()
    acted = await table.act(planned)
    assert (acted.reason, acted.dispatched) == ("unknown_skill", False)


@pytest.mark.parametrize("status", ["ok", "failed"])
async def test_what_the_application_could_not_send_is_recorded_with_the_act(status: Any) -> None:
    table = await bench()
    dropped = ("the page's own POST http://shop.test/beat was not sent",)
    shop(table).on_call = lambda name: Outcome(status=status, dropped=dropped)
    acted = await table.act(await table.make_plan(draft("order", "nudge")))
    entry = await entry_of(table)
    assert entry is not None
    assert entry.outcome is not None
    assert (acted.status, acted.dropped, entry.outcome.dropped) == (status, dropped, dropped)


# --- the ledger comes first


@pytest.mark.parametrize(("skill", "ledgered"), [("order", True), ("nudge", True), ("fill", False), ("peek", False)])
async def test_an_act_that_must_not_be_repeated_is_recorded_before_it_is_sent(skill: str, ledgered: bool) -> None:
    table = await bench()
    found: list[LedgerEntry | None] = []

    async def inspect() -> None:
        found.append(await entry_of(table))

    shop(table).on_call = lambda name: inspect()
    more = {"order": {"item": "pens"}, "fill": {"text": "x"}}.get(skill, {})
    await table.act(await table.make_plan(draft("order", skill, **more)))
    (before,) = found
    if not ledgered:
        assert before is None
        return
    assert before is not None
    assert before.dispatched_at == table.clock.now()
    assert before.outcome is None


# --- what is held


async def test_a_consequence_that_is_not_the_one_allowed_is_held() -> None:
    table = await bench()
    planned = await table.make_plan(draft("order", "submit", expect=ORDERED))
    shop(table).typed = "Mallory"
    acted = await table.act(planned)
    assert (acted.status, acted.reason, acted.dispatched, acted.effect) == ("no_effect", "held", False, "irreversible")
    assert shop(table).orders == []
    assert acted.consequence not in ("", planned.steps[0].consequence)
    assert acted.identity not in ("", planned.steps[0].identity)
    kept = await table.store.consequence("run", acted.consequence)
    assert kept is not None
    assert kept.commit.values == (("name", "Mallory"),)
    assert await table.store.ledger("run") == ()


async def test_nothing_irreversible_is_sent_without_a_consequence() -> None:
    table = await bench()
    acted = await table.act(await table.make_plan(ORDER_PENS), consequence="")
    assert acted.reason == "held"
    assert shop(table).orders == []


async def test_another_page_is_another_consequence() -> None:
    table = await bench()
    planned = await table.make_plan(ORDER_PENS)
    shop(table).title = "Someone else's shop"
    await table.make_plan(draft("name", "peek"), version=2)
    acted = await table.act(planned, seen="o102")
    assert (acted.reason, acted.dispatched) == ("held", False)
    assert shop(table).orders == []


async def test_an_act_with_an_unreadable_commit_set_is_not_sent() -> None:
    class Blind(Shop):
        def form(self, zone: Zone) -> Any:
            raise RuntimeError("the form is gone")

    table = await bench(world=Blind())
    planned = await table.make_plan(draft("order", "submit"))
    assert planned.steps[0].consequence == ""
    acted = await table.act(planned)
    assert (acted.reason, acted.dispatched) == ("commit_unreadable", False)
    assert shop(table).orders == []


async def test_a_commit_set_that_never_comes_is_not_waited_for() -> None:
    class Slow(Shop):
        async def commit_set(self, call: Any) -> Any:
            await asyncio.sleep(60)

    table = await bench(world=Slow())
    table.with_limits(look_timeout_seconds=0.02)
    planned = await asyncio.wait_for(table.make_plan(draft("order", "submit")), 2.0)
    acted = await asyncio.wait_for(table.act(planned, timeout=0.02), 2.0)
    assert (acted.reason, acted.dispatched) == ("commit_unreadable", False)


class Refusing(Shop):
    """Holds back what its button sends, and then its form cannot be read any more."""

    def form(self, zone: Zone) -> Any:
        if self.calls:
            raise RuntimeError("the form is gone")
        return super().form(zone)

    async def act(self, call: Any) -> Outcome:
        self.calls.append(call.skill)
        return Outcome(status="no_effect", reason="would_send")


async def test_an_act_that_was_held_back_does_not_count_as_sent_although_it_cannot_be_read() -> None:
    table = await bench(world=Refusing())
    acted = await table.act(await table.make_plan(draft("order", "submit", expect=ORDERED)))
    assert (acted.status, acted.reason, acted.dispatched) == ("failed", "commit_unreadable", False)
    entry = await entry_of(table)
    assert entry is not None
    assert entry.dispatched_at is not None
    assert entry.outcome is not None
    assert (entry.outcome.status, entry.outcome.evidence) == ("no_effect", "not_dispatched")


class Posting(Shop):
    """`while_reading` runs while what it would post is read."""

    def __init__(self) -> None:
        super().__init__()
        self.while_reading: Callable[[], Any] = lambda: None

    @skill(effect="irreversible", commit_set="letter")
    def post(self, zone: Zone, text: str) -> None:
        self.orders.append(text)
        self.title = "Thank you"

    async def letter(self, zone: Zone, text: str) -> dict[str, str]:
        done = self.while_reading()
        if hasattr(done, "__await__"):
            await done
        return {"text": text}


async def test_an_act_without_time_left_to_send_it_was_not_begun() -> None:
    """What it would send takes long to be read."""
    table = await bench(world=Posting())
    assert isinstance(table.world, Posting)
    planned = await table.make_plan(draft("order", "post", text="pens", expect=ORDERED))
    table.world.while_reading = lambda: table.clock.sleep(5.0)
    acted = await table.act(planned, timeout=5.0)
    assert (acted.status, acted.reason, acted.dispatched) == ("failed", "timeout", False)
    assert acted.detail == "no time was left to send it"
    assert shop(table).calls == []
    entry = await entry_of(table)
    assert entry is not None
    assert entry.dispatched_at is None
    assert (await table.verify(planned)).verdict == "did_not_happen"


async def test_a_run_without_time_left_to_send_ends_without_a_doubt() -> None:
    world, person = Posting(), Approves()
    table = Bench(world=world, approver=person).with_limits(max_wall_seconds=60.0)
    table.planner = Scripted(steps(draft("order", "post", text="pens", expect=ORDERED)))

    async def take_long() -> None:
        await table.clock.sleep(60.0 if table.commands(Act) else 0.0)

    world.while_reading = take_long
    result = await table.run()
    assert (result.final_reason, world.orders, result.completed) == ("budget_exhausted", [], ())
    assert [question.about for question in person.questions] == ["approve"]


def lose(vault: Safe) -> None:
    vault.secrets.clear()


def fail(vault: Safe) -> None:
    """The forecast still gets the value once."""
    values = [vault.secrets["pin"]]

    def reveal(name: str) -> str | None:
        if not values:
            raise ConnectionError("the vault is away")
        return values.pop()

    vault.reveal = reveal


class Telling(MemoryStore):
    """Calls `saved` after it has saved a consequence."""

    saved: Callable[[], None] = staticmethod(lambda: None)

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None:
        await super().save_consequence(run_id, digest, consequence)
        self.saved()


async def posting_a_secret(after_reading: Callable[[Safe], None]) -> tuple[Bench, Planned]:
    store, vault = Telling(), Safe(pin="1234")
    table = await bench(world=Posting(), task=Task(goal="", secrets=("pin",)), vault=vault, store=store)
    planned = await table.make_plan(draft("order", "post", text=Reference(source="secret", name="pin")))
    store.saved = lambda: after_reading(vault)
    return table, planned


async def test_a_secret_that_is_gone_once_the_consequence_was_read_is_not_sent() -> None:
    table, planned = await posting_a_secret(lose)
    acted = await table.act(planned)
    assert (acted.status, acted.reason, acted.dispatched) == ("failed", "bad_arguments", False)
    assert acted.detail == "secret 'pin' has no value"
    entry = await entry_of(table)
    assert entry is not None
    assert (entry.dispatched_at, shop(table).calls) == (None, [])


async def test_a_vault_that_fails_right_before_the_act_leaves_no_act_that_may_have_been_sent() -> None:
    table, planned = await posting_a_secret(fail)
    with pytest.raises(ConnectionError):
        await table.act(planned)
    assert (await entry_of(table), shop(table).calls) == (None, [])


# --- unknown


async def hang() -> None:
    await asyncio.sleep(60)


async def test_no_answer_in_time_is_unknown() -> None:
    table = await bench()
    shop(table).on_order = lambda item: hang()
    acted = await table.act(await table.make_plan(ORDER_PENS), timeout=0.02)
    assert (acted.status, acted.reason, acted.dispatched) == ("unknown", "timeout", True)
    assert acted.identity
    entry = await entry_of(table)
    assert entry is not None
    assert entry.outcome is not None
    assert entry.outcome.status == "unknown"


async def test_a_world_that_raises_leaves_it_unknown() -> None:
    table = await bench()

    def explode(item: str) -> None:
        raise ConnectionResetError("gone")

    shop(table).on_order = explode
    acted = await table.act(await table.make_plan(ORDER_PENS))
    assert (acted.status, acted.reason) == ("unknown", "error")
    assert "ConnectionResetError: gone" in acted.detail


@pytest.mark.parametrize("nonsense", [None, "done", 7])
async def test_an_answer_that_is_no_outcome_is_unknown(nonsense: Any) -> None:
    class Odd(Shop):
        async def act(self, call: Any) -> Any:
            return nonsense

    table = await bench(world=Odd())
    acted = await table.act(await table.make_plan(draft("order", "nudge")))
    assert (acted.status, acted.reason) == ("unknown", "error")


@pytest.mark.parametrize("status", ["ok", "failed", "no_effect", "unreachable", "unknown"])
async def test_an_outcome_counts_only_if_it_is_observed(status: Any) -> None:
    table = await bench()
    shop(table).on_order = lambda item: Outcome(status=status, reason="rejected", detail="please try again")
    acted = await table.act(await table.make_plan(ORDER_PENS))
    assert (acted.status, acted.evidence) == ("unknown", "")


async def test_the_shops_own_sign_is_evidence_that_nothing_was_ordered() -> None:
    table = await bench()

    def refuse(item: str) -> Outcome:
        shop(table).zones = [Zone(id="note", role="text", label="Nothing was ordered")]
        return Outcome(status="failed", reason="rejected")

    shop(table).on_order = refuse
    acted = await table.act(await table.make_plan(ORDER_PENS))
    assert (acted.status, acted.evidence) == ("no_effect", "absent_when")


async def test_a_world_lost_after_the_act_is_reported() -> None:
    table = await bench()
    planned = await table.make_plan(ORDER_PENS)
    shop(table).unseen = [None, Unseen(reason="world_lost")]
    acted = await table.act(planned)
    assert (acted.status, acted.reason, acted.seen) == ("unknown", "world_lost", None)
    assert shop(table).orders == ["pens"]


@pytest.mark.parametrize("word", ["unsent", "would_send", "would_change", "held", "disputed"])
async def test_a_refusal_with_the_word_of_a_signal_is_a_refusal(word: str) -> None:
    table = await bench()
    planned = await table.make_plan(ORDER_PENS)
    shop(table).on_order = lambda item: not_sent(word, "says the world")
    acted = await table.act(planned)
    assert (acted.status, acted.reason, acted.dispatched, acted.claimed) == ("no_effect", f"world_{word}", True, True)


@pytest.mark.parametrize("word", ["held", "already_finished", "repeats_failure", "not_dispatched", "stale_target"])
async def test_a_world_cannot_claim_that_an_act_was_not_sent(word: str) -> None:
    """These reasons mean that nothing was sent. Of what was sent no world may say so."""
    table = await bench()
    shop(table).on_call = lambda name: Outcome(status="failed", reason=word, detail="says the world")
    acted = await table.act(await table.make_plan(draft("order", "nudge")))
    assert acted.status == "failed"
    assert acted.reason == f"world_{word}"


@pytest.mark.parametrize("status", ["failed", "no_effect", "unreachable"])
async def test_a_failure_without_a_reason_has_its_status_for_one(status: Any) -> None:
    table = await bench()
    shop(table).on_call = lambda name: Outcome(status=status)
    acted = await table.act(await table.make_plan(draft("order", "nudge")))
    assert (acted.status, acted.reason) == (status, status)


# --- looking


async def test_a_look_can_be_saved_where_nothing_depends_on_it() -> None:
    table = await bench()
    table.with_limits(look_calls=1)
    planned = await table.make_plan(draft("name", "fill", text="Ada"), ORDER_PENS)
    looks = shop(table).looks
    acted = await table.act(planned, look=False)
    assert (acted.looked, acted.seen, acted.cost) == (False, None, Cost())
    assert shop(table).looks == looks + 1, "one to find the zone, none afterwards"
    ordered = await table.act(planned, 1, look=False)
    assert (ordered.looked, ordered.cost) == (True, Cost(calls=1))


async def test_a_failed_step_is_looked_at_anyway() -> None:
    table = await bench()
    shop(table).on_call = lambda name: Outcome(status="failed", reason="rejected")
    acted = await table.act(await table.make_plan(draft("order", "nudge")), look=False)
    assert acted.looked


async def test_a_look_that_shows_nothing_is_ignored() -> None:
    table = await bench()
    planned = await table.make_plan(draft("order", "nudge"))
    shop(table).unseen = [None, Unseen(reason="empty")]
    acted = await table.act(planned)
    assert (acted.status, acted.looked, acted.seen) == ("ok", True, None)


async def test_expectations_are_tested_on_what_is_seen() -> None:
    table = await bench()
    never = Expectation(checks=(TextContains(text="Narnia"),))
    acted = await table.act(await table.make_plan(draft("order", "nudge", expect=never)))
    assert (acted.status, acted.reason) == ("failed", "expectation_unmet")
    acted = await table.act(await table.make_plan(draft("name", "fill", text="", expect=never), version=2))
    assert (acted.status, acted.reason) == ("no_effect", "no_effect")
    changed = Expectation(checks=(FingerprintChanged(), ZoneAppears(label="Order")))
    acted = await table.act(await table.make_plan(draft("order", "nudge", expect=changed), version=3))
    assert acted.status == "ok"


async def test_the_world_is_given_time_to_settle() -> None:
    table = await bench(step_delay_seconds=2.0)
    planned = await table.make_plan(draft("order", "nudge"))
    before = table.clock.now()
    await table.act(planned)
    assert table.clock.now() - before == 2.0


async def test_an_act_takes_no_longer_than_it_may() -> None:
    """Not even if the act hangs and the look after it hangs as well."""

    class Stuck(Shop):
        stuck = False

        async def observe(self) -> Any:
            if self.stuck:
                await hang()
            return await super().observe()

    table = await bench(world=Stuck())
    planned = await table.make_plan(ORDER_PENS)
    assert isinstance(table.world, Stuck)
    table.world.stuck = True
    table.world.on_call = lambda name: hang()
    table.with_limits(act_timeout_seconds=0.05, look_timeout_seconds=0.05)
    acted = await asyncio.wait_for(table.act(planned, timeout=0.1), 2.0)
    assert (acted.status, acted.seen) == ("unknown", None)


async def test_a_long_detail_is_cut() -> None:
    table = await bench()
    shop(table).on_call = lambda name: Outcome(status="failed", reason="rejected", detail="x" * 100_000)
    acted = await table.act(await table.make_plan(draft("order", "nudge")))
    assert len(acted.detail) <= 1000


async def test_a_call_says_which_arguments_a_person_has_named() -> None:
    heard: list[Call] = []

    class Listening(Shop):
        async def act(self, call: Call) -> Outcome:
            heard.append(call)
            return await super().act(call)

    file, given = Reference(source="file", name="my_bill.pdf"), Reference(source="input", name="scan")
    texts: tuple[Argument, ...] = (file, "/home/ada/my bill.pdf", given, "/etc/passwd")
    task = Task(goal="send them", files=("/home/ada/my bill.pdf",), inputs={"scan": "scan.png"})
    plan = steps(*(draft("name", "fill", f"Send {number}", text=text) for number, text in enumerate(texts)))
    await Bench(world=Listening(), planner=Scripted(plan, PlanDraft(verdict="gave_up")), task=task).run()
    assert [(dict(call.arguments)["text"], call.named_files) for call in heard] == [
        ("/home/ada/my bill.pdf", ("text",)),
        ("/home/ada/my bill.pdf", ("text",)),
        ("scan.png", ("text",)),
        ("/etc/passwd", ()),
    ]
