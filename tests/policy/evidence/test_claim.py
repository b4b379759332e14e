"""What a run may say of itself at its end: verified, claimed or contradicted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.outcome import REFUSED_BY_SERVER, SIGN_IN_REFUSED, SIGNED_IN, Outcome
from midcourse.domain.records.summary import SUCCESSES
from midcourse.policy.evidence.claim import Claim, Request, SentAct, judge_claim, was_brought_by


def act(status: str = "ok", reason: str = "", *, found: bool = False, likeness: str = "", irreversible: bool = True):
    outcome = Outcome(status=status, reason=reason, evidence="probe" if found else "")  # pyrefly: ignore[bad-argument-type]
    return SentAct(outcome=outcome, irreversible=irreversible, likeness=likeness, found=found, what="'Order'")


def judge(*acts: SentAct, reason: str = "plan_complete", checked: bool = False, sends: bool = False) -> Claim:
    return judge_claim(reason, acts, checked=checked, sends=sends)  # pyrefly: ignore[bad-argument-type]


def test_a_planner_that_did_nothing_only_claims():
    assert judge() == Claim(verified=False, contradiction="", sending="nothing")


def test_done_after_a_step_that_the_world_refused_to_send_is_contradicted():
    refused = Outcome(
        status="no_effect", reason="permission", detail="the account is closed", evidence="rule", claimed=True
    )
    order = SentAct(outcome=refused, irreversible=True, what="'Order'")
    says = "the last step that cannot be undone, 'Order', was not sent (the account is closed)"
    assert judge(order) == Claim(contradiction=says, sending="nothing")
    assert judge(order, sends=True).contradiction == "the task must send something, and nothing was sent"
    assert judge(order, act()) == Claim(sending="effects", shown_by=""), "another plan found another way"


def test_a_met_condition_verifies():
    assert judge(reason="goal_reached", checked=True).verified
    assert judge(act(), reason="goal_reached", checked=True) == Claim(verified=True, sending="effects", shown_by="")


def test_a_probe_verifies_if_it_found_the_last_effect_and_nothing_is_in_doubt():
    assert judge(act(), act(found=True)).verified
    assert not judge(act(found=True), act()).verified
    assert not judge(act("unknown", "timeout"), act(found=True)).verified
    assert judge(act("unknown", SIGNED_IN), act(found=True), act(irreversible=False)).verified


def test_what_supports_a_claim_is_the_evidence_for_the_last_effect_that_was_no_sign_in():
    assert judge(act(found=True), act("ok", SIGNED_IN)).shown_by == "probe"
    assert judge(act(found=True), act()).shown_by == ""
    assert judge(act("unknown", "timeout"), act(found=True)).shown_by is None
    assert judge(act(found=True), reason="budget_exhausted").shown_by is None


def test_a_sign_in_is_no_effect():
    assert judge(act("ok", SIGNED_IN)).sending == "sign_in"
    assert not judge(act("ok", SIGNED_IN, found=True)).verified
    assert "nothing was sent" in judge(act("ok", SIGNED_IN), sends=True).contradiction


@pytest.mark.parametrize("last", [act("no_effect"), act("unknown", REFUSED_BY_SERVER)])
def test_what_was_sent_last_and_did_not_happen_contradicts(last: SentAct):
    assert "'Order'" in judge(act(), last).contradiction
    assert judge(last, act()).contradiction == "", "another one happened after it"
    assert judge(last, act("unknown", SIGN_IN_REFUSED)).contradiction != "", "a sign-in is not what the task is about"
    met = Claim(verified=True, sending="effects", shown_by="")
    assert judge(act(), last, checked=True) == met, "the world says that it is done"


def test_a_refused_repetition_of_what_happened_contradicts_nothing():
    refused = act("unknown", REFUSED_BY_SERVER, likeness="same")
    assert judge(act(likeness="same"), refused).contradiction == ""
    assert judge(act(likeness="other"), refused).contradiction != ""


def test_a_task_that_must_send_something_is_contradicted_if_nothing_took_effect():
    assert judge(sends=True).contradiction == "the task must send something, and nothing was sent"
    assert judge(sends=True, checked=True, reason="goal_reached").contradiction, (
        "what is on the screen was there before"
    )
    assert "nothing that was sent took effect" in judge(act("no_effect"), sends=True).contradiction
    assert judge(act("unknown", "timeout"), sends=True).contradiction == "", "it may have been sent"
    assert judge(act(), sends=True).contradiction == ""


def test_one_call_of_a_function_has_returned():
    assert judge_claim("plan_complete", [act()], checked=False, sends=False, one_call=True).sending == "call"
    assert judge_claim("rejected", [], checked=False, sends=False, one_call=True).sending == "nothing"


@given(
    acts=st.lists(
        st.builds(
            act, st.sampled_from(["ok", "no_effect", "unknown"]), st.sampled_from(["", SIGNED_IN, REFUSED_BY_SERVER])
        )
    ),
    checked=st.booleans(),
    sends=st.booleans(),
    reason=st.sampled_from([*SUCCESSES, "rejected", "replan_exhausted"]),
)
def test_nothing_is_both_verified_and_contradicted(acts: list[SentAct], checked: bool, sends: bool, reason: str):
    found = judge(*acts, reason=reason, checked=checked, sends=sends)
    assert not (found.verified and found.contradiction)
    assert reason in SUCCESSES or not (found.verified or found.contradiction)
    assert checked or not found.verified, "no probe found anything here"


# --- a text that a model chose for its probe


def screen(*zones: Zone) -> Observation:
    return Observation(id="o1", surface=Surface(title="Shop"), zones=zones, fingerprint="f1")


FIELD = Zone(id="e1", role="textbox", label="Reference", state=(("value", "PO-17"),))


def test_a_text_counts_if_a_request_brought_it():
    sent = Request(values=("PO-17", 3), before=screen(FIELD))
    assert was_brought_by("PO-17", [sent], frozenset({"PO-17"}))
    assert not was_brought_by("PO-17", [sent], frozenset()), "the field had it before: the run did not enter it"
    assert not was_brought_by("Thank you", [sent], frozenset({"PO-17"})), "it was not sent"
    assert not was_brought_by("PO-17", [], frozenset({"PO-17"}))
    assert not was_brought_by("…", [sent], frozenset()), "no word"


def test_what_was_added_to_a_field_counts_and_what_it_held_does_not():
    field = Zone(id="e1", role="textbox", label="Notes", state=(("value", "Oil the crane\nOrder rope"),))
    sent = Request(values=("Oil the crane\nOrder rope",), before=screen(field))
    entered = frozenset({"\nOrder rope"})
    assert was_brought_by("Order rope", [sent], entered)
    assert not was_brought_by("Oil the crane", [sent], entered)


def test_a_text_that_the_page_showed_before_does_not_count():
    listed = screen(FIELD, Zone(id="e2", role="row", label="Order PO-17, open"))
    assert not was_brought_by("PO-17", [Request(values=("PO-17",), before=listed)], frozenset({"PO-17"}))
    assert not was_brought_by("PO-17", [Request(values=("PO-17",), before=None)], frozenset({"PO-17"}))
