"""Evidence from responses: whether the response to a request, and the page it led to, show that the server accepted it.

This is weak evidence. With it, a run may continue and never sends the request again, but it does not verify the goal. If
anything speaks against it (a sign-in, the same form again, words of failure, or a language without words of failure
in this module), the outcome stays unknown.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from midcourse.domain.approval import CommitSet
from midcourse.domain.outcome import REFUSED_BY_SERVER, SIGN_IN_REFUSED, SIGNED_IN, Outcome
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
_FAILURE = re.compile(
    r"(?ix)\b(?:"
    # English
    r"errors?|fail(?:s|ed|ure)?|could\s?n[o']t|could\s+not|can(?:not|'t|\s+not)|unable|invalid|incorrect|wrong|sorry|oops|"
    r"denied|declined|rejected|refused|forbidden|unsuccessful|expired|timed\s+out|out\s+of\s+stock|sold\s+out|unavailable|"
    r"try\s+again|please\s+(?:correct|sign|log)|"
    r"already\s+(?:exists?|taken|registered|used)|too\s+(?:many|long|short|large)|insufficient|exceed(?:s|ed)|conflict|"
    r"(?:not|n't)\s+(?:been\s+)?(?:available|allowed|permitted|possible|found|accepted|processed|saved|sent|stored|completed|placed|"
    r"created|successful|valid|enough|match)|"
    # German
    r"fehler\w*|fehlgeschlagen|ung(?:ü|ue)ltig\w*|leider|nicht\s+(?:m(?:ö|oe)glich|verf(?:ü|ue)gbar|gefunden|gespeichert|gesendet|erlaubt)|"
    r"konnte\w*\s+nicht|ausverkauft|abgelehnt|abgelaufen|erneut\s+versuchen|versuchen\s+sie\s+es|"
    # French
    r"erreurs?|(?:é|e)chec|(?:é|e)chou(?:é|e)\w*|impossible|invalides?|d(?:é|e)sol(?:é|e)\w*|indisponible|rupture\s+de\s+stock|"
    r"refus(?:é|e)\w*|expir(?:é|e)\w*|r(?:é|e)essay\w*|n'a\s+pas\s+(?:pu|(?:é|e)t(?:é|e))|"
    # Spanish, Portuguese
    r"no\s+se\s+(?:ha\s+)?pud\w*|inv(?:á|a)lid\w*|lo\s+sentimos|agotad\w*|rechazad\w*|int(?:é|e)nt\w+\s+de\s+nuevo|caducad\w*|"
    r"erros?|falhou|falha|n(?:ã|a)o\s+foi\s+poss(?:í|i)vel|esgotad\w*|recusad\w*|tente\s+novamente|expirad\w*|"
    # Italian, Dutch
    r"errore|fallit\w*|non\s+(?:è\s+)?(?:stato\s+)?(?:possibile|valid\w*|disponibile|riuscit\w*)|esaurit\w*|rifiutat\w*|riprova\w*|scadut\w*|"
    r"fout(?:en|melding)?|mislukt|ongeldig\w*|helaas|uitverkocht|geweigerd|verlopen|niet\s+(?:mogelijk|beschikbaar|gelukt|gevonden|verzonden)"
    r")\b"
)
"""Words with which pages say that something was refused or failed, in the languages of `_READ`."""
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
    outcome: Outcome, sent: Sequence[OutgoingRequest], before: Shown, after: Shown, sign_ins: SignIns
) -> Outcome:
    """Return the outcome with the evidence of the responses and of the page that they led to."""
    if _is_accepted(sent, before, after, sign_ins):
        signed_in = is_sign_in_address(before.scene.surface.address) and _is_sign_in_of(before.pages, sent)
        return replace(outcome, evidence="response", reason=SIGNED_IN if signed_in else "")
    if _is_sign_in_of(after.pages, sent):
        return replace(outcome, status="unknown", reason=SIGN_IN_REFUSED)
    if sign_ins.has_led_to_sign_in(before.scene, after.scene):
        # A sign-in page came instead of the requested one, so the user's session has ended.
        return replace(outcome, status="unknown", reason="signed_out")
    if sent and all(each.response.status in _REFUSED for each in sent):
        return replace(outcome, status="unknown", reason=REFUSED_BY_SERVER)
    return outcome


def _is_accepted(sent: Sequence[OutgoingRequest], before: Shown, after: Shown, sign_ins: SignIns) -> bool:
    """Whether each unsafe request got a good response that led to neither a sign-in nor an error."""
    unsafe = [each for each in sent if _is_unsafe(each)]
    if not unsafe or any(zone.id == "dialog" for zone in after.scene.zones):
        return False
    if not all(_is_good_response(each) for each in unsafe):
        return False
    if sign_ins.asks(before.scene, after.scene) or _shows_refusal(after):
        return False
    return not _still_shows_form(unsafe, before, after) and not _has_new_failures(before.scene, after.scene)


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
        return _FAILURE.search(text) is not None
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
    return name in ("detail", "message", "reason", "title") and isinstance(value, str) and bool(_FAILURE.search(value))


def _shows_refusal(after: Shown) -> bool:
    """Whether the page is an error, marks a field as invalid, or is written in a language that `_READ` does not list."""
    page = next((zone for zone in after.scene.zones if zone.id == "page"), None)
    status = page.get("status") if page else None
    if page is None or not isinstance(status, int) or not 200 <= status < 400:
        return True
    if any(page.get(problem) for problem in ("error", "crashed", "silent")):
        return True
    marked = any(zone.get("invalid") for zone in after.scene.zones)
    return marked or any(each.language and each.language not in _READ for each in after.pages[:1])


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
    return any(_FAILURE.search(line) for line in _lines(after) if line not in known)


def _lines(scene: Scene) -> Iterable[str]:
    """Yield the lines in which the site may report the outcome: not what a field is called, and not what was entered."""
    yield scene.surface.title
    yield from (zone.label for zone in scene.zones if zone.role not in (*_FIELDS, "page", "tab", "request", "option"))
