"""Verification: every check, and the outcome judged from effect, report and observation."""

from dataclasses import replace
from itertools import product

import pytest

from midcourse.domain.expectation import (
    Check,
    Expectation,
    FingerprintChanged,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.outcome import ACCEPTED_BY_SERVER, DISPUTED, ELSEWHERE, SIGNED_IN, UPLOADED, Outcome, Status
from midcourse.domain.skill import Effect
from midcourse.policy.evidence.verification import (
    Sight,
    describe,
    describe_unmet,
    explain_undecided,
    holds,
    judge,
    why_no_evidence,
)

BUTTON = Zone(id="z1", role="button", label="Order", state=(("enabled", True), ("hint", "two left")))
FORM = Observation(
    id="o1", surface=Surface(title="Form", address="https://shop.test/form"), zones=(BUTTON,), fingerprint="form"
)
THANKS = replace(
    FORM, surface=Surface(title="Thank you"), zones=(Zone(id="z2", role="text", label="Order 7"),), fingerprint="thanks"
)
ERROR = replace(
    FORM, surface=Surface(title="504"), zones=(Zone(id="z3", role="link", label="Try again"),), fingerprint="error"
)
REFUSED = replace(
    FORM, zones=(BUTTON, Zone(id="z4", role="text", label="Not ordered: no stock")), fingerprint="refused"
)

EXPECT = Expectation(checks=(TextContains(text="Thank you"),))
UNSURE = ("unknown", ACCEPTED_BY_SERVER, "")
ABSENT = Expectation(checks=(TextContains(text="Not ordered"),))


def all_of(*checks: Check) -> Expectation:
    return Expectation(checks=checks)


def sight(after: Observation | None, expect: Expectation | None = EXPECT, absent: Expectation | None = ABSENT) -> Sight:
    return Sight(before=FORM, after=after, expect=expect, absent_when=absent)


@pytest.mark.parametrize(
    ("check", "true"),
    [
        (ZoneAppears(label="Order"), True),
        (ZoneAppears(label="Or*"), True),
        (ZoneAppears(label="order"), False),
        (ZoneAppears(role="button"), True),
        (ZoneAppears(role="link", label="Order"), False),
        (ZoneGone(label="Order"), False),
        (ZoneGone(label="Cancel"), True),
        (ZoneHasState(state="enabled", value=True), True),
        (ZoneHasState(state="enabled", value=False), False),
        (ZoneHasState(state="enabled", value=True, label="Cancel"), False),
        (ZoneHasState(state="colour", value=None), False),
        (TextContains(text="rder"), True),
        (TextContains(text="t*left"), True),
        (TextContains(text="left*two"), False),
        (TextContains(text="two"), True),
        (TextContains(text="order"), True),
        (TextContains(text="*o*der*"), True),
        (TextContains(text="ORDER"), False),
        (TextContains(text="Two"), False),
        (TextContains(text="Form"), True),
        (TextContains(text="shop.test"), False),
        (SurfaceMatches(pattern="Form"), True),
        (SurfaceMatches(pattern="https://*/form"), True),
        (SurfaceMatches(pattern="For"), False),
    ],
)
def test_each_check_holds_where_it_should(check: Check, true: bool) -> None:
    assert holds(all_of(check), FORM) is true
    assert describe(all_of(check))


def test_changed_needs_something_to_compare_with() -> None:
    assert holds(all_of(FingerprintChanged()), FORM, "other") is True
    assert holds(all_of(FingerprintChanged()), FORM, "form") is False
    assert holds(all_of(FingerprintChanged()), FORM) is False


def test_all_checks_have_to_hold_and_words_alone_say_nothing() -> None:
    assert holds(all_of(ZoneAppears(label="Order"), ZoneGone(label="Order")), FORM) is False
    assert holds(Expectation(says="it looks right"), FORM) is None
    assert describe(Expectation(says="it looks right")) == "it looks right"


def test_what_is_unmet_is_said_in_a_sentence() -> None:
    assert describe_unmet(sight(ERROR)) == "expected the text 'Thank you'; the screen is '504'"
    assert describe_unmet(sight(None)) == "expected the text 'Thank you'; nothing could be seen"
    assert "no expectation" in describe_unmet(sight(ERROR, expect=None))


# --- judge: steps that can be taken back

HARMLESS: tuple[Effect, ...] = ("read", "set_state", "reversible")
STATUSES: tuple[Status, ...] = ("ok", "failed", "no_effect", "unreachable", "unknown")


@pytest.mark.parametrize("effect", HARMLESS)
@pytest.mark.parametrize(
    ("said", "after", "expect", "status", "reason"),
    [
        ("ok", THANKS, EXPECT, "ok", ""),
        ("ok", THANKS, None, "ok", ""),
        ("ok", None, EXPECT, "ok", ""),
        ("ok", ERROR, Expectation(says="in words"), "ok", ""),
        ("ok", ERROR, EXPECT, "failed", "expectation_unmet"),
        ("ok", FORM, EXPECT, "no_effect", "no_effect"),
        ("failed", THANKS, EXPECT, "failed", "said"),
        ("no_effect", THANKS, EXPECT, "no_effect", "said"),
        ("unreachable", FORM, EXPECT, "unreachable", "said"),
        ("unknown", THANKS, EXPECT, "ok", "said"),
        ("unknown", FORM, EXPECT, "unknown", "said"),
        ("unknown", None, EXPECT, "unknown", "said"),
        ("unknown", THANKS, None, "unknown", "said"),
    ],
)
def test_a_harmless_step_is_taken_at_its_word_unless_the_screen_says_otherwise(
    effect: Effect, said: Status, after: Observation | None, expect: Expectation | None, status: Status, reason: str
) -> None:
    report = Outcome(status=said, reason="" if said == "ok" else "said")
    outcome = judge(effect, report, sight(after, expect))
    assert (outcome.status, outcome.reason) == (status, reason)


# --- judge: irreversible steps


@pytest.mark.parametrize("said", STATUSES)
def test_an_irreversible_step_is_ok_only_if_its_expectation_is_seen(said: Status) -> None:
    outcome = judge("irreversible", Outcome(status=said, reason="said"), sight(THANKS))
    assert (outcome.status, outcome.evidence) == ("ok", "expectation")


@pytest.mark.parametrize(("said", "after"), list(product(STATUSES, (ERROR, FORM, None))))
def test_neither_an_error_page_nor_a_word_is_evidence(said: Status, after: Observation | None) -> None:
    outcome = judge("irreversible", Outcome(status=said), sight(after))
    assert (outcome.status, outcome.evidence) == ("unknown", "")
    assert outcome.reason
    assert outcome.detail


@pytest.mark.parametrize("said", [status for status in STATUSES if status != "unknown"])
def test_an_irreversible_step_without_effect_needs_positive_evidence(said: Status) -> None:
    outcome = judge("irreversible", Outcome(status=said), sight(REFUSED))
    assert (outcome.status, outcome.evidence, outcome.reason) == ("no_effect", "absent_when", "no_effect")


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (sight(ERROR, expect=None), "ok"),
        (sight(ERROR, expect=all_of(ZoneGone(label="Order"))), "ok"),
        (sight(ERROR), "unknown"),
        (sight(REFUSED, expect=None), "no_effect"),
        (sight(None, expect=None), "unknown"),
    ],
)
def test_a_response_is_evidence_unless_what_is_seen_contradicts_it(seen: Sight, status: Status) -> None:
    outcome = judge("irreversible", Outcome(evidence="response"), seen)
    assert (outcome.status, outcome.evidence == "response") == (status, status == "ok")
    assert (outcome.reason == ACCEPTED_BY_SERVER) == (status == "unknown")


