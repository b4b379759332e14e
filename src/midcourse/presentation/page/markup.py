"""HTML that is safe by construction: text is escaped where it enters, and characters that show nothing are spelled out."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from midcourse.policy.invisible import make_readable

NAMES = {"\n": "↵", "\r": "␍", "\t": "⇥"}
VOID = ("img", "meta", "br")


class Markup(str):
    """Finished HTML. Only `element`, `text` and `join` make it, so a plain string is always treated as text."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | None"
NOTHING = Markup("")


def text(value: str) -> Markup:
    """Escape text of a page, a planner or a person. It is isolated, so that it cannot change the direction of the text around it."""
    return element("bdi", _escape_readably(value)) if value else NOTHING


def _escape_readably(value: str) -> Markup:
    spelled = make_readable(escape(value, quote=True), _spell)
    return Markup(spelled)


def _spell(char: str) -> str:
    name = NAMES.get(char) or f"U+{ord(char):04X}"
    return f'<span class="unseen">{name}</span>'


def element(name: str, /, *children: Child, **attributes: str | bool) -> Markup:
    """Make an element. The argument `class_` is the attribute class, and `data_x` is data-x."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value), quote=True)}"')
        for key, value in attributes.items()
        if value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[Child], between: str = "") -> Markup:
    """Join children. A plain string is escaped but not isolated, so it must be text of Midcourse itself."""
    parts = (child if isinstance(child, Markup) else escape(child) for child in children if child)
    return Markup(escape(between).join(parts))
