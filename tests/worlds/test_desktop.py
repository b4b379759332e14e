"""The desktop, worked by hand: open Notepad, write, save."""

from pathlib import Path

from midcourse.worlds.simulated import Desktop, read_effects
from tests.worlds.support import Hand, ok


async def open_notepad(hand: Hand) -> None:
    ok(await hand.do("press", key="Win"))
    ok(await hand.do("type_text", text="notepad"))
    ok(await hand.do("press", key="Enter"))


async def write(hand: Hand, text: str) -> None:
    ok(await hand.on("Text editor", "click"))
    ok(await hand.do("type_text", text=text))


async def name_and_save(hand: Hand, name: str) -> None:
    ok(await hand.do("click", await hand.zone("Documents", "folder")))
    ok(await hand.on("File name", "click"))
    ok(await hand.do("press", key="Ctrl+A"))
    ok(await hand.do("type_text", text=name))
    ok(await hand.do("click", await hand.zone("Save", "button")))


async def test_three_segments_lead_from_the_desktop_to_a_saved_file(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Desktop(effects=str(log)))
    assert await hand.title() == "Desktop"

    await open_notepad(hand)
    assert await hand.title() == "Notepad"
    assert len((await hand.see()).zones) == 50

    await write(hand, "Adaptive replanning works")
    ok(await hand.do("press", key="Ctrl+S"))
    assert await hand.title() == "Save As"
    assert len((await hand.see()).zones) == 35
    assert read_effects(log) == ()

    await name_and_save(hand, "notes.txt")
    assert await hand.title() == "notes.txt - Notepad"
    assert [(e.effect, dict(e.values)) for e in read_effects(log)] == [
        ("file_saved", {"folder": "Documents", "name": "notes.txt", "text": "Adaptive replanning works"})
    ]


async def test_every_screen_has_zones_of_its_own_with_unique_ids_and_bounds() -> None:
    hand = Hand(Desktop())
    counts: dict[str, int] = {}
    for key in ("", "Win"):
        ok(await hand.do("press", key=key))
        counts[await hand.title()] = len((await hand.see()).zones)
    await hand.do("press", key="Escape")
    await open_notepad(hand)
    counts[await hand.title()] = len((await hand.see()).zones)
    await hand.do("press", key="Ctrl+S")
    seen = await hand.see()
    counts[seen.surface.title] = len(seen.zones)
    assert counts == {"Desktop": 22, "Start": 27, "Notepad": 50, "Save As": 35}
    assert len({zone.id for zone in seen.zones}) == 35
    assert len({zone.bounds for zone in seen.zones}) == 35


async def test_typing_with_nothing_focused_changes_nothing() -> None:
    hand = Hand(Desktop())
    before = await hand.see()
    outcome = await hand.do("type_text", text="into the void")
    assert outcome.status == "no_effect"
    assert (await hand.see()).fingerprint == before.fingerprint


async def test_select_all_makes_typing_replace_and_a_click_undoes_the_selection() -> None:
    hand = Hand(Desktop())
    await open_notepad(hand)
    await write(hand, "one")
    await hand.do("type_text", text=" two")
    assert (await hand.zone("Text editor")).get("text") == "one two"
    await hand.do("press", key="Ctrl+A")
    await hand.do("type_text", text="three")
    await hand.do("press", key="Enter")
    assert (await hand.zone("Text editor")).get("text") == "three\n"
    await hand.do("press", key="Ctrl+A")
    await hand.on("Text editor", "click")
    await hand.do("type_text", text="four")
    assert (await hand.zone("Text editor")).get("text") == "three\nfour"


async def test_the_probe_knows_a_file_by_name_and_by_text(tmp_path: Path) -> None:
    log = str(tmp_path / "effects.jsonl")
    hand = Hand(Desktop(effects=log))
    assert await hand.world.probe("file_saved", (("name", "a.txt"),)) == "absent"
    await open_notepad(hand)
    await write(hand, "text")
    await hand.do("press", key="Ctrl+S")
    await name_and_save(hand, "a.txt")
    reopened = Desktop(effects=log)
    for world in (hand.world, reopened):
        assert await world.probe("file_saved", (("name", "a.txt"),)) == "present"
        assert await world.probe("file_saved", (("name", "a.txt"), ("text", "text"))) == "present"
        assert await world.probe("file_saved", (("name", "a.txt"), ("text", "other"))) == "absent"


async def test_a_named_file_is_saved_without_asking_and_listed_in_its_folder() -> None:
    hand = Hand(Desktop())
    await open_notepad(hand)
    await write(hand, "1")
    await hand.do("press", key="Ctrl+S")
    await name_and_save(hand, "b.txt")
    await hand.on("Text editor", "click")
    await hand.do("type_text", text="2")
    await hand.do("press", key="Ctrl+S")
    assert await hand.title() == "b.txt - Notepad"
    assert await hand.world.probe("file_saved", (("name", "b.txt"), ("text", "12"))) == "present"
    await hand.on("Close", "click")
    await open_notepad(hand)
    await hand.do("press", key="Ctrl+S")
    await hand.do("click", await hand.zone("Documents", "folder"))
    seen = await hand.see()
    assert "b.txt" in [zone.label for zone in seen.zones if zone.role == "file"]
    assert len(seen.zones) == 35


async def test_a_name_that_no_file_can_have_leaves_the_dialog_open() -> None:
    hand = Hand(Desktop())
    await open_notepad(hand)
    await hand.do("press", key="Ctrl+S")
    await hand.do("press", key="Enter")
    assert await hand.title() == "Save As"
    await hand.do("press", key="Escape")
    assert await hand.title() == "Notepad"


async def test_windows_can_be_switched_and_the_start_menu_closed() -> None:
    hand = Hand(Desktop())
    await hand.do("press", key="Alt+Tab")
    assert await hand.title() == "Desktop"
    await open_notepad(hand)
    await hand.do("press", key="Alt+Tab")
    assert await hand.title() == "Desktop"
    await hand.do("click", await hand.zone("Notepad", "taskbar_button"))
    assert await hand.title() == "Notepad"
    await hand.do("press", key="Win")
    assert await hand.title() == "Start"
    await hand.do("press", key="Win")
    assert await hand.title() == "Notepad"
    await hand.on("Minimise", "click")
    await hand.do("click", await hand.zone("Start", "taskbar_button"))
    await hand.do("type_text", text="xyz")
    await hand.do("press", key="Enter")
    assert await hand.title() == "Start"
    await hand.do("press", key="Escape")
    await hand.do("press", key="Win")
    await hand.do("click", await hand.zone("Notepad", "menu_item"))
    assert await hand.title() == "Notepad"


async def test_opening_again_is_a_new_session() -> None:
    world = Desktop()
    await open_notepad(Hand(world))
    await world.open()
    assert await Hand(world).title() == "Desktop"
