"""Reads the forms of a page: what a form would send, which values of a request come from forms, and which change with each load."""

import hashlib
import re
import time
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from midcourse.domain.approval import CommitSet, FieldWords, Source
from midcourse.domain.argument import Pairs, Scalar
from midcourse.policy.generated import QUERY, looks_random
from midcourse.worlds.browser.egress.address import read_place
from midcourse.worlds.browser.egress.request import RAW, REDIRECTED, commit_set, describe_file, normalize_newlines

_PREFIX = re.compile(r"^\d+: ")
_DAY = 86_400.0
_SOON = 300.0
"""How many seconds the clock of a site may be ahead."""
_EPOCHS = {10: 1.0, 13: 1e3, 16: 1e6}
"""Ticks per second of a timestamp, by its number of digits."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a form. `served` is the value that a hidden field had when the page was loaded."""

    name: str
    hidden: bool
    value: str
    served: str | None
    type: str = ""
    """The HTML type: `text`, `password`, `submit`."""

    @property
    def original(self) -> str:
        return self.value if self.served is None else self.served


@dataclass(frozen=True, kw_only=True)
class Form:
    action: str
    fields: tuple[Field, ...]
    text: str = ""
    """All that it says, with the labels of its buttons; empty if it says more than fits."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields)

    def originals(self, name: str) -> list[str]:
        return sorted(field.original for field in self.fields if field.name == name)


@dataclass(frozen=True, kw_only=True)
class PageForms:
    """The forms of one document, and those of the requested texts that it contains."""

    url: str
    forms: tuple[Form, ...]
    shown: frozenset[str]
    language: str = ""
    """The language that the document declares, without a region: `en`."""
    typed: tuple[tuple[str, str], ...] = ()
    """Type and value of each visible `input`, those without a name too: scripts send what is in them."""
    words: tuple[FieldWords, ...] = ()
    """What the document says of its fields."""


def read_page_forms(answers: Iterable[dict[str, Any]]) -> tuple[PageForms, ...]:
    """Convert the answers of page_forms.js, one for each frame."""
    pages: list[PageForms] = []
    for answer in answers:
        forms: dict[int, tuple[str, list[Field]]] = {}
        for field in answer["fields"]:
            _, fields = forms.setdefault(field["form"], (field["action"], []))
            fields.append(Field(**{name: field[name] for name in ("name", "hidden", "value", "served", "type")}))
        page = PageForms(
            url=answer["url"],
            forms=tuple(
                Form(action=action, fields=tuple(fields), text=answer["texts"][number] if number >= 0 else "")
                for number, (action, fields) in forms.items()
            ),
            shown=frozenset(answer["shown"]),
            language=answer["language"],
            typed=tuple((kind, value) for kind, value in answer["typed"]),
            words=tuple(FieldWords(**said) for said in answer["words"]),
        )
        pages.append(page)
    return tuple(pages)


# --- what a form would send


def read_form_commit(form: dict[str, Any]) -> CommitSet | None:
    """Return the commit set of the request that this form, as read by forms.js, would send, or None if it would send none."""
    action = str(form["action"]).partition("#")[0]
    if not action.startswith(("http:", "https:")) or form["method"] == "dialog":
        return None
    if form["method"] != "post":
        return commit_set(f"GET {action.partition('?')[0]}", _text_values(form["values"]))
    match form["kind"]:
        case "multipart/form-data":
            values = tuple((str(value[0]), _sent_value(*value[1:])) for value in form["values"])
        case "text/plain":
            values = ((RAW, "".join(f"{name}={text}\n" for name, text in _text_values(form["values"]))),)
        case _:
            values = _text_values(form["values"])
    return commit_set(f"POST {action}", values)


def _text_values(values: list[list[str]]) -> Pairs:
    """Return all values as text. The encodings for which this is used send only the name of a file."""
    return tuple((normalize_newlines(value[0]), normalize_newlines(value[1])) for value in values)


def _sent_value(text: str, kind: str | None = None, content: str = "") -> str:
    return normalize_newlines(text) if kind is None else describe_file(text, kind, b64decode(content))


# --- where values come from


def find_generated_values(commit: CommitSet) -> list[str]:
    """Return values that may have been generated for this request. Those that are not on the page have been."""
    return sorted({str(value) for _, value in _all_values(commit) if looks_random(value) or is_now(value)})


def find_sources(commit: CommitSet, pages: Sequence[PageForms]) -> tuple[tuple[str, Source], ...]:
    """Return the source of each value, by name. Values of unknown source are left out."""
    form = _find_form(commit, pages)
    forms = [form] if form else [each for page in pages for each in page.forms]
    shown = frozenset[str]().union(*(page.shown for page in pages))
    found: dict[str, Source] = {}
    for name in dict.fromkeys(name for name, _ in _all_values(commit)):
        values = [value for known, value in _all_values(commit) if known == name]
        fields = [field for each in forms for field in each.fields if field.name == _PREFIX.sub("", name)]
        if _PREFIX.sub("", name) == REDIRECTED:
            found[name] = "fresh"  # not compared, because a redirect to the same address sends the same values
        elif fields and any(not field.hidden for field in fields):
            found[name] = "shown"
        elif fields:
            found[name] = "fresh" if all(map(is_now, values)) else "hidden"
        elif all((looks_random(value) or is_now(value)) and str(value) not in shown for value in values):
            found[name] = "fresh"
    return tuple(found.items())


def find_words(commit: CommitSet, pages: Sequence[PageForms]) -> tuple[FieldWords, ...]:
    """Return what the pages say of the values, by name and value. Where two fields say different things, neither counts."""
    said: dict[tuple[str, str], set[FieldWords]] = {}
    for words in (words for page in pages for words in page.words):
        said.setdefault((words.name, normalize_newlines(words.value)), set()).add(words)
    found: list[FieldWords] = []
    for name, value in dict.fromkeys((name, str(value)) for name, value in commit.values if value is not None):
        words = said.get((_PREFIX.sub("", name), value), set())
        if len(words) == 1:
            found.append(replace(words.pop(), name=name, value=value))
    return tuple(found)


def mask_passwords(commit: CommitSet, pages: Sequence[PageForms], named: Collection[str]) -> CommitSet:
    """Replace typed passwords in a commit set by their length and a digest, so that an approval still binds the password.

    Passwords that are `named` secrets are not replaced, since they are shown by their names.
    """
    fields = [field for page in pages for form in page.forms for field in form.fields]
    typed = {
        (field.name, field.value) for field in fields if field.type == "password" and field.value not in ("", *named)
    }

    def mask(name: str, value: Scalar) -> Scalar:
        return _digest_password(str(value)) if (_PREFIX.sub("", name), value) in typed else value

    words = tuple(replace(said, value=str(mask(said.name, said.value))) for said in commit.words)
    return replace(commit, values=tuple((name, mask(name, value)) for name, value in commit.values), words=words)


@lru_cache(maxsize=16)
def _digest_password(password: str) -> str:
    """Return a digest of a password. It is equal in every session, since duplicates are recognised by it; scrypt makes guessing slow."""
    digest = hashlib.scrypt(password.encode(errors="surrogatepass"), salt=b"midcourse", n=2**14, r=8, p=1, dklen=8)
    return f"<password of {len(password)} characters, digest {digest.hex()}>"


def is_now(value: Scalar, now: float | None = None) -> bool:
    """Whether a value is a timestamp of today, as a script or a form would write it. A date or a full minute does not count."""
    if value is None or isinstance(value, bool):
        return False
    now = time.time() if now is None else now
    text = str(value).strip()
    whole = text.partition(".")[0]
    if whole.isdecimal() and (ticks := _EPOCHS.get(len(whole))):
        return -_DAY <= int(whole) / ticks - now <= _SOON
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return False
    if read.tzinfo is None:
        return read.second + read.microsecond > 0 and abs(read.replace(tzinfo=UTC).timestamp() - now) <= 1.5 * _DAY
    return read.second + read.microsecond > 0 and -_DAY <= read.timestamp() - now <= _SOON


# --- values that change with each load


def find_form_page(commit: CommitSet, pages: Sequence[PageForms]) -> str:
    """Return the address of the document with the form that sends this, or of the first document if no form does."""
    form = _find_form(commit, pages)
    return next((page.url for page in pages if form in page.forms), pages[0].url if pages else "")


def find_changed_values(
    commit: CommitSet, names: Sequence[str], before: Sequence[PageForms], after: Sequence[PageForms]
) -> tuple[str, ...] | None:
    """Return which of these values differ between the page and the page loaded again, or None if the form was not found."""
    form = _find_form(commit, before)
    again = _find_same_form(form, after) if form else None
    if form is None or again is None:
        return None
    return tuple(name for name in names if _differs(name, form, again))


def _differs(name: str, form: Form, again: Form) -> bool:
    if name.startswith(QUERY):
        was, now = (parse_qsl(urlsplit(each.action).query, keep_blank_values=True) for each in (form, again))
        return [v for n, v in was if n == name[1:]] != [v for n, v in now if n == name[1:]]
    name = _PREFIX.sub("", name)
    return form.originals(name) != again.originals(name)


def _find_form(commit: CommitSet, pages: Sequence[PageForms]) -> Form | None:
    """Return the form that these values come from: of the forms with their address, the one that has most of them."""
    sent = {(_PREFIX.sub("", name), str(value)) for name, value in commit.values}
    return _find_nearest(commit.address.rpartition(" ")[2], sent, pages, lambda field: (field.name, field.value))


def _find_same_form(form: Form, pages: Sequence[PageForms]) -> Form | None:
    """Return the same form in the page loaded again: of the forms with its address, the one with the most values in common."""
    had = {(field.name, field.original) for field in form.fields}
    return _find_nearest(form.action, had, pages, lambda field: (field.name, field.original))


def _find_nearest(
    url: str, values: set[tuple[str, str]], pages: Sequence[PageForms], read: Callable[[Field], tuple[str, str]]
) -> Form | None:
    names = {name for name, _ in values}
    forms = [form for page in pages for form in page.forms if read_place(form.action) == read_place(url)]
    fitting = [form for form in forms if form.names & names]

    def count_common(form: Form) -> int:
        return sum(read(field) in values for field in form.fields)

    return max(fitting, key=count_common, default=None)


def _all_values(commit: CommitSet) -> list[tuple[str, Scalar]]:
    query = urlsplit(commit.address.rpartition(" ")[2]).query
    return [*((QUERY + name, value) for name, value in parse_qsl(query, keep_blank_values=True)), *commit.values]
