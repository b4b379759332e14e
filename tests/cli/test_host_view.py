"""The sessions of a host as text, at the sizes that people have."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from midcourse.cli.commands.fleet.host import HostView
from midcourse.terminal.output import ASCII, UNICODE, Marks
from midcourse.worlds.host.lifecycle import Host
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.sessions import Sessions
from midcourse.worlds.host.wire import Listed


class FakeSessions(Sessions):
    """So many, opened one second after the other; the first is closing, the second is being asked."""

    def __init__(self, count: int) -> None:
        super().__init__(WorldRegistry([]), idle=60.0)
        self.opened = count + 5
        self._count = count

    def __len__(self) -> int:
        return self._count

    def list(self) -> tuple[Listed, ...]:
        return tuple(
            Listed(
                session=f"s{number}",
                world="midcourse.worlds.simulated.shop:Shop" if number % 2 else "your_package.module:Mail",
                key=f"run-{number} with a rather long name that somebody gave it",
                open_seconds=7200.0 + number,
                asked_seconds_ago=0.0 if number == 1 else 61.0 + number,
                epoch=number + 1,
                acts=100 * number,
                closing=number == 0,
            )
            for number in range(self._count)
        )


async def draw(count: int, width: int, height: int, marks: Marks = UNICODE) -> list[str]:
    host = Host(url="http://127.0.0.1:41000", sessions=FakeSessions(count), grace=10.0)
    console = Console(record=True, width=width, height=height, file=io.StringIO())
    view = HostView(host, ["shop", "your_package.module:Mail"], Path(".midcourse/host.json"), marks)
    console.print(view.render(width=width, height=height, now=0.0, hint="Ctrl-C closes every world and stops"))
    return console.export_text().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 23), (120, 40), (200, 60), (60, 12), (40, 8), (80, 6)])
@pytest.mark.parametrize("marks", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("count", [0, 1, 1000])
async def test_it_never_outgrows_the_terminal(width: int, height: int, marks: Marks, count: int) -> None:
    lines = await draw(count, width, height, marks)
    assert len(lines) <= height
    assert max(len(line) for line in lines) <= width
    assert marks is UNICODE or "\n".join(lines).isascii()


async def test_what_was_asked_last_is_on_top_and_the_rest_is_counted() -> None:
    lines = await draw(30, 100, 16)
    assert "http://127.0.0.1:41000" in lines[1]
    assert "30 sessions now, 35 since it began" in lines[1]
    assert lines[5].split()[1:3] == ["shop", "run-1"]
    assert lines[5].split()[-5:-1] == ["2:00:01", "now", "2", "100"]
    assert lines[6].split()[1] == "your_package.module…"
    assert "closing" in lines[6]
    assert f"{30 - len(lines[5:-2])} more" in lines[-2]
