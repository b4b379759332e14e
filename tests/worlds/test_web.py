"""The web application, worked by hand."""

from pathlib import Path

from midcourse.domain.approval import CommitSet
from midcourse.worlds.simulated import Fault, Web, read_effects
from tests.worlds.support import Hand, ok


async def log_in(hand: Hand, password: str = "lovelace") -> None:
    """From the desktop to the dashboard, if the password is right."""
    if await hand.title() == "Desktop":
        ok(await hand.on("Browser", "click"))
        ok(await hand.do("go", address="https://reports.example"))
    for label, text in (("Username", "ada"), ("Password", password)):
        ok(await hand.on(label, "click"))
        ok(await hand.do("type_text", text=text))
    ok(await hand.on("Log in", "click"))


async def choose_period(hand: Hand, period: str = "2026-Q1") -> None:
    """To the point where one press generates the report."""
    ok(await hand.on("Reports", "click"))
    ok(await hand.on("Period", "click"))
    ok(await hand.do("type_text", text=period))


async def test_a_report_is_made_shown_listed_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Web(effects=str(log)))
    await log_in(hand)
    assert await hand.title() == "Dashboard"
    await choose_period(hand)
    assert await hand.world.probe("report_ready", (("period", "2026-Q1"),)) == "absent"
    ok(await hand.on("Generate", "generate"))

    assert await hand.title() == "Report 2026-Q1"
    assert await hand.world.probe("report_ready", (("period", "2026-Q1"),)) == "present"
    (report,) = read_effects(log)
    assert (report.effect, report.get("period"), report.get("format")) == ("report", "2026-Q1", "PDF")
    read = await hand.on("Total", "read_report")
    assert read.data == (("total", report.get("total")), ("report_number", report.get("number")))
    ok(await hand.on("Dashboard", "click"))
    ok(await hand.on("Report 2026-Q1", "click"))
    assert (await hand.on("Total", "read_report")).data == read.data


async def test_wrong_credentials_are_reported_and_only_the_name_stays() -> None:
    hand = Hand(Web())
    await log_in(hand, password="turing")
    assert await hand.title() == "Log in"
    assert (await hand.zone("Wrong user name or password.")).role == "alert"
    assert (await hand.zone("Username")).get("text") == "ada"
    assert (await hand.zone("Password")).get("filled") is False
    await log_in(hand)
    assert await hand.title() == "Dashboard"


async def test_a_password_is_never_on_the_screen() -> None:
    hand = Hand(Web(password="hopper"))
    await log_in(hand, password="hoppe")
    for label in ("Password",):
        ok(await hand.on(label, "click"))
        ok(await hand.do("type_text", text="hopper"))
    assert (await hand.zone("Password")).get("text") == "••••••"
    assert "hopper" not in repr(await hand.see())


async def test_commit_set_is_the_period_and_the_format() -> None:
    hand = Hand(Web())
    await log_in(hand)
    await choose_period(hand)
    ok(await hand.on("Format", "click"))
    ok(await hand.on("CSV", "click"))
    call = hand.call("generate", await hand.zone("Generate"))
    assert await hand.world.commit_set(call) == CommitSet(
        values=(("period", "2026-Q1"), ("format", "CSV")), address="https://reports.example/reports/new"
    )
    assert await hand.world.commit_set(hand.call("generate", await hand.zone("Period"))) is None


async def test_the_same_report_twice_is_billed_twice() -> None:
    world = Web()
    hand = Hand(world)
    await log_in(hand)
    for _ in range(2):
        await choose_period(hand)
        ok(await hand.on("Generate", "generate"))
        ok(await hand.on("Dashboard", "click"))
    first, second = world.happened("report")
    assert first.get("total") == second.get("total")
    assert first.get("number") != second.get("number")


async def test_a_request_that_makes_no_sense_is_turned_down_on_the_page() -> None:
    world = Web()
    hand = Hand(world)
    await log_in(hand)
    ok(await hand.on("Generate", "generate"))
    assert (await hand.zone("Not generated: choose the tab 'Reports' first.")).role == "alert"
    await choose_period(hand, "spring")
    ok(await hand.on("Generate", "generate"))
    assert (await hand.zone("Not generated: a period is written like 2026-Q1.")).role == "alert"
    ok(await hand.do("type_text", text="2026-Q4"))
    assert "alert" not in [zone.role for zone in (await hand.see()).zones]
    assert world.happened() == ()


async def test_pages_need_a_browser_and_a_login() -> None:
    hand = Hand(Web())
    assert (await hand.do("go", address="https://reports.example")).reason == "no_browser"
    ok(await hand.on("Browser", "click"))
    assert (await hand.do("type_text", text="x")).status == "no_effect"
    ok(await hand.do("go", address="https://elsewhere.example"))
    assert await hand.title() == "Page not found"
    ok(await hand.do("go", address="https://reports.example/reports"))
    assert await hand.title() == "Log in"
    await log_in(hand)
    ok(await hand.do("go", address="https://reports.example/reports"))
    assert (await hand.zone("Reports", "tab")).get("selected") is True
    ok(await hand.on("Log out", "click"))
    assert await hand.title() == "Log in"


async def test_expired_session_loses_the_unsent_form() -> None:
    world = Web(faults=[Fault(kind="expired", skill="generate")])
    hand = Hand(world)
    await log_in(hand)
    await choose_period(hand)
    assert (await hand.on("Generate", "generate")).reason == "target_not_visible"
    assert await hand.title() == "Log in"
    await log_in(hand)
    assert (await hand.zone("Period")).get("text") == ""
    assert world.happened() == ()


async def test_a_menu_that_closes_by_itself_takes_its_items_along() -> None:
    hand = Hand(Web(faults=[Fault(kind="dismissed")]))
    await log_in(hand)
    ok(await hand.on("Format", "click"))
    assert (await hand.on("CSV", "click")).reason == "target_not_visible"
    assert (await hand.zone("Format")).get("text") == "PDF"
    ok(await hand.on("Format", "click"))
    ok(await hand.on("CSV", "click"))
    assert (await hand.zone("Format")).get("text") == "CSV"


async def test_skills_on_the_wrong_zone_say_so() -> None:
    hand = Hand(Web())
    await log_in(hand)
    for skill in ("generate", "read_report"):
        assert (await hand.on("Period", skill)).reason == "wrong_target"
    assert (await hand.on("Generate", "click")).reason == "wrong_skill"
