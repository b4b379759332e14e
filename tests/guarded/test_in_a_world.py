"""A guarded function in a world: its key holds for its calls and for the runs of all agents."""

from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, guarded
from midcourse.cli.main import main
from midcourse.domain.result import Result
from midcourse.errors import KeyTaken
from midcourse.planners import SamePlan
from midcourse.testing import Approves
from midcourse.worlds import Functions


class Hotel:
    """Bookings in a list, which may fail before or after they are made."""

    def __init__(self, home: Path) -> None:
        self.booked: list[tuple[str, int]] = []
        self.raises: Exception | None = None
        self.fails_first = False
        self.settings = Settings(home=home, retry_delay_seconds=0.01)

        @guarded(
            key="{room}",
            name="book",
            happened=lambda room: room in dict(self.booked),
            approve="always",
            approver=Approves(),
            settings=self.settings,
        )
        def book(room: str, nights: int) -> str:
            if self.fails_first:
                self.fails_first = False
                raise ConnectionError("refused")
            self.booked.append((room, nights))
            if self.raises:
                raise self.raises
            return f"B-{len(self.booked)}"

        self.book = book

    def plan(self, room: str, nights: int) -> Result:
        plan = SamePlan([Draft(skill="book", arguments={"room": room, "nights": nights})])
        return Agent(Functions(self.book), plan, approver=Approves(), settings=self.settings).run_sync("Book a room")


@pytest.fixture
def hotel(tmp_path: Path) -> Hotel:
    return Hotel(tmp_path)


def test_a_call_and_the_runs_of_two_agents_book_once(hotel: Hotel) -> None:
    assert hotel.book("12", 3) == "B-1"
    first, second = hotel.plan("12", 3), hotel.plan("12", 3)
    assert (first.success, second.success, hotel.booked) == (True, True, [("12", 3)])
    assert dict(first.data)["book"] == dict(second.data)["book"] == "B-1"


def test_a_run_says_that_an_earlier_call_had_done_it(
    hotel: Hotel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MIDCOURSE_HOME", str(hotel.settings.home))
    first, second = hotel.plan("12", 3), hotel.plan("12", 3)
    assert (main(["effects", first.run]), capsys.readouterr().out) == (0, "sent   ✓ book — a successful answer\n")
    assert main(["effects", second.run]) == 0
    assert "✓ book — nothing was sent: run " in (printed := capsys.readouterr().out)
    assert "had done it under the same key" in printed


def test_a_call_is_not_said_to_lack_a_check_or_a_plan(
    hotel: Hotel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MIDCOURSE_HOME", str(hotel.settings.home))
    hotel.book("12", 3)
    assert (main(["show", "last"]), "done_when" in capsys.readouterr().out) == (0, False)
    hotel.fails_first = True
    with pytest.raises(ConnectionError):
        hotel.book("14", 1)
    assert main(["show", "last"]) == 0
    assert "it was not to be planned again" in (printed := capsys.readouterr().out)
    assert "--set" not in printed


def test_what_a_run_booked_is_returned_to_the_next_call(hotel: Hotel) -> None:
    assert hotel.plan("12", 3).success
    assert hotel.book("12", 3) == "B-1"
    with pytest.raises(KeyTaken):
        hotel.book("12", 4)
    assert hotel.booked == [("12", 3)]


def test_other_values_under_the_same_key_are_not_sent(hotel: Hotel) -> None:
    hotel.book("12", 3)
    result = hotel.plan("12", 4)
    assert (result.success, hotel.booked) == (False, [("12", 3)])
    assert "with other values of nights" in result.final_detail


def test_a_lost_answer_is_not_a_second_booking(hotel: Hotel) -> None:
    hotel.raises = TimeoutError("no answer")
    assert hotel.plan("12", 3).success
    assert hotel.plan("12", 3).success
    assert hotel.booked == [("12", 3)]


def test_a_call_without_an_effect_is_made_again(hotel: Hotel) -> None:
    hotel.fails_first = True
    assert hotel.plan("12", 3).success
    assert hotel.booked == [("12", 3)]


def test_a_doubt_that_ended_a_run_does_not_let_the_next_run_send_it_again(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, retry_delay_seconds=0.01)
    sent: list[str] = []

    @guarded(name="mail", key="{to}", settings=settings)
    def mail(to: str) -> None:
        sent.append(to)
        raise TimeoutError("no answer")

    plan = SamePlan([Draft(skill="mail", arguments={"to": "ada@example.com"})])
    agent = Agent(Functions(mail), plan, approver=Approves(doubt="stop"), settings=settings)
    results = [agent.run_sync("Write to Ada"), agent.run_sync("Write to Ada")]
    assert ([result.success for result in results], sent) == ([False, False], ["ada@example.com"])


@pytest.mark.parametrize("arrives", [True, False])
def test_without_happened_the_approver_of_the_run_decides(
    arrives: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(home=tmp_path, retry_delay_seconds=0.01)
    sent: list[str] = []
    tries: list[str] = []

    @guarded(name="mail", key="{to}", settings=settings)
    def mail(to: str) -> None:
        tries.append(to)
        if arrives or len(tries) > 1:
            sent.append(to)
        if len(tries) == 1:
            raise TimeoutError("no answer")

    plan = SamePlan([Draft(skill="mail", arguments={"to": "ada@example.com"})])
    approver = Approves(doubt="happened" if arrives else "did_not_happen")
    result = Agent(Functions(mail), plan, approver=approver, settings=settings).run_sync("Write to Ada")
    assert (result.success, sent, len(tries)) == (True, ["ada@example.com"], 1 if arrives else 2)
    assert [question.about for question in approver.questions].count("happened") == 1
    monkeypatch.setenv("MIDCOURSE_HOME", str(tmp_path))
    assert (main(["approve", "--json"]), capsys.readouterr().out) == (0, "[]\n")
