"""The policy that a run teaches: what led up to its last request is safe, the last one and what names an effect is asked about."""

import tomllib

from midcourse.worlds.browser.learn import propose_policy

SHOP = "https://shop.example"


def test_what_led_up_to_the_last_request_is_safe() -> None:
    requests = [f"POST {SHOP}{path}" for path in ("/tickets/new/1", "/tickets/new/2", "/tickets")]
    assert tomllib.loads(propose_policy(requests)) == {SHOP: {"safe": ["POST /tickets/new/*"]}}


def test_what_names_an_effect_is_asked_about_wherever_it_is() -> None:
    requests = [f"POST {SHOP}/basket", f"POST {SHOP}/orders/7/pay", f"POST {SHOP}/newsletter"]
    proposal = propose_policy(requests)
    assert tomllib.loads(proposal) == {SHOP: {"safe": ["POST /basket"]}}
    assert "POST /newsletter, POST /orders/*/pay" in proposal


def test_a_request_that_is_sent_last_and_before_is_not_safe() -> None:
    assert tomllib.loads(propose_policy([f"POST {SHOP}/form", f"POST {SHOP}/form"])) == {SHOP: {}}


def test_each_origin_has_its_own() -> None:
    other = "https://cards.example"
    proposal = tomllib.loads(propose_policy([f"POST {SHOP}/basket", f"POST {other}/cards"]))
    assert proposal == {SHOP: {"safe": ["POST /basket"]}, other: {}}


def test_a_run_that_was_asked_about_nothing_needs_none() -> None:
    assert tomllib.loads(propose_policy([])) == {}
