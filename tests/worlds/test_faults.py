"""Every fault in every simulated world that can have it. What happened is counted in the world's log."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.observation import Unseen
from midcourse.domain.outcome import Outcome
from midcourse.errors import SkillInvalid
from midcourse.ports.world import Finding, World
from midcourse.worlds.simulated import Arm, Desktop, Erp, Fault, Quest, Shop, Web, read_effects
from midcourse.worlds.simulated.faults import FaultKind
from tests.worlds.stages import STAGES, Simulated, Stage
from tests.worlds.support import FakeClock, Hand, ok
from tests.worlds.test_desktop import name_and_save, open_notepad
from tests.worlds.test_shop import fill_in
from tests.worlds.test_web import log_in


class Player:
    """A stage with one fault, played up to the act that has the effect."""

    def __init__(self, stage: Stage, tmp_path: Path, kind: FaultKind, *, stored: bool = False, **more: Any) -> None:
        nth = stage.stored_at if stored else stage.at
        fault = {"kind": kind, "skill": stage.skill, "nth": nth, **more}
        self.stage = stage
        self.clock = FakeClock()
        self.log = tmp_path / "effects.jsonl"
        self.world: World = stage.kind(effects=str(self.log), clock=self.clock, faults=[fault])
        self.hand = Hand(self.world)

    async def prepare(self) -> None:
        await self.stage.prepare(self.hand)

    async def act(self) -> Outcome:
        zone = await self.hand.zone(*self.stage.target) if self.stage.target else None
        return await self.hand.do(self.stage.skill, zone, **dict(self.stage.arguments))

    async def act_and_see_an_error(self) -> None:
        outcome = await self.act()
        robot = issubclass(self.stage.kind, Arm)
        assert (outcome.status, outcome.reason) == (("unknown", "connection_lost") if robot else ("ok", ""))
        assert await self.hand.title() == self.stage.kind.error.title

    async def probe(self) -> Finding:
        return await self.world.probe(*self.stage.probe)

    def effects(self) -> int:
        """Of the act that the stage is about."""
        done = (one for one in read_effects(self.log) if one.effect == self.stage.effect)
        return len([one for one in done if one.at <= self.clock.time])


@pytest.fixture(params=list(STAGES))
def stage(request: pytest.FixtureRequest) -> Stage:
    return STAGES[request.param]


async def test_without_a_fault_there_is_one_effect(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "transient", times=1)
    player.world = player.hand.world = stage.kind(effects=str(player.log), clock=player.clock)
    await player.prepare()
    assert (await player.hand.title(), player.effects(), await player.probe()) == (stage.before, 0, "absent")
    ok(await player.act())
    assert (await player.hand.title(), player.effects(), await player.probe()) == (stage.after, 1, "present")


async def test_a_popup_hides_its_target_and_nothing_is_done(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "popup")
    await player.prepare()
    outcome = await player.act()
    if stage.target:
        assert (outcome.status, outcome.reason) == ("no_effect", "target_not_visible")
    else:
        assert outcome.status == "no_effect"
    assert player.effects() == 0
    assert await player.hand.title() == stage.kind.popup.title
    assert len((await player.hand.see()).zones) == 2
    ok(await player.hand.on(stage.kind.popup.text, "click"))
    assert await player.hand.title() == stage.kind.popup.title
    ok(await player.hand.on(stage.kind.popup.button, "click"))
    assert await player.hand.title() == stage.before
    ok(await player.act())
    assert player.effects() == 1


async def test_a_popup_on_the_desktop_swallows_keys_until_enter_or_escape() -> None:
    hand = Hand(Desktop(faults=[Fault(kind="popup", skill="press")]))
    ok(await hand.do("press", key="Win"))
    assert await hand.title() == "Update available"
    assert (await hand.do("type_text", text="notepad")).status == "no_effect"
    ok(await hand.do("press", key="Escape"))
    assert await hand.title() == "Desktop"


async def test_a_popup_in_the_shop_stops_navigation_and_an_error_page_does_not() -> None:
    hand = Hand(Shop(faults=[{"kind": "popup", "skill": "go"}, {"kind": "error_not_stored"}]))
    assert (await hand.do("go", page="orders")).status == "no_effect"
    ok(await hand.on("Dismiss", "click"))
    await fill_in(hand)
    ok(await hand.on("Place order", "place_order"))
    assert await hand.title() == "504 Gateway Timeout"
    ok(await hand.do("go", page="orders"))
    assert await hand.title() == "Your orders"


ON_A_ZONE = [name for name, stage in STAGES.items() if stage.target]


@pytest.mark.parametrize("name", ON_A_ZONE)
async def test_a_zone_that_moves_is_not_hit_and_has_another_id(name: str, tmp_path: Path) -> None:
    player = Player(STAGES[name], tmp_path, "zone_moves")
    await player.prepare()
    label, role = player.stage.target or ("", "")
    before, fingerprint = await player.hand.zone(label, role), (await player.hand.see()).fingerprint
    outcome = await player.act()
    assert (outcome.status, outcome.reason) == ("no_effect", "target_not_visible")
    after = await player.hand.zone(label, role)
    assert (before.role, before.label, before.state) == (after.role, after.label, after.state)
    assert before.id != after.id
    assert before.bounds != after.bounds
    assert (await player.hand.see()).fingerprint == fingerprint
    assert player.effects() == 0
    ok(await player.act())
    assert player.effects() == 1


async def test_a_zone_can_move_twice_in_the_arm() -> None:
    hand = Hand(Arm(faults=[Fault(kind="zone_moves", times=2)]))
    ids = [(await hand.zone("red_cube")).id]
    ok(await hand.do("pick", object="blue_cube"))
    for _ in range(2):
        assert (await hand.on("red_cube", "click")).reason == "target_not_visible"
        ids.append((await hand.zone("red_cube")).id)
    assert len(set(ids)) == 3
    ok(await hand.on("red_cube", "click"))


async def test_a_slow_page_shows_a_progress_bar_until_it_is_loaded(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "slow_load", seconds=5.0)
    await player.prepare()
    ok(await player.act())
    seen = await player.hand.see()
    assert [zone.role for zone in seen.zones] == ["progressbar"]
    assert player.effects() == 1
    player.clock.time += 4.9
    assert await player.hand.title() == seen.surface.title
    player.clock.time += 0.1
    assert await player.hand.title() == stage.after


async def test_an_act_without_effect_reports_success(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "no_effect")
    await player.prepare()
    before = await player.hand.see()
    ok(await player.act())
    assert (await player.hand.see()).fingerprint == before.fingerprint
    assert player.effects() == 0
    ok(await player.act())
    assert player.effects() == 1


async def test_an_act_that_times_out_was_done(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "done_but_timeout", seconds=30.0)
    await player.prepare()
    before = player.clock.time
    outcome = await player.act()
    assert (outcome.status, outcome.reason) == ("unknown", "timeout")
    assert player.clock.time == before + 30.0
    assert player.effects() == 1
    assert await player.hand.title() == stage.after


async def test_a_transient_fault_passes_after_its_number_of_times(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "transient", times=2)
    await player.prepare()
    for _ in range(2):
        outcome = await player.act()
        assert (outcome.status, outcome.reason) == ("failed", "busy")
    assert player.effects() == 0
    ok(await player.act())
    assert player.effects() == 1


async def test_a_structural_fault_is_unreachable_without_effect(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "structural")
    await player.prepare()
    outcome = await player.act()
    assert (outcome.status, outcome.reason) == ("unreachable", "unreachable")
    assert player.effects() == 0


async def test_an_error_page_hides_a_stored_effect(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "stored_but_error", stored=True)
    await player.prepare()
    await player.act_and_see_an_error()
    assert any("please try again" in zone.label for zone in (await player.hand.see()).zones)
    assert (player.effects(), await player.probe()) == (1, "present")
    ok(await player.hand.on(stage.kind.error.button, "click"))
    assert await player.hand.title() == stage.before


async def test_ordering_again_after_a_false_error_page_orders_twice(tmp_path: Path) -> None:
    player = Player(STAGES["shop"], tmp_path, "stored_but_error", stored=True)
    await player.prepare()
    ok(await player.act())
    ok(await player.hand.on("Back", "click"))
    ok(await player.act())
    assert await player.hand.title() == "Thank you for your order"
    assert player.effects() == 2


async def test_an_error_page_without_an_effect_can_be_repeated(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "error_not_stored", stored=True)
    await player.prepare()
    await player.act_and_see_an_error()
    assert (player.effects(), await player.probe()) == (0, "absent")
    ok(await player.hand.on(stage.kind.error.button, "click"))
    ok(await player.act())
    assert (player.effects(), await player.probe()) == (1, "present")


async def test_a_success_page_is_shown_without_an_effect(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "success_not_stored", stored=True)
    await player.prepare()
    before = await player.hand.see()
    ok(await player.act())
    assert await player.hand.title() == stage.after
    assert (await player.hand.see()).fingerprint != before.fingerprint
    assert (player.effects(), await player.probe()) == (0, "absent")


async def test_a_late_effect_is_stored_when_its_time_has_come(stage: Stage, tmp_path: Path) -> None:
    player = Player(stage, tmp_path, "stored_late", stored=True, seconds=8.0)
    await player.prepare()
    await player.act_and_see_an_error()
    assert (player.effects(), await player.probe()) == (0, "absent")
    player.clock.time += 7.9
    assert (player.effects(), await player.probe()) == (0, "absent")
    player.clock.time += 0.1
    assert (player.effects(), await player.probe()) == (1, "present")


async def test_a_late_effect_comes_although_the_session_has_ended(tmp_path: Path) -> None:
    player = Player(STAGES["shop"], tmp_path, "stored_late", stored=True, seconds=8.0)
    await player.prepare()
    ok(await player.act())
    again = Shop(effects=str(player.log), clock=player.clock)
    assert await again.probe("order_placed", (("reference", "R-1"),)) == "absent"
    player.clock.time += 8.0
    assert await again.probe("order_placed", (("reference", "R-1"),)) == "present"


async def test_looks_fail_or_are_empty_as_often_as_set(stage: Stage) -> None:
    faults = [Fault(kind="look_fails", nth=2, detail="no frame"), Fault(kind="look_empty", nth=3, times=2)]
    hand = Hand(stage.kind(faults=faults))
    whole = await hand.see()
    assert await hand.world.observe() == Unseen(reason="failed", detail="no frame")
    for _ in range(2):
        assert (await hand.see()).zones == ()
    assert await hand.see() == whole


async def test_looking_before_an_act_uses_up_no_fault_of_looking() -> None:
    hand = Hand(Shop(faults=[Fault(kind="look_fails", nth=2)]))
    ok(await hand.on("Stapler", "set_quantity", quantity=1))
    assert isinstance(await hand.world.observe(), Unseen)


async def test_faults_of_storing_count_only_acts_that_would_store(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Desktop(effects=str(log), faults=[{"kind": "success_not_stored"}]))
    await open_notepad(hand)
    ok(await hand.do("press", key="Ctrl+S"))
    await name_and_save(hand, "a.txt")
    assert await hand.title() == "a.txt - Notepad"
    assert read_effects(log) == ()
    ok(await hand.do("press", key="Ctrl+S"))
    assert len(read_effects(log)) == 1


async def test_a_detail_is_what_the_screen_or_the_outcome_says() -> None:
    hand = Hand(Arm(faults=[{"kind": "transient", "detail": "cooling down"}, {"kind": "popup", "detail": "Hello"}]))
    assert (await hand.do("pick", object="red_cube")).detail == "cooling down"
    assert (await hand.zone("Hello")).role == "text"


# --- what makes a plan stale


@pytest.mark.parametrize("name", ON_A_ZONE)
async def test_a_renamed_zone_is_not_hit_under_its_old_name(name: str, tmp_path: Path) -> None:
    player = Player(STAGES[name], tmp_path, "renamed", detail="Do it now")
    await player.prepare()
    label, role = player.stage.target or ("", "")
    before, fingerprint = await player.hand.zone(label, role), (await player.hand.see()).fingerprint
    outcome = await player.act()
    assert (outcome.status, outcome.reason) == ("no_effect", "target_not_visible")
    assert player.effects() == 0
    assert label not in [zone.label for zone in (await player.hand.see()).zones if zone.role == role]
    after = await player.hand.zone("Do it now", role)
    assert after.id != before.id
    assert (await player.hand.see()).fingerprint != fingerprint
    ok(await player.hand.do(player.stage.skill, after, **dict(player.stage.arguments)))
    assert player.effects() == 1


async def test_renamed_zone_without_a_given_name_stays_renamed() -> None:
    hand = Hand(Shop(faults=[Fault(kind="renamed", times=2)]))
    assert (await hand.on("Stapler", "set_quantity", quantity=1)).reason == "target_not_visible"
    assert (await hand.on("Stapler (new)", "set_quantity", quantity=1)).reason == "target_not_visible"
    ok(await hand.on("Stapler (new) (new)", "set_quantity", quantity=1))
    assert (await hand.zone("Stapler (new) (new)")).get("quantity") == 1


async def test_a_popup_may_be_dismissed_in_every_world(stage: Stage, tmp_path: Path) -> None:
    """It disappears just before the click that would close it."""
    player = Player(stage, tmp_path, "popup")
    popup, dismissed = Fault(kind="popup"), Fault(kind="dismissed", skill="click")
    player.world = player.hand.world = stage.kind(effects=str(player.log), faults=[popup, dismissed])
    first = (await player.hand.see()).fingerprint
    await player.hand.do("click", (await player.hand.see()).zones[0])
    assert await player.hand.title() == stage.kind.popup.title
    outcome = await player.hand.on(stage.kind.popup.button, "click")
    assert (outcome.status, outcome.reason) == ("no_effect", "target_not_visible")
    assert (await player.hand.see()).fingerprint == first


@pytest.mark.parametrize(
    ("name", "falls_back_to"), [("desktop", "Notepad"), ("erp", "Invoices"), ("quest", "Old mill")]
)
async def test_what_is_open_closes_by_itself(name: str, falls_back_to: str, tmp_path: Path) -> None:
    """Only acts while something is open are counted."""
    player = Player(STAGES[name], tmp_path, "dismissed")
    fault = Fault(kind="dismissed", skill=player.stage.skill, nth=3 if name == "desktop" else 1)
    player.world = player.hand.world = player.stage.kind(effects=str(player.log), faults=[fault])
    await player.prepare()
    assert await player.hand.title() == player.stage.before
    outcome = await player.act()
    assert (outcome.status, outcome.reason) == ("no_effect", "target_not_visible")
    assert await player.hand.title() == falls_back_to
    assert player.effects() == 0


async def test_a_start_menu_that_closes_by_itself_takes_the_keys_with_it() -> None:
    hand = Hand(Desktop(faults=[Fault(kind="dismissed", skill="type_text")]))
    assert (await hand.do("type_text", text="lost")).status == "no_effect"
    ok(await hand.do("press", key="Win"))
    assert (await hand.do("type_text", text="notepad")).status == "no_effect"
    assert await hand.title() == "Desktop"


@pytest.mark.parametrize(("name", "login"), [("web", "Log in"), ("erp", "ERP login")])
async def test_an_expired_session_leads_to_the_log_in(name: str, login: str, tmp_path: Path) -> None:
    player = Player(STAGES[name], tmp_path, "expired")
    await player.prepare()
    outcome = await player.act()
    assert (outcome.status, outcome.reason) == ("no_effect", "target_not_visible")
    assert await player.hand.title() == login
    assert player.effects() == 0
    await player.prepare()
    ok(await player.act())
    assert player.effects() == 1


async def test_session_expires_only_for_acts_after_the_log_in() -> None:
    hand = Hand(Web(faults=[Fault(kind="expired")]))
    await log_in(hand)
    assert await hand.title() == "Dashboard"
    assert (await hand.on("Reports", "click")).reason == "target_not_visible"
    assert await hand.title() == "Log in"


async def test_every_other_look_finds_another_screen(stage: Stage) -> None:
    """Every other look finds another screen, and between two looks nothing changes by itself."""
    hand = Hand(stage.kind(faults=[Fault(kind="flip", nth=2, times=4)]))
    looks = [await hand.see() for _ in range(7)]
    home, away = looks[0], looks[1]
    assert away.surface.title == "Reconnecting"
    assert [zone.role for zone in away.zones] == ["progressbar"]
    assert [look.fingerprint for look in looks] == [
        (away if index in (1, 3) else home).fingerprint for index in range(7)
    ]


async def test_zone_that_flipped_away_cannot_be_acted_on() -> None:
    hand = Hand(Shop(faults=[Fault(kind="flip", nth=2)]))
    stapler = await hand.zone("Stapler")
    assert await hand.title() == "Reconnecting"
    assert (await hand.do("set_quantity", stapler, quantity=1)).reason == "target_not_visible"
    assert (await hand.do("go", page="basket")).status == "no_effect"
    assert await hand.title() == "Catalogue"
    ok(await hand.do("set_quantity", stapler, quantity=1))


async def test_waiting_lets_a_page_load() -> None:
    clock = FakeClock()
    hand = Hand(Shop(clock=clock, faults=[Fault(kind="slow_load", skill="go", seconds=5.0)]))
    ok(await hand.do("go", page="basket"))
    ok(await hand.do("wait", seconds=4.0))
    assert await hand.title() == "Loading"
    ok(await hand.do("wait", seconds=1.0))
    assert (await hand.title(), clock.time) == ("Basket", 1005.0)
    assert (await hand.do("wait", seconds=-1.0)).reason == "bad_arguments"


async def test_waiting_closes_nothing() -> None:
    hand = Hand(Shop(clock=FakeClock(), faults=[Fault(kind="popup"), Fault(kind="error_not_stored")]))
    ok(await hand.do("wait", seconds=1.0))
    ok(await hand.do("wait", seconds=1.0))
    assert await hand.title() == "Newsletter"


# --- what makes no sense


@pytest.mark.parametrize(
    ("kind", "fault", "says"),
    [
        (Shop, {"kind": "stored_but_error", "skill": "go"}, "go leaves no effect in shop"),
        (Desktop, {"kind": "stored_late", "skill": "type_text", "seconds": 1}, "type_text leaves no effect"),
        (Arm, {"kind": "zone_moves", "skill": "pick"}, "pick acts on no zone"),
        (Arm, {"kind": "transient", "skill": "dance"}, "arm has no skill called 'dance'"),
        (Shop, {"kind": "look_fails", "skill": "go"}, "it happens while the world is observed, not in 'go'"),
        (Shop, {"kind": "slow_load"}, "it needs seconds"),
        (Shop, {"kind": "flip", "skill": "go"}, "it happens while the world is observed, not in 'go'"),
        (Quest, {"kind": "renamed", "skill": "wait"}, "wait acts on no zone"),
        (Shop, {"kind": "expired"}, "nothing in shop can have it"),
        (Quest, {"kind": "expired"}, "nothing in quest can have it"),
        (Arm, {"kind": "misnamed"}, "nothing in arm can have it"),
        (Web, {"kind": "unseen"}, "nothing in web can have it"),
        (Erp, {"kind": "object_moved"}, "nothing in erp can have it"),
        (Shop, {"kind": "popup", "nth": 0}, "count from 1"),
        (Shop, {"kind": "earthquake"}, "kind"),
        (Shop, {"kind": "popup", "nht": 2}, "a fault has no 'nht'"),
        (Shop, {"kind": "popup", "nth": "two"}, "nth"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(kind: Simulated, fault: Mapping[str, object], says: str) -> None:
    with pytest.raises(SkillInvalid, match=says):
        kind(faults=[fault])


async def test_act_may_take_time() -> None:
    clock = FakeClock()
    hand = Hand(Shop(act_seconds=2.0, clock=clock))
    ok(await hand.do("go", page="basket"))
    assert clock.time == 1002.0