def test_a_sign_of_absence_that_was_there_before_does_not_outweigh_a_server_that_accepts() -> None:
    seen = replace(sight(replace(REFUSED, fingerprint="later")), before=REFUSED)
    assert judge("irreversible", Outcome(evidence="response"), seen).status == "unknown"


def test_a_sign_in_that_leads_elsewhere_than_expected_keeps_its_reason() -> None:
    outcome = judge("irreversible", Outcome(evidence="response", reason=SIGNED_IN), sight(ERROR))
    assert (outcome.status, outcome.reason, outcome.evidence) == ("unknown", SIGNED_IN, "")


def test_a_response_proves_nothing_where_the_world_itself_is_not_sure() -> None:
    outcome = judge("irreversible", Outcome(status="unknown", evidence="response"), sight(ERROR, expect=None))
    assert (outcome.status, outcome.evidence) == ("unknown", "")


def test_an_expectation_that_held_before_says_nothing_about_the_act() -> None:
    always = all_of(ZoneAppears(label="Order"))
    assert judge("irreversible", Outcome(), sight(REFUSED, expect=always, absent=None)).status == "unknown"


def test_that_anything_changed_is_no_evidence() -> None:
    changed = all_of(FingerprintChanged())
    assert judge("irreversible", Outcome(), sight(ERROR, expect=changed)).status == "unknown"
    assert judge("reversible", Outcome(), sight(ERROR, expect=changed)).status == "ok"


