"""Verification of acts: tests expectations against screens, and turns a world's report into an outcome."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import assert_never

from midcourse.domain.argument import Scalar
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
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.outcome import (
    ACCEPTED_BY_SERVER,
    ANSWERED_WITH_ERROR,
    DISPUTED,
    ELSEWHERE,
    SIGNED_IN,
    UPLOADED,
    Evidence,
    Outcome,
)
from midcourse.domain.replace import replace
from midcourse.domain.skill import Effect
from midcourse.policy.evidence.quotation import has_new_failure


def holds(expectation: Expectation, seen: Observation, before: str | None = None) -> bool | None:
    """Whether all checks hold. None: there are no checks, so a reader is needed.

    `before` is the fingerprint to compare with; without one, nothing counts as changed.
    """
    if not expectation.checks:
        return None
    return all(_check(check, seen, before) for check in expectation.checks)


def needs_reader(expectation: Expectation) -> bool:
    """Whether a reader is needed: it has words and no checks."""
    return bool(expectation.says.strip()) and not expectation.checks


def _check(check: Check, seen: Observation, before: str | None) -> bool:
    match check:
        case ZoneAppears():
            return any(_matches(zone, check.role, check.label) for zone in seen.zones)
        case ZoneGone():
            return not any(_matches(zone, check.role, check.label) for zone in seen.zones)
        case ZoneHasState():
            return any(
                _matches(zone, check.role, check.label)
                and any(name == check.state and _is_value(value, check.value) for name, value in zone.state)
                for zone in seen.zones
            )
        case TextContains():
            # A planner that is asked for ships expects 'ships', and the page writes 'Ships'. A capital is meant: 'Paid' is not in 'Unpaid'.
            said = _texts(seen)
            texts = (*said, *map(str.lower, said)) if check.text.islower() else said
            return any(
                check.text in text or ("*" in check.text and _is_value(text, f"*{check.text}*")) for text in texts
            )
        case SurfaceMatches():
            return any(fits_pattern(text, check.pattern) for text in (seen.surface.title, seen.surface.address))
        case FingerprintChanged():
            return before is not None and seen.fingerprint != before
        case _:
            assert_never(check)


def _is_sign(check: Check) -> bool:
    """Whether it requires something specific to be visible, and cannot hold because something is missing, or always."""
    match check:
        case ZoneAppears():
            return bool(check.role or check.label.strip("*"))
        case ZoneHasState():
            return check.value != "*" or bool(check.role or check.label.strip("*"))
        case TextContains():
            return bool(check.text.strip("* "))
        case SurfaceMatches():
            return bool(check.pattern.strip("*"))
        case ZoneGone() | FingerprintChanged():
            return False
        case _:
            assert_never(check)


def _matches(zone: Zone, role: str, label: str) -> bool:
    if role and zone.role != role:
        return False
    return not label or fits_pattern(zone.label, label) or is_in_container(zone, label)


def fits_pattern(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern. Brackets may stand for themselves, as in a title that a model has copied from the screen."""
    return fnmatchcase(text, pattern) or ("[" in pattern and fnmatchcase(text, pattern.replace("[", "[[]")))


def _is_value(value: Scalar, wanted: Scalar) -> bool:
    """Whether a state has this value. In a wanted text `*` stands for anything, and for nothing else is there a sign."""
    if value == wanted or not isinstance(wanted, str) or "*" not in wanted:
        return value == wanted
    parts = map(re.escape, wanted.split("*"))
    return value is not None and re.fullmatch(".*".join(parts), str(value), re.DOTALL) is not None


_CONTAINER = re.compile(r"(.+)(?<!\[)@(?!\])(.+)", re.DOTALL)


def is_in_container(zone: Zone, label: str) -> bool:
    """Whether `label` is a pair of patterns `label@container` that matches the zone and the row, group or dialog around it."""
    parts = _CONTAINER.fullmatch(label)
    return (
        parts is not None and fnmatchcase(zone.label, parts[1]) and fnmatchcase(str(zone.get("within") or ""), parts[2])
    )


