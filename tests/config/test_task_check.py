"""A task that names what its world does not have is refused before anything runs."""

import sys
from pathlib import Path

import pytest

from midcourse.agent.agent import build_agent
from midcourse.agent.wiring import load_job
from midcourse.errors import MidcourseError, TaskInvalid

ORDER = Path(__file__).parents[2] / "examples" / "tasks" / "order.toml"


@pytest.mark.parametrize("process", ["true", "false"])
@pytest.mark.parametrize(
    ("right", "wrong", "meant"),
    [
        ('skill = "place_order"', 'skill = "place_ordr"', "step 'Place the order': no such skill: 'place_ordr'"),
        ('probe = { name = "order_placed"', 'probe = { name = "order_plced"', "did you mean 'order_placed'?"),
        ('probe = "order_placed"', 'probe = "order_plced"', "done_when: no such probe: 'order_plced'"),
    ],
)
def test_a_misspelt_skill_or_probe_is_refused_with_a_suggestion(
    right: str, wrong: str, meant: str, process: str, tmp_path: Path
):
    text = ORDER.read_text().replace("process = true", f"process = {process}")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert right in text
    (tmp_path / "task.toml").write_text(text.replace(right, wrong, 1))
    with pytest.raises(TaskInvalid) as refused:
        build_agent(load_job(str(tmp_path / "task.toml"), {}), tmp_path / "run", approver=None)
    assert meant in str(refused.value)


@pytest.mark.parametrize(
    "wrong", ["options = { act_secs = 0.5 }", '[[world.faults]]\nkind = "stored_but_eror"\nskill = "place_order"']
)
def test_an_option_or_fault_that_the_world_does_not_have_is_refused(wrong: str, tmp_path: Path):
    """Also for a world in its own process, where it would show only once that is started."""
    (tmp_path / "task.toml").write_text(ORDER.read_text().replace("process = true", f"process = true\n{wrong}"))
    with pytest.raises(MidcourseError):
        build_agent(load_job(str(tmp_path / "task.toml"), {}), tmp_path / "run", approver=None)
    assert not (tmp_path / "run").exists()


def test_a_module_beside_the_user_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_tickets.py").write_text("from midcourse.worlds.simulated import Desktop as Tickets\n")
    text = (ORDER.parent / "notepad.toml").read_text().replace('name = "notepad"', 'name = "my_tickets:Tickets"')
    (tmp_path / "task.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert build_agent(load_job("task.toml", {}), tmp_path / "run", approver=None).world.catalogue().skills
