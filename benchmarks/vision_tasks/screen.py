"""The rules' view of a screen that was read from a picture: a role may be mistaken for another, and a letter, too."""

import re
from difflib import SequenceMatcher
from itertools import pairwise

from benchmarks.miniwob_tasks.screen import NotSeen, Screen
from midcourse.domain.observation import Zone

ALIKE = 0.7
"""Share of the letters that two labels have in common if one is the other, misread."""
CROSS = ("x", "X", "×")
_MISREAD = str.maketrans({"l": "1", "I": "1", "|": "1", "O": "0", "o": "0", "—": "-", "–": "-", "X": "x"})


class PicturedScreen(Screen):
    """A label is found although it has another role or a letter is wrong; what is a cross is also called Close."""

    def find(self, label: str, *roles: str) -> Zone | None:
        return super().find(label, *roles) or next((zone for zone in self.zones if zone.label == label), None)

    def get(self, label: str, *roles: str) -> Zone:
        found = self.find(label, *roles)
        if found is None and label == "Close":
            found = next((zone for name in CROSS if (zone := self.find(name, "button"))), None)
        if found is None:
            ranked = sorted(self.zones, key=lambda zone: -_likeness(label, zone, roles))
            found = ranked[0] if ranked and _likeness(label, ranked[0], roles) >= ALIKE else None
        if found is None:
            raise NotSeen(f"nothing is labelled like '{label}'")
        return found

    def find_groups(self, pattern: str) -> tuple[str, ...]:
        """Also if the text was read without spaces, or continues on the next line."""
        texts = self.texts()
        for text in (*texts, *(" ".join(pair) for pair in pairwise(texts))):
            spaced = re.sub(r"\s+", " ", re.sub(r"([-+x=])", r" \1 ", text.translate(_MISREAD))).strip()
            if match := re.fullmatch(pattern, text) or re.fullmatch(pattern, spaced):
                return match.groups()
        raise NotSeen(f"nothing on the screen is of the form '{pattern}'")


def _likeness(label: str, zone: Zone, roles: tuple[str, ...]) -> float:
    ratio = SequenceMatcher(None, label.lower(), zone.label.lower()).ratio()
    return ratio + (0.05 if zone.role in roles else 0.0)