def _texts(seen: Observation) -> list[str]:
    states = [value for zone in seen.zones for _, value in zone.state if isinstance(value, str)]
    return [seen.surface.title, *(zone.label for zone in seen.zones), *states]


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What was seen before and after an act. `after` is missing if the look failed or none was taken."""

    before: Observation
    after: Observation | None
    expect: Expectation | None
    absent_when: Expectation | None
    read: bool | None = None
    """Whether the expectation holds according to a reader, where it has only words."""
    read_before: bool | None = None

    @property
    def expected(self) -> bool | None:
        """Whether the expectation holds now. None if unknown."""
        found = self._holds(self.expect)
        return self.read if found is None else found

    @property
    def newly_expected(self) -> bool:
        """Whether the expectation holds now and did not before: only that is evidence that this act fulfilled it."""
        if self.expect is None or not self.expected:
            return False
        if needs_reader(self.expect):
            return self.read_before is False
        return not holds(self.expect, self.before)

    @property
    def happened(self) -> bool:
        """Whether there is sufficient evidence of an irreversible act: a sign that was not there before.

        That something changed or is gone is not sufficient, since an error page does that too.
        """
        if self.expect is None or not self.expected or self._holds(self.absent_when):
            return False
        if needs_reader(self.expect):
            return self.newly_expected
        signs = tuple(check for check in self.expect.checks if _is_sign(check))
        return holds(Expectation(checks=signs), self.before) is False

    @property
    def evidence(self) -> Evidence:
        """What shows that it happened: the expectation, or a model that has read it."""
        return "model" if self.expect is not None and needs_reader(self.expect) else "expectation"

    @property
    def absent(self) -> bool:
        """Whether there is positive evidence that nothing happened, and none to the contrary."""
        shown = self.absent_when is not None and any(_is_sign(check) for check in self.absent_when.checks)
        return shown and bool(self._holds(self.absent_when)) and not self.newly_expected

    @property
    def absent_before(self) -> bool:
        """Whether the sign that nothing happened was already there before the act."""
        return self.absent_when is not None and bool(holds(self.absent_when, self.before))

    @property
    def is_consistent(self) -> bool:
        """Whether nothing visible contradicts that it happened: no unmet expectation, and no sign of absence."""
        return self.after is not None and self.expected is not False and not self._holds(self.absent_when)

    @property
    def unchanged(self) -> bool:
        return self.after is not None and self.after.fingerprint == self.before.fingerprint

    @property
    def is_elsewhere(self) -> bool:
        """Whether another screen has come. A number in the title, such as one of unread messages, makes no other screen."""
        if self.after is None or self.unchanged:
            return False
        then, now = self.before.surface, self.after.surface
        return then.address != now.address or _DIGITS.sub("", then.title) != _DIGITS.sub("", now.title)

    @property
    def is_wrong_guess(self) -> bool:
        """Whether nothing but the guess what would be shown speaks against the act: something else is shown, not less."""
        return not self.unchanged and self.is_only_missed

    @property
    def is_only_missed(self) -> bool:
        """Whether what was expected is not there, and nothing else speaks against the act.

        On the same screen, what it names must not be there in another state, and no new words may speak of a failure. What only a
        reader can tell is no guess of names, and a sign of absence is none either.
        """
        if self.expect is None or self.after is None or self.expected is not False:
            return False
        if needs_reader(self.expect) or self._holds(self.absent_when):
            return False
        if self.is_elsewhere:
            return True
        contradicted = any(_is_contradicted(check, self.after) for check in self.expect.checks)
        return not contradicted and not has_new_failure(self.before, self.after)

    def _holds(self, expectation: Expectation | None) -> bool | None:
        if expectation is None or self.after is None:
            return None
        return holds(expectation, self.after, self.before.fingerprint)


_DIGITS = re.compile(r"\d+")


def _is_contradicted(check: Check, seen: Observation) -> bool:
    """Whether the very thing that the check names is there, and is not as expected."""
    match check:
        case ZoneGone():
            return not _check(check, seen, None)
        case ZoneHasState():
            there = any(_matches(zone, check.role, check.label) for zone in seen.zones)
            return there and not _check(check, seen, None)
        case ZoneAppears() | TextContains() | SurfaceMatches() | FingerprintChanged():
            return False
        case _:
            assert_never(check)


def judge(effect: Effect, report: Outcome, sight: Sight, *, guessed: bool = False) -> Outcome:
    """The outcome of a dispatched act, from the world's report and from what is seen.

    `guessed`: a planner has named what it expected, and may not have known it. That alone is then no failure.
    """
    uploaded = report.reason == UPLOADED
    report = replace(report, reason="") if uploaded else report
    if effect == "irreversible":
        return _judge_irreversible(report, sight, guessed=guessed, uploaded=uploaded)
    if report.status == "unknown" and sight.newly_expected:
        return replace(report, status="ok", evidence="expectation")
    if report.status == "ok" and sight.expected is False:
        if guessed and sight.is_wrong_guess:
            return replace(report, reason=ELSEWHERE, detail=describe_unmet(sight))
        if sight.unchanged:
            return replace(
                report, status="no_effect", reason="no_effect", detail="nothing changed; " + describe_unmet(sight)
            )
        return replace(report, status="failed", reason="expectation_unmet", detail=describe_unmet(sight))
    return report


def _judge_irreversible(report: Outcome, sight: Sight, *, guessed: bool, uploaded: bool) -> Outcome:
    """The outcome of an irreversible act, by default unknown. A refusal, error page or time-out is not evidence of absence.

    Nor is a sign of absence while the act may still be under way: verification bars it first.
    """
    disputed = report.claimed and sight.newly_expected
    if sight.happened:
        reason = DISPUTED if disputed else "" if report.reason == ANSWERED_WITH_ERROR else report.reason
        return replace(report, status="ok", reason=reason, evidence=sight.evidence, claimed=False)
    if disputed:
        return replace(report, status="unknown", reason=DISPUTED, evidence="", claimed=False)
    if report.status == "no_effect" and report.evidence == "rule" and not sight.newly_expected:
        return report
    is_accepted = report.status == "ok" and report.evidence == "response"
    if is_accepted and sight.is_consistent:
        return report
    # The page of an upload stays, and shows the file before it leaves: that it shows nothing more is no sign of a failure.
    led_on = sight.is_wrong_guess and _has_led_on(report, sight)
    if is_accepted and guessed and (led_on or (uploaded and sight.is_only_missed)):
        return replace(report, reason=report.reason or ELSEWHERE, detail=describe_unmet(sight))
    if sight.absent and report.status != "unknown" and not (is_accepted and sight.absent_before):
        detail = report.detail or "the sign that nothing was done is there"
        return replace(report, status="no_effect", reason="no_effect", detail=detail, evidence="absent_when")
    reason = report.reason or (ACCEPTED_BY_SERVER if is_accepted else "no_evidence")
    detail = report.detail or describe_unmet(sight)
    return replace(report, status="unknown", reason=reason, detail=detail, evidence="")


def _has_led_on(report: Outcome, sight: Sight) -> bool:
    """Whether an accepted act has led to another screen of the same origin. What accepts a sign-in has seen its form go."""
    same = sight.after is not None and sight.after.surface.origin == sight.before.surface.origin
    return report.reason == SIGNED_IN or (sight.is_elsewhere and same)


def describe_unmet(sight: Sight) -> str:
    """What was expected and what is there instead, as text."""
    wanted = describe(sight.expect) if sight.expect else "no expectation was given"
    there = f"the screen is '{sight.after.surface.title}'" if sight.after else "nothing could be seen"
    return f"expected {wanted}; {there}"


def why_no_evidence(expect: Expectation, seen: Observation) -> str:
    """Why this expectation could not show that an act on this screen happened; empty if it could, or a reader has to tell."""
    if not expect.checks:
        return ""
    signs = Expectation(checks=tuple(check for check in expect.checks if _is_sign(check)))
    if not signs.checks:
        gone = any(isinstance(check, ZoneGone) for check in expect.checks)
        return f"{describe(expect)}, proves nothing alone{': after an error it is so, too' if gone else ''}"
    return f"{describe(signs)}, holds already, so it proves nothing" if holds(signs, seen) else ""


def explain_undecided(sight: Sight) -> tuple[str, ...]:
    """Why the screen does not decide whether an irreversible act happened: a line for each thing that was expected of it."""
    if sight.expect is None:
        return ("the step does not say what can be seen after it",)
    if sight.after is None:
        return (f"expected {describe(sight.expect)}: the screen could not be seen",)
    if sight.happened:
        return (f"expected {describe(sight.expect)}: that is there now, and was not before",)
    if not sight.expect.checks:
        return (f"expected {describe(sight.expect)}: that takes a reader, and none has found it",)
    lines = [_explain_check(check, sight.before, sight.after) for check in sight.expect.checks]
    if sight.absent_when and holds(sight.absent_when, sight.after, sight.before.fingerprint):
        lines.append(f"{describe(sight.absent_when)} is there, the sign that nothing was done")
    return tuple(lines)


def _explain_check(check: Check, before: Observation, after: Observation) -> str:
    wanted, gone = f"expected {_describe(check)}", isinstance(check, ZoneGone)
    if not _check(check, after, before.fingerprint):
        return f"{wanted}: it is still there" if gone else f"{wanted}: that is not to be seen"
    if not _is_sign(check):
        return f"{wanted}: it is, which alone proves nothing, since an error page does that too"
    if _check(check, before, None):
        return f"{wanted}: that was there before already, so it proves nothing"
    return f"{wanted}: that is there, but does not suffice alone"


def describe(expectation: Expectation) -> str:
    return expectation.says or " and ".join(_describe(check) for check in expectation.checks) or "nothing in particular"


def _describe(check: Check) -> str:
    match check:
        case ZoneAppears():
            return f"{_zone(check.role, check.label)} to appear"
        case ZoneGone():
            return f"{_zone(check.role, check.label)} to be gone"
        case ZoneHasState():
            return f"{_zone(check.role, check.label)} to have {check.state} {check.value!r}"
        case TextContains():
            return f"the text '{check.text}'"
        case SurfaceMatches():
            return f"the screen '{check.pattern}'"
        case FingerprintChanged():
            return "something to change"
        case _:
            assert_never(check)


def _zone(role: str, label: str) -> str:
    return f"{role or 'a zone'} '{label}'" if label else f"{role or 'a zone'}"
