"""`midcourse policy learn` with a task: it runs as always, and what the policy file should say is on stdout."""

import tomllib
from pathlib import Path

import pytest

from midcourse.cli.main import main
from tests.pages import serve_pages

TASK = """
goal = "Look at the orders"

[world]
name = "browser"
options = {{ start = "{url}/" }}

[done_when]
surface_matches = "Orders"

[planner]
name = "same_plan"
final = true
steps = [{{ zone = "__global__", skill = "navigate", arguments = {{ url = "{url}/" }} }}]
"""


@pytest.mark.slow
def test_policy_learn_proposes_a_file_from_the_requests_of_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    with serve_pages() as pages:
        pages.show("/", "<img src=/logout><script src=http://127.0.0.1:8099/x.js></script>", title="Orders")
        (tmp_path / "look.toml").write_text(TASK.format(url=pages.url))
        code = main(["policy", "learn", "look.toml"])
    proposal = capsys.readouterr().out
    assert code == 0, proposal
    assert tomllib.loads(proposal) == {pages.url: {"unsafe": ["GET /logout"]}}
    assert '# ["http://127.0.0.1:8099"]' in proposal