def test_a_change_and_a_sign_that_was_there_before_are_no_evidence_together() -> None:
    """The logo is on every page, and an error page is a change."""
    logo = Zone(id="logo", role="link", label="Logo")
    before, after = (replace(seen, zones=(*seen.zones, logo)) for seen in (FORM, ERROR))
    expect = all_of(FingerprintChanged(), ZoneAppears(label="Logo"))
    seen = Sight(before=before, after=after, expect=expect, absent_when=None)
    assert judge("irreversible", Outcome(), seen).status == "unknown"
    assert judge("irreversible", Outcome(), sight(THANKS, all_of(FingerprintChanged(), *EXPECT.checks))).status == "ok"


@pytest.mark.parametrize(
    "absent",
    [
        all_of(FingerprintChanged()),
        all_of(ZoneGone(label="Thank*")),
        all_of(ZoneAppears()),
        all_of(ZoneAppears(label="*")),
        all_of(TextContains(text="")),
        all_of(SurfaceMatches(pattern="**")),
        Expectation(says="no"),
    ],
)
def test_absence_needs_a_sign_that_is_there(absent: Expectation) -> None:
    """On an error page something has changed and any confirmation is missing: neither says that nothing was sent."""
    assert judge("irreversible", Outcome(status="failed"), sight(ERROR, absent=absent)).status == "unknown"


def test_absence_does_not_count_while_the_act_may_still_be_under_way() -> None:
    """No answer came, so what is on the screen may be the moment before. Verifying bars the command first."""
    outcome = judge("irreversible", Outcome(status="unknown", reason="timeout"), sight(REFUSED))
    assert (outcome.status, outcome.reason, outcome.evidence) == ("unknown", "timeout", "")


def test_evidence_for_and_against_leaves_it_unknown() -> None:
    both = replace(THANKS, zones=(Zone(id="z", role="text", label="Not ordered"),))
    assert judge("irreversible", Outcome(), sight(both)).status == "unknown"


def test_what_a_reading_step_brought_back_is_kept() -> None:
    outcome = judge("read", Outcome(data=(("total", 7),)), sight(THANKS))
    assert outcome.data == (("total", 7),)


def test_that_something_is_gone_is_no_evidence() -> None:
    """The button is gone from an error page too."""
    button = Zone(id="buy", role="button", label="Buy")
    before = Observation(id="1", surface=Surface(title="Shop"), zones=(button,), fingerprint="a")
    error = Observation(id="2", surface=Surface(title="504"), fingerprint="b")
    gone = Expectation(checks=(ZoneGone(role="button", label="Buy"),))
    sight = Sight(before=before, after=error, expect=gone, absent_when=None)
    assert judge("irreversible", Outcome(), sight).status == "unknown"


