"""What a model may quote from a screen as a sign that an act happened, against pages that want it to say yes."""

from dataclasses import replace

import pytest

from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.policy.evidence.quotation import FAILURE, LONGEST_QUOTE, why_not_a_sign

ENTERED = ("Lamp arrived broken", "thank you for your help", 3)


def screen(*texts: str, title: str = "Tickets", **fields: str) -> Observation:
    zones = [Zone(id=f"t{n}", role="text", label=text) for n, text in enumerate(texts)]
    zones += [Zone(id=n, role="textbox", label=n, state=(("value", value),)) for n, value in fields.items()]
    return Observation(id="o", surface=Surface(title=title), zones=tuple(zones), fingerprint=str(texts))


FORM = screen("New ticket", "Thank you for your patience", "Cart (0)", "2 open tickets", subject="Lamp arrived broken")


@pytest.mark.parametrize(
    ("quote", "texts"),
    [
        ("Your ticket was created", ("Your ticket was created.",)),
        ("  your TICKET\nwas created! ", ("Done", "Your ticket was  created")),
        ("Ticket #17 'Lamp arrived broken' was stored", ("Ticket #17 'Lamp arrived broken' was stored",)),
        ("Vielen Dank", ("Vielen Dank!",)),
        ("\uff34icket stored", ("Ticket stored",)),
        ("Order A17XK", ("Order A17XK",)),
    ],
)
def test_new_words_of_the_screen_are_a_sign(quote: str, texts: tuple[str, ...]) -> None:
    assert why_not_a_sign(quote, FORM, screen(*texts), ENTERED) == ""


def test_the_title_is_of_the_screen() -> None:
    assert why_not_a_sign("Ticket stored", FORM, screen(title="Ticket stored - Help desk"), ENTERED) == ""


NOT_THERE, OLD, REPEATED, FAILED = (
    "the quoted words are not on the screen",
    "the quoted words were there before",
    "the quoted words repeat what was there before or was entered",
    "the screen speaks of a failure",
)


@pytest.mark.parametrize(
    ("quote", "texts", "why"),
    [
        ("", ("Stored",), "nothing is quoted"),
        ("...!", ("Stored...!",), "nothing is quoted"),
        ("x " * LONGEST_QUOTE, ("x " * LONGEST_QUOTE,), "nothing is quoted"),
        ("Your ticket was stored", ("Please wait",), NOT_THERE),
        ("icket was stored", ("Ticket was stored",), NOT_THERE),
        ("Ticket was stored", ("Ticket", "was stored"), NOT_THERE),
        # it greets before and after
        ("Thank you", ("Thank you for your patience", "Home"), OLD),
        ("thank you for your patience!", ("Thank you for your patience",), OLD),
        # a text that was in two zones is in one now
        ("New ticket thank you", ("New ticket: thank you",), OLD),
        # a longer one that begins as before, and counts on
        ("Cart (1)", ("Cart (1)",), REPEATED),
        ("3 open tickets", ("3 open tickets",), REPEATED),
        ("12:04", ("12:04",), REPEATED),
        # what the run has entered, alone or beside what was there
        ("Lamp arrived broken", ("Lamp arrived broken",), REPEATED),
        ("Thank you for your help", ("Thank you for your help",), REPEATED),
        ("New ticket: lamp arrived broken", ("New ticket: lamp arrived broken",), REPEATED),
        # half a sentence, and a success beside a refusal
        ("was stored", ("No ticket was stored, try again",), FAILED),
        ("Your ticket was stored", ("Your ticket was stored", "Payment declined"), FAILED),
        ("Ihr Ticket ist da", ("Ihr Ticket ist da", "Leider nicht m\u00f6glich"), FAILED),
    ],
)
def test_what_is_no_sign(quote: str, texts: tuple[str, ...], why: str) -> None:
    assert why_not_a_sign(quote, FORM, screen(*texts), ENTERED) == why


@pytest.mark.parametrize(
    "zone",
    [
        Zone(id="f", role="textbox", label="Ticket stored"),
        Zone(id="f", role="text", label="Field", state=(("value", "Ticket stored"),)),
        Zone(id="request1", role="request", label="POST /Ticket stored"),
        Zone(id="page", role="page", label="Ticket stored"),
    ],
)
def test_fields_and_zones_of_the_world_are_not_words_of_the_page(zone: Zone) -> None:
    assert why_not_a_sign("Ticket stored", FORM, replace(FORM, zones=(zone,)), ENTERED) == NOT_THERE


def test_a_failure_that_was_there_before_does_not_count() -> None:
    old = "Chat is unavailable"
    assert FAILURE.search(old)
    assert why_not_a_sign("Ticket stored", screen(old), screen(old, "Ticket stored"), ENTERED) == ""
