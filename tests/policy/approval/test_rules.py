"""Approval rules, which have no order, and experience, which counts only in adaptive mode."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.agreement import Agreement, Rule
from midcourse.domain.approval import CommitSet, Consequence, Grant
from midcourse.domain.budget import Limits
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.plan import Target
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.policy.approval.rules import binds, find_ruling, is_proven, live_grant, needs_approval, weighs_experience
from midcourse.policy.identity import shape_digest
from tests.harness import a_step

SAVE = Consequence(
    skill="click",
    arguments=(("count", 1),),
    effect="reversible",
    target=Target(surface="Draft 7", role="button", label="Save draft"),
    origin="https://shop.example",
    commit=CommitSet(values=(("text", "hello"),), address="POST https://shop.example/drafts"),
)
SEND = replace(SAVE, effect="irreversible")
ASK, NEVER = Rule(ask=True), Rule(ask=False, skill="click")


def said(what: Consequence, *rules: Rule) -> str:
    return find_ruling(Agreement(rules=rules), what)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(ask=True, skill="cl*"),
        Rule(ask=True, origin="https://*.example"),
        Rule(ask=True, label="SAVE *"),
        Rule(ask=True, address="POST *"),
        Rule(ask=True, effects=("reversible", "read")),
        Rule(ask=True, skill="click", origin="https://shop.example", label="*draft*"),
    ],
    ids=str,
)
def test_a_rule_fits_if_all_that_it_names_does(rule: Rule) -> None:
    assert said(SAVE, rule) == "ask"
    others: list[dict[str, Any]] = [
        {"skill": "type"},
        {"origin": "https://bank.example"},
        {"label": "Send"},
        {"address": "GET *"},
    ]
    for other in others:
        assert said(SAVE, replace(rule, **other)) == ""


def test_without_rules_nothing_is_decided() -> None:
    assert said(SAVE) == ""


def test_whatever_is_to_be_asked_about_is_asked_about_whatever_other_rules_say() -> None:
    never = replace(NEVER, effects=("irreversible", "reversible"))
    for what in (SAVE, SEND):
        assert said(what, never) == "never"
        assert said(what, never, ASK) == said(what, ASK, never) == "ask"


def test_a_rule_not_to_ask_is_about_irreversible_steps_only_if_it_says_so() -> None:
    assert (said(SAVE, NEVER), said(SEND, NEVER)) == ("never", "")
    assert said(SEND, replace(NEVER, effects=("irreversible",))) == "never"


def test_a_rule_about_an_address_needs_a_commit_set() -> None:
    unread = replace(SAVE, commit=CommitSet())
    assert said(unread, Rule(ask=False, skill="click", address="POST https://shop.example/*")) == ""


# --- experience


@pytest.mark.parametrize("effect", ["read", "set_state", "reversible", "irreversible"])
@pytest.mark.parametrize("mode", ["always", "never", "adaptive"])
def test_experience_counts_for_reversible_steps_in_adaptive_mode_and_for_nothing_else(mode: Any, effect: Any) -> None:
    weighs = weighs_experience(Limits(approvals=mode), replace(SAVE, effect=effect))
    assert weighs is (mode == "adaptive" and effect == "reversible")


def answer(
    question: int, verdict: Any = "approved", *, run: str = "r", by: str = "ada", shown: Any = ("c",)
) -> AnsweredConsequence:
    asked = AskedConsequence(run=run, question=question, shape="s", consequence="c")
    return AnsweredConsequence(
        asked=asked, decision=ApprovalDecided(question=question, verdict=verdict, by=by, shown=shown)
    )


def proven(*latest_first: AnsweredConsequence, after: int = 3) -> bool:
    return is_proven(Agreement(trust_after=after), latest_first)


YES = tuple(answer(n) for n in (9, 8, 7))


def test_the_set_number_of_approvals_in_a_row_proves_a_step() -> None:
    assert proven(*YES)
    assert not proven(*YES[:2])
    assert proven(*YES[:1], after=1)
    assert not proven()


def test_a_rejection_resets_experience() -> None:
    no = answer(10, "rejected")
    assert not proven(no, *YES)
    assert not proven(*YES[:2], no, *YES)
    assert proven(*YES, no)


def test_a_question_counts_once_and_by_its_first_answer() -> None:
    assert not proven(answer(9), answer(9), answer(9))
    assert not proven(answer(9), answer(9, "rejected"), answer(8), answer(7), after=1)
    assert proven(answer(9, "rejected"), answer(9), after=1)
    assert proven(answer(9, run="a"), answer(9, run="b"), answer(9, run="c"))


@pytest.mark.parametrize("odd", [{"by": ""}, {"by": " "}, {"shown": ()}, {"shown": ("other",)}])
def test_an_anonymous_approval_or_one_of_something_else_does_not_count(odd: dict[str, Any]) -> None:
    assert not proven(answer(9, **odd), *YES[:2])
    assert proven(answer(9, **odd), *YES)


# --- shape


def test_values_and_titles_are_not_part_of_the_shape() -> None:
    values = replace(SAVE, arguments=(("count", 2),), commit=replace(SAVE.commit, values=(("text", "bye"),)))
    assert shape_digest(values) == shape_digest(SAVE)
    assert shape_digest(replace(SAVE, target=replace(SAVE.target, surface="Draft 8"))) == shape_digest(SAVE)


@pytest.mark.parametrize(
    "other",
    [
        replace(SAVE, skill="submit"),
        replace(SAVE, effect="irreversible"),
        replace(SAVE, origin="https://evil.example"),
        replace(SAVE, target=replace(SAVE.target, label="Send")),
        replace(SAVE, arguments=(("count", 1), ("to", "Eve"))),
        replace(SAVE, commit=replace(SAVE.commit, address="POST https://shop.example/orders")),
        replace(SAVE, commit=replace(SAVE.commit, values=(("text", "hello"), ("cc", "Eve")))),
    ],
)
def test_everything_else_is_part_of_the_shape(other: Consequence) -> None:
    assert shape_digest(other) != shape_digest(SAVE)


# --- which steps need approval

GRANT = Grant(consequence="c1", expires_at=100.0)


@pytest.mark.parametrize("effect", ["read", "set_state", "reversible", "irreversible"])
def test_irreversible_steps_need_a_person_unless_nobody_is_to_be_asked(effect: str) -> None:
    step = a_step("x", effect)  # pyrefly: ignore[bad-argument-type]
    assert needs_approval(Limits(), step) is (effect == "irreversible")
    assert not needs_approval(Limits(approvals="never"), step)


@pytest.mark.parametrize("mode", ["always", "never", "adaptive"])
@pytest.mark.parametrize("effect", ["read", "set_state", "reversible", "irreversible"])
def test_rules_come_before_modes(mode: Any, effect: Any) -> None:
    step = a_step("x", effect)
    assert needs_approval(Limits(approvals=mode), replace(step, ruled="ask"))
    assert not needs_approval(Limits(approvals=mode), replace(step, ruled="never"))
    assert needs_approval(Limits(approvals=mode), step) is (effect == "irreversible" and mode != "never")


def test_what_is_asked_about_binds_and_so_does_what_experience_let_through() -> None:
    step = a_step("x", "reversible")
    assert not binds(step)
    assert [binds(replace(step, ruled=ruled)) for ruled in ("ask", "never", "unproven", "proven")] == [
        True,
        False,
        True,
        True,
    ]
    assert not needs_approval(Limits(approvals="adaptive"), replace(step, ruled="proven"))
    assert needs_approval(Limits(approvals="adaptive"), replace(step, ruled="unproven"))


def test_a_grant_is_for_exactly_one_consequence_and_until_it_expires() -> None:
    assert live_grant((GRANT,), "c1", 99.9) is GRANT
    assert live_grant((GRANT,), "c1", 100.0) is None
    assert live_grant((GRANT,), "c2", 0.0) is None
    assert live_grant((), "c1", 0.0) is None


def test_an_unknown_consequence_is_never_granted() -> None:
    assert live_grant((Grant(consequence="", expires_at=100.0),), "", 0.0) is None


def test_an_expired_grant_does_not_hide_a_live_one() -> None:
    old = Grant(consequence="c1", expires_at=10.0)
    assert live_grant((old, GRANT), "c1", 50.0) is GRANT
