"""Identities and consequences: which calls are the same."""

from dataclasses import replace

import pytest

from midcourse.domain.approval import CommitSet, Consequence
from midcourse.domain.argument import Arguments, Reference, Scalar
from midcourse.domain.plan import Target
from midcourse.policy.identity import call_digest, consequence_digest, identity_digest

BUTTON = Target(surface="Invoices", role="button", label="Submit")
COMMIT = CommitSet(values=(("invoice", "A-1"), ("amount", 10)), address="https://shop.test/pay")
CONSEQUENCE = Consequence(
    skill="submit",
    arguments=(("times", 1),),
    effect="irreversible",
    target=BUTTON,
    origin="https://shop.test",
    commit=COMMIT,
)


def test_a_button_of_a_dialog_is_called_otherwise_than_one_beside_it_of_the_same_name() -> None:
    inside = call_digest("submit", BUTTON, (), within="Offline")
    assert inside != call_digest("submit", BUTTON, ())
    assert inside != call_digest("submit", BUTTON, (), within="Other")
    assert inside == call_digest("submit", BUTTON, (), within="Offline")


def test_digests_keep_their_values() -> None:
    """It is written into runs and approvals: a change of its value needs a new format."""
    assert call_digest("submit", BUTTON, (("a", 1),)) == "a7a4e1306c8a2c98"
    assert call_digest("submit", BUTTON, (("a", 1),), within="") == "a7a4e1306c8a2c98"
    assert identity_digest("submit", BUTTON, COMMIT) == "b9777ffe2517384c"
    assert consequence_digest("run", CONSEQUENCE) == "c986e3351ba533173caff201a808d4c1"


def test_twenty_invoices_through_one_button_are_twenty_and_the_same_twice_is_one() -> None:
    invoices = [CommitSet(values=(("invoice", f"A-{n}"),)) for n in range(20)]
    assert len({identity_digest("submit", BUTTON, commit) for commit in invoices}) == 20
    assert identity_digest("submit", BUTTON, invoices[0]) == identity_digest("submit", BUTTON, replace(invoices[0]))


def test_the_order_in_which_values_are_written_makes_no_difference() -> None:
    turned = replace(COMMIT, values=tuple(reversed(COMMIT.values)))
    assert identity_digest("submit", BUTTON, COMMIT) == identity_digest("submit", BUTTON, turned)
    one: Arguments = (("a", 1), ("b", 2))
    assert call_digest("s", BUTTON, one) == call_digest("s", BUTTON, tuple(reversed(one)))


@pytest.mark.parametrize(
    "other",
    [
        replace(CONSEQUENCE, skill="send"),
        replace(CONSEQUENCE, arguments=()),
        replace(CONSEQUENCE, arguments=(("times", "1"),)),
        replace(CONSEQUENCE, arguments=(("times", True),)),
        replace(CONSEQUENCE, effect="reversible"),
        replace(CONSEQUENCE, target=replace(BUTTON, surface="Orders")),
        replace(CONSEQUENCE, target=replace(BUTTON, role="link")),
        replace(CONSEQUENCE, target=replace(BUTTON, label="Submit all")),
        replace(CONSEQUENCE, origin="https://shop.test.evil"),
        replace(CONSEQUENCE, commit=replace(COMMIT, address="")),
        replace(CONSEQUENCE, commit=replace(COMMIT, values=(("invoice", "A-1"), ("amount", 11)))),
        replace(CONSEQUENCE, commit=replace(COMMIT, values=(*COMMIT.values, ("hidden", None)))),
    ],
)
def test_whatever_differs_is_another_consequence(other: Consequence) -> None:
    assert consequence_digest("run", other) != consequence_digest("run", CONSEQUENCE)


ONE_TOKEN, OTHER_TOKEN = "k3Jd82hQx0LmZ41sVb7T", "9fR2mX7aPq5Wc8Ye3Hn1"


def with_value(name: str, value: Scalar, address: str = COMMIT.address) -> Consequence:
    return replace(CONSEQUENCE, commit=replace(COMMIT, values=(*COMMIT.values, (name, value)), address=address))


@pytest.mark.parametrize(
    "name",
    [
        "csrfmiddlewaretoken",  # Django
        "authenticity_token",  # Rails
        "__RequestVerificationToken",  # ASP.NET
        "_csrf",  # Spring
        "order[_token]",  # Symfony
        "2: csrf_token",
        "idempotencyKey",
    ],
)
def test_an_approval_holds_whatever_the_token_of_a_visit_is(name: str) -> None:
    one, other = with_value(name, ONE_TOKEN), with_value(name, OTHER_TOKEN)
    assert consequence_digest("run", one) == consequence_digest("run", other)
    assert identity_digest("submit", BUTTON, one.commit) != identity_digest("submit", BUTTON, other.commit)
    assert consequence_digest("run", one) != consequence_digest("run", CONSEQUENCE), "a token that was not there"
    changed = replace(other, commit=replace(other.commit, values=(("amount", 11), *other.commit.values[2:])))
    assert consequence_digest("run", one) != consequence_digest("run", changed)


@pytest.mark.parametrize("name", ["cart_token", "access_token", "nonce", "__VIEWSTATE", "sku", "coupon"])
def test_an_approval_binds_every_other_generated_value(name: str) -> None:
    assert consequence_digest("run", with_value(name, ONE_TOKEN)) != consequence_digest(
        "run", with_value(name, OTHER_TOKEN)
    )


def test_what_is_called_a_token_and_is_readable_is_bound() -> None:
    readable = with_value("csrf_token", "pay-to-mallory")
    assert consequence_digest("run", readable) != consequence_digest("run", with_value("csrf_token", ONE_TOKEN))
    assert consequence_digest("run", readable) != consequence_digest("run", with_value("csrf_token", "pay-to-alice"))


def test_an_argument_of_a_function_is_bound_whatever_its_name() -> None:
    one, other = with_value("csrf_token", ONE_TOKEN, address=""), with_value("csrf_token", OTHER_TOKEN, address="")
    assert consequence_digest("run", one) != consequence_digest("run", other)


def test_an_approval_is_for_one_run() -> None:
    assert consequence_digest("run", CONSEQUENCE) != consequence_digest("another", CONSEQUENCE)


def test_a_reference_is_not_the_text_of_its_name() -> None:
    by_name = call_digest("type", BUTTON, (("text", Reference(source="secret", name="pin")),))
    assert by_name != call_digest("type", BUTTON, (("text", "pin"),))
    assert by_name != call_digest("type", BUTTON, (("text", Reference(source="input", name="pin")),))


def test_digests_of_different_kinds_differ() -> None:
    empty = Target(surface="", role="", label="")
    assert call_digest("s", empty, ()) != identity_digest("s", empty, CommitSet())


def test_what_goes_to_an_address_is_the_same_from_whichever_button() -> None:
    elsewhere = replace(BUTTON, surface="Orders", label="Send again")
    assert identity_digest("click", elsewhere, COMMIT) == identity_digest("submit", BUTTON, COMMIT)
    unaddressed = replace(COMMIT, address="")
    assert identity_digest("submit", elsewhere, unaddressed) != identity_digest("submit", BUTTON, unaddressed)
