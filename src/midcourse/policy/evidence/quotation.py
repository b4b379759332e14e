"""Quotations: when the words that a model quotes from a screen count as a sign that an act happened.

A page may say anything, and a model may misread it or make words up. So the words have to be there, they must not have been there
before the act, in whole or in what matters of them, they must say more than the run itself has entered, and nothing new on the
screen may speak of a failure. Even then they are the weakest evidence: they never say that nothing happened, and verify nothing.
"""

import re
import unicodedata
from collections.abc import Iterable

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation

FAILURE = re.compile(
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
"""Words with which pages say that something was refused or failed, in seven languages."""

_WORD = re.compile(r"\w+")
FIELDS = ("textbox", "searchbox", "combobox", "listbox", "spinbutton", "option")
_OURS = ("request", "page", "tab")
"""Roles of zones that are not written by the page, but by the world that shows it."""
LONGEST_QUOTE = 300


def why_not_a_sign(quote: str, before: Observation, after: Observation, entered: Iterable[Scalar]) -> str:
    """Why these words, quoted from the screen after an act, are not a sign that it happened; empty if they are one.

    `entered` is what the run has typed or sent so far. A word that is neither of it nor of the screen before must be among the
    quoted ones: a page that greets, counts or repeats what it is told says nothing about the act.
    """
    words = _words(quote)
    if not words or len(quote) > LONGEST_QUOTE:
        return "nothing is quoted"
    if not any(_contains(text, words) for text in _list_texts(after)):
        return "the quoted words are not on the screen"
    if any(_contains(text, words) for text in (*_list_texts(before), " ".join(_list_texts(before)))):
        return "the quoted words were there before"
    known = {word for text in _list_texts(before) for word in _words(text)}
    known |= {word for value in entered for word in _words(str(value))}
    if not any(word not in known and any(map(str.isalpha, word)) for word in words):
        return "the quoted words repeat what was there before or was entered"
    return "the screen speaks of a failure" if has_new_failure(before, after) else ""


def has_new_failure(before: Observation, after: Observation) -> bool:
    """Whether the screen has words of failure that the screen before did not have."""
    old = {_join(text) for text in _list_texts(before)}
    return any(FAILURE.search(text) for text in _list_texts(after) if _join(text) not in old)


def _list_texts(screen: Observation) -> list[str]:
    """What the page itself says: no field with what was entered there, and nothing that the world adds."""
    zones = (zone for zone in screen.zones if zone.role not in (*FIELDS, *_OURS))
    return [screen.surface.title, *(zone.label for zone in zones)]


def _contains(text: str, words: list[str]) -> bool:
    return f" {' '.join(words)} " in f" {_join(text)} "


def _join(text: str) -> str:
    return " ".join(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
