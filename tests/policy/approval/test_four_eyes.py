"""Two people: identities are compared, and names only where one of the identities is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.approval import Decision, Verdict
from midcourse.domain.budget import Limits
from midcourse.domain.run import Run
from midcourse.policy.approval.objection import DENIALS, why_may_not_decide

VERDICTS: tuple[Verdict, ...] = (
    "approved",
    "changed",
    "take_over",
    "happened",
    "did_not_happen",
    "go_on",
    "send_again",
)
IDENTITIES = ("key:root", "account:root", "proxy:root", "oidc:https://a.example root", "oidc:https://b.example root")


def started_by(name: str, identity: str = "") -> Run:
    return Run(id="r", limits=Limits(), not_by=name, not_by_id=identity)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_person_is_one_person_under_two_names(verdict: Verdict) -> None:
    run = started_by("ada (mcp)", "key:ada")
    same = why_may_not_decide(run, Decision(verdict=verdict, by="ada", by_id="key:ada"))
    assert same == "ada started the run: another person must decide"
    assert why_may_not_decide(run, Decision(verdict=verdict, by="ada (mcp)", by_id="key:bob")) == ""


@given(starter=st.sampled_from(IDENTITIES), decider=st.sampled_from(IDENTITIES))
def test_one_name_is_a_person_for_each_way_to_sign_in(starter: str, decider: str) -> None:
    why = why_may_not_decide(started_by("root", starter), Decision(verdict="approved", by="root", by_id=decider))
    assert bool(why) == (starter == decider)


@pytest.mark.parametrize(
    ("starter", "decider"),
    [
        ("ada", "Ada"),
        ("ada (mcp)", "ada"),
        ("ada", "ada (mcp)"),
        ("ada", " a\u200bda "),
        ("ada", "\u202eada"),
        ("ada", "\uff41da"),
        ("Ada Lovelace", "Ada\u00a0Lovelace"),
        ("jos\u00e9", "jose\u0301"),
        ("ada", "\x1bada"),
    ],
)
@pytest.mark.parametrize("ids", [("", ""), ("", "key:ada"), ("key:ada", "")])
def test_where_an_identity_is_unknown_names_that_look_the_same_are_one_person(
    starter: str, decider: str, ids: tuple[str, str]
) -> None:
    """As in a run that an earlier version started, or in a decision of an approver in Python."""
    run = started_by(starter, ids[0])
    assert why_may_not_decide(run, Decision(verdict="approved", by=decider, by_id=ids[1]))
    assert why_may_not_decide(run, Decision(verdict="approved", by="grace", by_id=ids[1])) == ""


@pytest.mark.parametrize("run", [started_by("ada"), started_by("ada", "key:ada"), started_by("", "key:ada")])
def test_a_decision_without_an_author_is_nobodys(run: Run) -> None:
    assert "no name" in why_may_not_decide(run, Decision(verdict="approved"))
    for denial in DENIALS:
        assert why_may_not_decide(run, Decision(verdict=denial)) == ""


def test_where_one_person_is_enough_everybody_may_decide() -> None:
    assert why_may_not_decide(started_by(""), Decision(verdict="approved")) == ""
