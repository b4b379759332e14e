"""Attack: another account of the machine reads what runs saw, or takes over the session of their world."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from midcourse.home.folder import open_home
from tests.forked import run_forked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")


def open_to_others(home: Path) -> list[str]:
    """Every path of a home, itself included, whose mode gives group or others anything."""
    paths = (path for path in (home, *home.rglob("*")) if not path.is_symlink())
    return [f"{path} {stat.S_IMODE(path.stat().st_mode):o}" for path in paths if path.stat().st_mode & 0o077]


def midcourse(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A command of ours, under the umask that most systems have."""
    environment = {**os.environ, "MIDCOURSE_HOME": str(home)}
    return run_forked("midcourse", *arguments, cwd=Path.cwd(), environment=environment, umask=0o022)


@pytest.mark.slow
def test_whatever_commands_leave_in_a_home_is_for_its_owner_only(tmp_path: Path):
    home = tmp_path / "homes" / "mine"
    rows = tmp_path / "rows.csv"
    rows.write_text("Reference\nA-1\n")
    done = midcourse("run", "order", "--run-id", "r1", "--set", "approvals=never", "--set", "reuse=true", home=home)
    assert done.returncode == 0, done.stderr
    midcourse("run", "order", "--inputs", str(rows), "--batch", "b1", home=home)
    assert (home / "runs" / "r1" / "effects.jsonl").exists()
    assert (home / "segments.db").exists()
    assert open_to_others(home) == []


def test_home_of_an_earlier_version_is_made_private_when_it_is_opened(tmp_path: Path):
    home = tmp_path / "home"
    for folder in (home / "runs" / "r1" / "world", home / "batches" / "b1", home / "up" / "temporal"):
        folder.mkdir(parents=True)
    for file in ("midcourse.db", "midcourse.db-wal", "lessons.db", "runs/r1/job.json", "up/temporal/temporal.db"):
        (home / file).write_text("")
        (home / file).chmod(0o644)
    for path in (home, *home.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    assert len(open_to_others(home)) == 13
    open_home(home)
    assert open_to_others(home) == []


def test_modes_of_files_that_are_not_ours_stay_in_a_shared_folder(tmp_path: Path):
    """`home = "."` is a whole project, perhaps: the folder is closed to others, the modes of its files are not ours."""
    (tmp_path / "tool.sh").write_text("")
    (tmp_path / "tool.sh").chmod(0o755)
    (tmp_path / "midcourse.db").touch(0o644)
    (tmp_path / "elsewhere").symlink_to("/")
    root = Path("/").stat().st_mode
    tmp_path.chmod(0o755)
    open_home(tmp_path)
    assert stat.S_IMODE((tmp_path / "tool.sh").stat().st_mode) == 0o755
    assert open_to_others(tmp_path) == [f"{tmp_path / 'tool.sh'} 755"]
    assert Path("/").stat().st_mode == root


def test_folder_that_all_accounts_share_stays_shared(tmp_path: Path):
    tmp_path.chmod(0o1777)
    (tmp_path / "midcourse.db").touch(0o644)
    open_home(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    assert stat.S_IMODE((tmp_path / "midcourse.db").stat().st_mode) == 0o600


def test_opening_makes_no_home_where_there_is_none(tmp_path: Path):
    open_home(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("runs",), ("lessons",), ("kept",), ("show", "r1")])
def test_every_command_that_opens_a_home_makes_it_private(command: tuple[str, ...], tmp_path: Path):
    home = tmp_path / "home"
    assert midcourse("run", "notepad", "--run-id", "r1", home=home).returncode == 0
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    midcourse(*command, home=home)
    assert open_to_others(home) == []
