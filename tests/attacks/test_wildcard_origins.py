"""A wildcard names hosts of one owner. Finding: `https://*.co.uk` was accepted, and with it every host below."""

import pytest

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.egress.policy import read_origins

START = "https://shop.example/"


@pytest.mark.parametrize(
    "host", ["com", "co.uk", "github.io", "s3.amazonaws.com", "any.ck", "xn--p1ai", "CO.UK", "example"]
)
def test_a_wildcard_where_anybody_can_have_a_name_is_refused(host: str) -> None:
    with pytest.raises(TaskInvalid, match="too wide"):
        read_origins({f"https://*.{host}": {}}, START)


@pytest.mark.parametrize("host", ["example.com", "example.co.uk", "ada.github.io", "cdn.example", "corp.internal"])
def test_a_wildcard_above_a_name_of_somebody_is_accepted(host: str) -> None:
    origins = read_origins({f"https://*.{host}": {}}, START)
    assert not origins.refuses(f"https://a.{host}/")
    assert origins.refuses(f"https://a.not-{host}/")


def test_the_list_comes_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("no question is asked over the network")

    monkeypatch.setattr("socket.socket.connect", refuse)
    with pytest.raises(TaskInvalid, match="too wide"):
        read_origins({"https://*.co.jp": {}}, START)
