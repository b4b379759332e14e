"""Attack: another account of the machine on which `midcourse up` runs reads, approves, or opens the web page.

The fleet that the tests share is root's, or whose tests they are. Root also tries one of an ordinary account.
"""

import json
import os
import pwd
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.up_file import read_up

pytestmark = pytest.mark.slow
ACCOUNT = "midcourse-test"


def open_to_others(home: Path) -> list[str]:
    paths = (path for path in (home, *home.rglob("*")) if not path.is_symlink() and path.exists())
    return [f"{path} {stat.S_IMODE(path.stat().st_mode):o}" for path in paths if path.stat().st_mode & 0o077]


def test_fleet_leaves_nothing_in_its_home_that_others_may_read(fleet_home: Path):
    assert (fleet_home / "up" / "temporal" / "temporal.db").exists()
    assert open_to_others(fleet_home) == []


def test_fleet_has_keys_a_password_and_no_web_page(fleet_home: Path):
    settings = FleetSettings.load(fleet_home)
    assert settings.keys_file is not None
    assert stat.S_IMODE(settings.keys_file.stat().st_mode) == 0o600
    parts = {part.name: part for part in read_up(fleet_home).parts}
    assert parts["Temporal"].ui == ""
    password = settings.database_url.get_secret_value().partition("@")[0].rpartition(":")[2]
    assert len(password) > 20
    assert password not in str([part.address for part in parts.values()]), "it is not printed"


# --- an ordinary account


@pytest.fixture
def account() -> pwd.struct_passwd:
    if os.geteuid() != 0:
        pytest.skip("only root can become another account; the fleet of these tests is an ordinary one's anyway")
    try:
        found = pwd.getpwnam(ACCOUNT)
    except KeyError:
        subprocess.run(["useradd", "--system", "--shell", "/usr/sbin/nologin", ACCOUNT], check=True)
        found = pwd.getpwnam(ACCOUNT)
    try:
        subprocess.run([sys.executable, "-c", "import midcourse"], user=found.pw_uid, group=found.pw_gid, check=True)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip(f"this Python is in a folder that {ACCOUNT} cannot enter")
    return found


@pytest.fixture
def place(account: pwd.struct_passwd) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="midcourse-") as name:
        os.chown(name, account.pw_uid, account.pw_gid)
        yield Path(name)


def test_up_of_an_ordinary_account_is_as_private_and_its_runs_work(account: pwd.struct_passwd, place: Path):
    home = place / ("long" * 30) / "home"  # too long for a socket

    def midcourse(*arguments: str) -> str:
        usual = {name: value for name, value in os.environ.items() if not name.startswith(("MIDCOURSE_", "XDG_"))}
        done = subprocess.run(
            [sys.executable, "-m", "midcourse", *arguments],
            env={**usual, "HOME": str(place), "MIDCOURSE_HOME": str(home)},
            cwd=place,
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            umask=0o022,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        parts = {part["name"]: part for part in json.loads(midcourse("up", "--detach", "--json"))["parts"]}
        assert json.loads(midcourse("run", "order", "--durable", "--json"))["final_reason"] == "goal_reached"
        assert open_to_others(home) == []
        data = home / "up" / "postgres"
        assert not data.is_symlink()
        assert data.stat().st_uid == account.pw_uid
        sockets = Path(parts["PostgreSQL"]["address"].partition("host=")[2])
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        with pytest.raises(PermissionError), as_nobody(), socket.socket(socket.AF_UNIX) as attempt:
            attempt.connect(str(sockets / ".s.PGSQL.5432"))
    finally:
        midcourse("down")


class as_nobody:
    """In this thread: files are opened as another account would."""

    def __enter__(self) -> None:
        os.setegid(65534)
        os.seteuid(65534)

    def __exit__(self, *_: object) -> None:
        os.seteuid(0)
        os.setegid(0)
