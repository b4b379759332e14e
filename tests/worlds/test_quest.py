"""The quest, played by hand."""

from pathlib import Path

from midcourse.domain.approval import CommitSet
from midcourse.worlds.simulated import Fault, Quest, read_effects
from tests.worlds.support import Hand, ok


async def accept(hand: Hand) -> None:
    ok(await hand.on("Elder Mara", "walk"))
    ok(await hand.on("Accept quest", "accept_quest"))


async def reach_the_end(hand: Hand) -> None:
    """To the point where one press turns the quest in."""
    await accept(hand)
    ok(await hand.on("Old mill", "walk"))
    ok(await hand.on("Lantern", "interact"))


async def test_a_quest_is_accepted_carried_out_turned_in_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Quest(effects=str(log), reward=70))
    assert await hand.title() == "Village"
    assert (await hand.zone("Quest log")).get("status") == "none"
    ok(await hand.on("Elder Mara", "walk"))
    assert [zone.label for zone in (await hand.see()).zones if zone.role == "option"] == [
        "Accept quest",
        "Where did you lose it?",
        "Goodbye",
    ]
    ok(await hand.on("Accept quest", "accept_quest"))
    assert (await hand.zone("Quest log")).get("status") == "active"
    assert await hand.world.probe("quest_accepted", ()) == "present"

    ok(await hand.on("Old mill", "walk"))
    assert (await hand.zone("Old mill")).get("here") is True
    ok(await hand.on("Lantern", "interact"))
    assert await hand.title() == "Quest complete"
    assert await hand.world.probe("quest_completed", ()) == "absent"
    ok(await hand.on("Turn in", "turn_in"))
    assert (await hand.zone("Quest log")).get("status") == "completed"
    assert await hand.world.probe("quest_completed", ()) == "present"
    assert [(one.effect, one.get("reward")) for one in read_effects(log)] == [
        ("quest_accepted", None),
        ("quest_completed", 70),
    ]


async def test_the_map_changes_when_the_quest_is_accepted() -> None:
    hand = Hand(Quest())
    before = {zone.label for zone in (await hand.see()).zones}
    await accept(hand)
    assert {zone.label for zone in (await hand.see()).zones} - before == {"Old mill", "Lantern"}


async def test_the_server_rewards_as_often_as_it_is_asked() -> None:
    world = Quest(faults=[Fault(kind="stored_but_error", skill="turn_in")])
    hand = Hand(world)
    await reach_the_end(hand)
    ok(await hand.on("Turn in", "turn_in"))
    ok(await hand.on("OK", "click"))
    ok(await hand.on("Turn in", "turn_in"))
    assert len(world.happened("quest_completed")) == 2


async def test_a_quest_that_the_server_does_not_know_is_turned_down() -> None:
    """The program was told that the quest is accepted, and it is not."""
    world = Quest(faults=[Fault(kind="success_not_stored", skill="accept_quest")])
    hand = Hand(world)
    await reach_the_end(hand)
    ok(await hand.on("Turn in", "turn_in"))
    assert (await hand.zone("Not turned in: the server knows of no such quest.")).role == "alert"
    assert world.happened() == ()


async def test_another_session_finds_the_quest_as_the_server_knows_it(tmp_path: Path) -> None:
    log = str(tmp_path / "effects.jsonl")
    await accept(Hand(Quest(effects=log)))
    hand = Hand(Quest(effects=log))
    assert (await hand.zone("Quest log")).get("status") == "active"


async def test_the_lantern_is_out_of_reach_from_afar() -> None:
    hand = Hand(Quest())
    await accept(hand)
    assert (await hand.on("Lantern", "interact")).reason == "too_far"


async def test_dialogs_close_by_hand_or_by_themselves() -> None:
    hand = Hand(Quest(faults=[Fault(kind="dismissed", nth=2), Fault(kind="dismissed", skill="turn_in")]))
    ok(await hand.on("Elder Mara", "walk"))
    ok(await hand.on("Where did you lose it?", "click"))
    assert (await hand.on("Accept quest", "accept_quest")).reason == "target_not_visible"
    assert await hand.title() == "Village"
    await reach_the_end(hand)
    assert (await hand.on("Turn in", "turn_in")).reason == "target_not_visible"
    assert await hand.title() == "Old mill"
    ok(await hand.on("Lantern", "interact"))
    ok(await hand.on("Close", "click"))
    assert await hand.title() == "Old mill"
    ok(await hand.on("Elder Mara", "walk"))
    ok(await hand.on("Goodbye", "click"))
    assert await hand.title() == "Village"


async def test_commit_set_is_the_request_to_the_server() -> None:
    hand = Hand(Quest())
    ok(await hand.on("Elder Mara", "walk"))
    commit = await hand.world.commit_set(hand.call("accept_quest", await hand.zone("Accept quest")))
    assert commit == CommitSet(
        values=(("quest", "The lost lantern"), ("reward", 50)), address="game://quests/option_accept"
    )
    assert await hand.world.commit_set(hand.call("accept_quest", await hand.zone("Goodbye"))) is None


async def test_skills_on_the_wrong_zone_say_so() -> None:
    hand = Hand(Quest())
    for skill in ("walk", "interact", "accept_quest", "turn_in"):
        assert (await hand.on("Quest log", skill)).reason == "wrong_target"
    await reach_the_end(hand)
    assert (await hand.on("Turn in", "click")).reason == "wrong_skill"