@pytest.mark.parametrize(
    ("expect", "after", "says"),
    [
        (None, THANKS, "the step does not say what can be seen after it"),
        (EXPECT, None, "expected the text 'Thank you': the screen could not be seen"),
        (EXPECT, ERROR, "expected the text 'Thank you': that is not to be seen"),
        (EXPECT, THANKS, "expected the text 'Thank you': that is there now, and was not before"),
        (
            Expectation(says="it was ordered"),
            THANKS,
            "expected it was ordered: that takes a reader, and none has found it",
        ),
        (
            all_of(ZoneGone(label="Order")),
            THANKS,
            "expected a zone 'Order' to be gone: it is, which alone proves nothing, since an error page does that too",
        ),
        (all_of(ZoneGone(label="Order")), FORM, "expected a zone 'Order' to be gone: it is still there"),
        (
            all_of(TextContains(text="Order")),
            THANKS,
            "expected the text 'Order': that was there before already, so it proves nothing",
        ),
    ],
)
def test_the_reason_why_the_screen_does_not_decide_is_given(
    expect: Expectation | None, after: Observation | None, says: str
) -> None:
    assert explain_undecided(sight(after, expect, None)) == (says,)


def test_why_the_screen_does_not_decide_it_names_each_check_and_the_sign_of_absence() -> None:
    expect = all_of(TextContains(text="Not ordered"), TextContains(text="Thank you"))
    assert explain_undecided(sight(REFUSED, expect)) == (
        "expected the text 'Not ordered': that is there, but does not suffice alone",
        "expected the text 'Thank you': that is not to be seen",
        "the text 'Not ordered' is there, the sign that nothing was done",
    )


@pytest.mark.parametrize(
    ("reason", "after", "guessed", "found"),
    [
        (UPLOADED, REFUSED, True, ("ok", ELSEWHERE, "response")),
        ("", REFUSED, True, ("unknown", ACCEPTED_BY_SERVER, "")),
        (UPLOADED, REFUSED, False, ("unknown", ACCEPTED_BY_SERVER, "")),
        (UPLOADED, replace(REFUSED, zones=(BUTTON, Zone(id="z", role="text", label="Upload failed"))), True, UNSURE),
        (UPLOADED, FORM, True, ("ok", ELSEWHERE, "response")),
        (UPLOADED, None, True, UNSURE),
        (UPLOADED, replace(THANKS, surface=Surface(title="Thank you")), True, ("ok", "", "expectation")),
    ],
    ids=["uploaded", "not an upload", "an author's", "a new failure", "unchanged", "unseen", "shown"],
)
def test_an_accepted_upload_may_show_something_else_on_the_same_screen(
    reason: str, after: Observation | None, guessed: bool, found: tuple[str, str, str]
) -> None:
    report = Outcome(reason=reason, evidence="response")
    outcome = judge("irreversible", report, sight(after, absent=None), guessed=guessed)
    assert (outcome.status, outcome.reason, outcome.evidence) == found


def test_a_text_in_other_letters_is_evidence_and_holds_already_likewise() -> None:
    """A planner that is asked for 'ships' expects that, and the page writes 'Ships'."""
    shown = replace(FORM, zones=(BUTTON, Zone(id="z", role="text", label="SHIPS")), fingerprint="shown")
    expect = all_of(TextContains(text="*ships*"))
    assert judge("irreversible", Outcome(), sight(shown, expect)).evidence == "expectation"
    assert "holds already" in why_no_evidence(expect, shown)
    unpaid = replace(FORM, zones=(Zone(id="z", role="text", label="Unpaid, not paid"),))
    assert not holds(all_of(TextContains(text="Paid")), unpaid), "a capital is meant"
    for named in (
        SurfaceMatches(pattern="form"),
        ZoneAppears(label="order"),
        ZoneHasState(state="hint", value="TWO LEFT"),
    ):
        assert not holds(all_of(named), FORM), "what is named by its title, label or state is written as it is"


