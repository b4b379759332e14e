"""`midcourse show` names the files of the pictures that a run took."""

from pathlib import Path

import pytest

from midcourse.pictures import read_picture
from midcourse.ports.blobs import digest_of
from tests.cli.conftest import Cli


@pytest.mark.slow
def test_the_pictures_of_a_run_are_listed(cli: Cli) -> None:
    cli("run", "far_cube", "--run-id", "far", "--json")
    (picture,) = cli("show", "far", "--json").json["pictures"]
    assert picture["surface"] == "Robot cell"
    blob = read_picture(Path(picture["path"]).read_bytes())
    assert blob is not None
    assert (blob.media_type, blob.width, blob.height, blob.digest) == ("image/webp", 640, 480, picture["digest"])
    shown = cli("show", "far").out
    assert "Pictures" in shown
    assert picture["path"] in shown.replace("\n", "")


@pytest.mark.slow
def test_they_are_saved_where_one_asks_for_them(cli: Cli, tmp_path: Path) -> None:
    cli("run", "far_cube", "--run-id", "far", "--json")
    (picture,) = cli("show", "far", "--pictures", str(tmp_path / "shots"), "--json").json["pictures"]
    assert Path(picture["path"]) == tmp_path / "shots" / "001.webp"
    assert digest_of(Path(picture["path"]).read_bytes()) == picture["digest"]


def test_a_run_without_pictures_shows_none(cli: Cli) -> None:
    cli("run", "notepad", "--run-id", "note", "--json")
    assert cli("show", "note", "--json").json["pictures"] == []
    assert "Pictures" not in cli("show", "note").out
