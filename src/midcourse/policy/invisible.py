"""Invisible characters, by Unicode category and Default_Ignorable_Code_Point, not by a list of known tricks.

Invisible characters may carry hidden text, reverse a line or control a terminal. They are spelled out wherever a
person or a model reads what a page wrote. Within an emoji, joiners and variation selectors are removed instead, so that the
emoji stays readable. Joiners in scripts that use them (Persian, Indic ones) are spelled out, since they can carry a message.
"""

import re
import unicodedata
from collections.abc import Callable

_IGNORABLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default_Ignorable_Code_Point, from Unicode's DerivedCoreProperties."""
BLANK = re.compile(rf"[\u2800{_IGNORABLE}]")
"""Characters that show nothing although they are in a category of visible characters, such as the braille pattern without dots."""
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_IN_EMOJI = re.compile(r"(?<=[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])(?:\ufe0f\u200d?|\u200d)")
"""A selector or joiner directly after a pictograph. No emoji has two in a row."""


def is_invisible(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN or BLANK.match(char) is not None


def spell_out(text: str, spell: Callable[[str], str]) -> str:
    """The text with all invisible characters spelled out."""
    if text.isprintable() and not BLANK.search(text):
        return text
    return "".join(spell(char) if is_invisible(char) else char for char in text)


def make_readable(text: str, spell: Callable[[str], str]) -> str:
    """The text with all invisible characters spelled out, except that joiners within emoji are removed."""
    return spell_out(text if text.isascii() else _IN_EMOJI.sub("", text), spell)
