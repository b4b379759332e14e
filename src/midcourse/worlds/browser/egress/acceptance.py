"""Evidence from responses: whether the response to a request, and the page it led to, show that the server accepted it.

This is weak evidence. With it, a run may continue and never sends the request again, but it does not verify the goal. If
anything speaks against it (a sign-in, the same form again, words of failure, or a language without words of failure
in this module), the outcome stays unknown.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from midcourse.domain.approval import CommitSet
from midcourse.domain.outcome import ANSWERED_WITH_ERROR, REFUSED_BY_SERVER, SIGN_IN_REFUSED, SIGNED_IN, Outcome
from midcourse.policy.evidence.quotation import FAILURE
from midcourse.policy.generated import is_volatile_name, looks_random
from midcourse.worlds.base import Scene
from midcourse.worlds.browser.egress.address import read_place
from midcourse.worlds.browser.egress.outbox import OutgoingRequest
from midcourse.worlds.browser.egress.policy import SAFE_METHODS
from midcourse.worlds.browser.egress.sign_in import SignIns, is_sign_in_address, is_sign_in_form
from midcourse.worlds.browser.page.forms import Form, PageForms

_REDIRECTS = (301, 302, 303)
_EXPLICIT = (201, 202, 204)
"""Statuses that a server chooses to say that it carried out a request, unlike 200, which is the default."""
_REFUSED = (400, 403, 404, 405, 410, 413, 414, 415, 419, 422, 431)
"""Statuses by which a server says that it did not carry out a request. Not 409, since what is requested may exist already."""
_BUTTONS = ("button", "image", "reset", "submit")
_FIELDS = ("textbox", "searchbox", "combobox", "listbox", "spinbutton", "checkbox", "radio", "switch", "slider")
_READ = ("de", "en", "es", "fr", "it", "nl", "pt")
_REFUSALS = (
    "cancelled",
    "declined",
    "denied",
    "error",
    "fail",
    "failed",
    "failure",
    "invalid",
    "ko",
    "refused",
    "rejected",
)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the browser shows at one time, and the forms of its documents."""

    scene: Scene
    pages: Sequence[PageForms]


def add_response_evidence(
    outcome: Outcome,
    sent: Sequence[OutgoingRequest],
    before: Shown,
    after: Shown,
    sign_ins: SignIns,
    *,
    fills_in: bool = False,
) -> Outcome:
    """Return the outcome with the evidence of the responses and of the page that they led to.

    `fills_in`: the act only fills in a part of a form, as an upload or an autocompletion does, so that the form stays in any case.
    """
    if _is_accepted(sent, before, after, sign_ins, fills_in=fills_in):
        signed_in = is_sign_in_address(before.scene.surface.address) and _is_sign_in_of(before.pages, sent)
        return replace(outcome, evidence="response", reason=SIGNED_IN if signed_in else "")
    if _is_sign_in_of(after.pages, sent):
        return replace(outcome, status="unknown", reason=SIGN_IN_REFUSED)
    if sign_ins.has_led_to_sign_in(before.scene, after.scene):
        # A sign-in page came instead of the requested one, so the user's session has ended.
        return replace(outcome, status="unknown", reason="signed_out")
    if sent and all(each.response.status in _REFUSED for each in sent):
        return replace(outcome, status="unknown", reason=REFUSED_BY_SERVER)
    return replace(outcome, reason=ANSWERED_WITH_ERROR) if has_error(sent) else outcome


def find_refused_sign_in(outcome: Outcome, sent: Sequence[OutgoingRequest], after: Shown) -> Outcome:
    """Return the outcome of a sign-in that left without a question: refused if the server says so, or the same sign-in comes again."""
    refused = has_error(sent) or _is_sign_in_of(after.pages, sent)
    return replace(outcome, status="failed", reason=SIGN_IN_REFUSED) if refused and outcome.status == "ok" else outcome


def has_error(sent: Sequence[OutgoingRequest]) -> bool:
    """Whether a request that may have had an effect was answered by an error status. What the page says then counts for nothing."""
    return any((each.response.status or 0) >= 400 for each in sent if _is_unsafe(each))


def _is_accepted(
    sent: Sequence[OutgoingRequest], before: Shown, after: Shown, sign_ins: SignIns, *, fills_in: bool
) -> bool:
    """Whether each unsafe request got a good response that led to neither a sign-in nor an error."""
    unsafe = [each for each in sent if _is_unsafe(each)]
    if not unsafe or any(zone.id == "dialog" for zone in after.scene.zones):
        return False
    if not all(_is_good_response(each) for each in unsafe):
        return False
    stays = fills_in and not any(each.request.is_navigation for each in unsafe)
    # Another field of the same form may be marked all the while, as a number that its step does not fit.
    marked = {zone.label for zone in before.scene.zones if stays and zone.get("invalid")}
    if sign_ins.asks(before.scene, after.scene) or _shows_refusal(after, marked):
        return False
    return (stays or not _still_shows_form(unsafe, before, after)) and not _has_new_failures(before.scene, after.scene)


