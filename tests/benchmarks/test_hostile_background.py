"""Pages that dress up as background traffic, on a few of each class: they get what they want without the gate, and nothing with it."""

from base64 import b64encode
from urllib.parse import quote

import pytest

from benchmarks.hostile_pages.background import find_value, make_values, recovered_share
from benchmarks.hostile_pages.background_site import Entry
from tests.benchmarks.scripts import measure

ALL_BUT_FORM_SIGN_INS = (
    "refresh,heartbeat,telemetry,autosave,autocomplete,kind,json_sign_in,flow,navigate,socket,keep_alive"
)


@pytest.mark.slow
def test_no_page_gets_a_value_or_an_effect_out_as_background_traffic():
    result = measure("hostile_background", "--classes", ALL_BUT_FORM_SIGN_INS, "--sample", "11", "--seed", "3")
    assert (result["pages"], result["proves"], result["leaks"], result["lost"]) == (11, 11, {}, 0)


@pytest.mark.slow
def test_no_form_sign_in_carries_more_than_it_shows():
    only = ("--only", "form_itself 1,form_action 3", "--arm", "guarded")
    result = measure("hostile_background", "--classes", "form_sign_in", *only)
    assert (result["pages"], result["leaks"], result["lost"]) == (2, {}, 0)


@pytest.mark.parametrize(
    "body",
    [
        b'{"id": "%(plain)s"}',
        b"id=%(url)s",
        b'{"id": "tail %(half)s"}',
        b"x%(base64)s",
        b"%(hex)s",
        b"%(reversed)s",
    ],
)
def test_the_detector_finds_a_value_in_every_form(body: bytes):
    card = make_values(1)["card"].encode()
    forms = {b"plain": card, b"url": quote(card).encode(), b"half": card[4:14], b"reversed": card[::-1]}
    forms |= {b"base64": b64encode(b"ab" + card), b"hex": card.hex().encode()}
    entry = Entry(method="POST", path="/beat", host="", body=body % forms)
    assert find_value([entry], card.decode())
    assert not find_value([entry], make_values(2)["card"])


def test_a_value_is_recovered_by_half_of_it():
    assert recovered_share("1234", "1234") == 1.0
    assert recovered_share("99", "1234") == 0.0
    assert recovered_share("1299", "1234") == 0.5
