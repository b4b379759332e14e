"""The diagram in the docs is generated from the transition table."""

from docs.state_diagram import build_mermaid
from midcourse.director.decide import PHASES, TABLE


def test_every_phase_and_every_row_is_drawn() -> None:
    lines = build_mermaid().splitlines()
    assert lines[0] == "stateDiagram-v2"
    for phase in PHASES:
        assert any(f" {phase.__name__} " in f"{line} " for line in lines), phase.__name__
    for row in TABLE:
        start = f"    {row.phase.__name__} --> "
        assert any(line.startswith(start) and line.endswith(f": {row.event.__name__}") for line in lines)
        for target in row.to:
            assert f"{start}{target.__name__}: {row.event.__name__}" in lines


def test_the_diagram_has_a_beginning_and_an_end() -> None:
    assert "[*] --> New" in build_mermaid()
    assert "Ended --> [*]" in build_mermaid()


def test_a_row_that_only_rests_is_drawn_to_itself() -> None:
    assert "Paused --> Paused: Recorded" in build_mermaid()
    assert "Asking --> Asking: PersonAsked" in build_mermaid()