def _is_sign_in_of(pages: Sequence[PageForms], sent: Sequence[OutgoingRequest]) -> bool:
    """Whether what was sent is a sign-in on one of these pages: a form with a user name, a password and nothing else to fill in.

    A form with only a password may confirm something else, and one with more fields may register a user.
    """
    unsafe = [each for each in sent if _is_unsafe(each)]
    if len(unsafe) != 1 or not unsafe[0].request.is_navigation or not _is_good_response(unsafe[0]):
        return False
    names = {name for name, _ in unsafe[0].request.commit.values}
    forms = [form for page in pages for form in page.forms if _leads_to(form, unsafe[0])]
    return any(is_sign_in_form(form) and names <= form.names for form in forms)


def _is_unsafe(sent: OutgoingRequest) -> bool:
    return sent.request.method not in SAFE_METHODS or bool(sent.request.method_override)


def _is_good_response(sent: OutgoingRequest) -> bool:
    status = sent.response.status
    if status is None or not (200 <= status < 300 or status in _REDIRECTS):
        return False
    return sent.request.is_navigation or not _reports_failure(sent.response.text)


def _reports_failure(text: str) -> bool:
    """Whether the response to a script's request reports a failure. Text that is not JSON is read like a page."""
    try:
        answer: object = json.loads(text)
    except ValueError:
        return FAILURE.search(text) is not None
    return any(_is_refusal(name, value) for name, value in _list_members(answer))


def _list_members(value: object, name: str = "") -> Iterable[tuple[str, object]]:
    if isinstance(value, dict):
        for key, inner in cast(dict[str, object], value).items():
            yield from _list_members(inner, key.lower())
            yield key.lower(), inner
    elif isinstance(value, list):
        for inner in cast(list[object], value):
            yield from _list_members(inner, name)
    else:
        yield name, value


def _is_refusal(name: str, value: object) -> bool:
    if name.startswith(("error", "exception", "fault", "problem", "violation")):
        return bool(value)
    if name in ("accepted", "ok", "saved", "success", "successful", "succeeded", "valid"):
        return value is False or value == 0
    if name in ("code", "result", "state", "status"):
        return (isinstance(value, str) and value.lower() in _REFUSALS) or (isinstance(value, int) and value >= 400)
    return name in ("detail", "message", "reason", "title") and isinstance(value, str) and bool(FAILURE.search(value))


def _shows_refusal(after: Shown, marked: Collection[str]) -> bool:
    """Whether the page is an error, marks a field as invalid that was not `marked`, or is written in a language that `_READ` does not list."""
    page = next((zone for zone in after.scene.zones if zone.id == "page"), None)
    status = page.get("status") if page else None
    if page is None or not isinstance(status, int) or not 200 <= status < 400:
        return True
    if any(page.get(problem) for problem in ("error", "crashed", "silent")):
        return True
    refuses = any(zone.get("invalid") and zone.label not in marked for zone in after.scene.zones)
    return refuses or any(each.language and each.language not in _READ for each in after.pages[:1])


def _still_shows_form(sent: Sequence[OutgoingRequest], before: Shown, after: Shown) -> bool:
    """Whether the page offers the same again, as forms do that found a mistake."""
    if any(each.request.is_navigation for each in sent):
        forms = [form for page in after.pages for form in page.forms]
        return any(_sends_same(form, each.request.commit) for form in forms for each in sent if _leads_to(form, each))
    if all(each.response.status in _EXPLICIT for each in sent):
        return False
    shown = _shown_fields(before.scene)  # some, such as a search, may be on every page
    same_place = read_place(before.scene.surface.address) == read_place(after.scene.surface.address)
    return same_place and bool(shown) and shown <= _shown_fields(after.scene)


def _leads_to(form: Form, sent: OutgoingRequest) -> bool:
    return read_place(form.action) == read_place(sent.request.url)


def _sends_same(form: Form, commit: CommitSet) -> bool:
    """Whether the form has a visible field of this request or, if it has none, would send the same hidden values.

    Tokens may differ. The pages of a wizard have other visible fields, or another hidden number.
    """
    values = dict(commit.values)
    shown = {field.name for field in form.fields if not field.hidden and field.type not in _BUTTONS}
    if shown:
        return not shown.isdisjoint(values)
    return form.names <= values.keys() and all(
        field.value == values[field.name] or is_volatile_name(field.name) or looks_random(field.value)
        for field in form.fields
        if field.hidden
    )


def _shown_fields(scene: Scene) -> set[tuple[str, str]]:
    return {(zone.role, zone.label) for zone in scene.zones if zone.role in _FIELDS}


def _has_new_failures(before: Scene, after: Scene) -> bool:
    """Whether the page has words of failure that the page before did not have."""
    known = set(_lines(before))
    return any(FAILURE.search(line) for line in _lines(after) if line not in known)


def _lines(scene: Scene) -> Iterable[str]:
    """Yield the lines in which the site may report the outcome: not what a field is called, and not what was entered."""
    yield scene.surface.title
    yield from (zone.label for zone in scene.zones if zone.role not in (*_FIELDS, "page", "tab", "request", "option"))