def test_an_accepted_upload_does_not_outweigh_a_sign_of_absence() -> None:
    outcome = judge("irreversible", Outcome(reason=UPLOADED, evidence="response"), sight(REFUSED), guessed=True)
    assert (outcome.status, outcome.evidence) == ("no_effect", "absent_when")


REFUSAL = Outcome(status="no_effect", reason="permission", detail="denied", evidence="rule", claimed=True)


def test_that_nothing_was_sent_is_believed_unless_the_screen_shows_what_was_expected() -> None:
    assert judge("irreversible", REFUSAL, sight(FORM)) == REFUSAL
    assert judge("irreversible", REFUSAL, sight(ERROR)) == REFUSAL
    assert judge("irreversible", REFUSAL, sight(None)) == REFUSAL
    shown = judge("irreversible", REFUSAL, sight(THANKS))
    assert (shown.status, shown.reason, shown.evidence, shown.claimed) == ("ok", DISPUTED, "expectation", False)


def test_a_change_that_was_expected_disputes_a_refusal_and_decides_nothing() -> None:
    changed = judge("irreversible", REFUSAL, sight(ERROR, expect=all_of(FingerprintChanged())))
    assert (changed.status, changed.reason, changed.evidence, changed.claimed) == ("unknown", DISPUTED, "", False)


@pytest.mark.parametrize(
    ("wanted", "found", "true"),
    [
        ("max*", "maximum", True),
        ("*", "anything", True),
        ("*[1]?", "row [1]?", True),
        ("m*m", "max", False),
        ("max", "maximum", False),
        ("1*", 17, True),
        ("*", None, False),
    ],
)
def test_a_star_in_a_wanted_state_stands_for_anything(wanted: str, found: str | int | None, true: bool) -> None:
    seen = replace(FORM, zones=(replace(BUTTON, state=(("value", found),)),))
    assert holds(all_of(ZoneHasState(state="value", value=wanted, label="Order")), seen) is true


@pytest.mark.parametrize(
    ("checks", "useless"),
    [
        ((TextContains(text="Thank you"),), False),
        ((TextContains(text="Order"),), True),
        ((ZoneGone(label="Order"),), True),
        ((FingerprintChanged(),), True),
        ((ZoneGone(label="Order"), TextContains(text="Thank you")), False),
        ((ZoneGone(label="Order"), TextContains(text="two left")), True),
        ((), False),
    ],
)
def test_an_expectation_that_cannot_be_evidence_is_known_before_the_act(
    checks: tuple[Check, ...], useless: bool
) -> None:
    why = why_no_evidence(Expectation(checks=checks, says="it is done"), FORM)
    assert ("proves nothing" in why) is useless


@pytest.mark.parametrize("pattern", ["cranes [Harbour wiki]", "*[Harbour wiki]", "cranes [[]Harbour*"])
def test_brackets_of_a_title_may_be_written_as_they_are_on_the_screen(pattern: str) -> None:
    wiki = replace(FORM, surface=Surface(title="cranes [Harbour wiki]"))
    assert holds(Expectation(checks=(SurfaceMatches(pattern=pattern),)), wiki)
    assert not holds(Expectation(checks=(SurfaceMatches(pattern=pattern),)), FORM)


def test_brackets_of_a_label_may_be_written_as_they_are_on_the_screen() -> None:
    edit = replace(BUTTON, label="Edit this page [e]")
    check = ZoneAppears(label="Edit this page [e]", role="button")
    assert holds(Expectation(checks=(check,)), replace(FORM, zones=(edit,)))
    assert not holds(Expectation(checks=(check,)), FORM)
