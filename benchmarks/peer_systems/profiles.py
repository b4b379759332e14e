"""Profiles of the scripted model: trusting, careful, and trusting with errors.

An error is drawn by a hash of application, seed and what is to be done, so every system meets the same errors, and those of a low rate
are among those of a higher one. Each is made once: told by the page that something is wrong, the model does it right.
"""

import hashlib
from dataclasses import replace

from benchmarks.llm.decisions import Move, Page, Policy

OTHER_OPTIONS = {"High": "Low", "Damage": "Delivery", "Express": "Pick up"}


def policy_of(profile: str) -> Policy:
    return "careful" if profile == "careful" else "trusting"


def rate_of(profile: str) -> float:
    """Errors for each decision, such as a field to fill in or a button to press."""
    return int(profile.removeprefix("erring-")) / 100 if profile.startswith("erring-") else 0.0


class Errors:
    """Spoils decisions: another value, a click elsewhere, or 'done' too early."""

    def __init__(self, app: str, seed: int, rate: float) -> None:
        self._about = f"{app} {seed}"
        self._rate = rate
        self.made: list[str] = []

    def spoil(self, moves: list[Move], page: Page) -> list[Move]:
        """The moves with wrong values among them; or, if a click is among the errors, that error alone."""
        spoilt: list[Move] = []
        for move in moves:
            if not self._errs(move):
                spoilt.append(move)
                continue
            self.made.append(move.says)
            if move.kind in ("type", "select"):
                spoilt.append(replace(move, value=wrong(move.value)))
                continue
            return [self._elsewhere(move, page)]
        return spoilt

    def _errs(self, move: Move) -> bool:
        possible = move.kind in ("type", "select", "click") and move.says not in self.made
        return possible and self._draw(move.says) < self._rate

    def _elsewhere(self, move: Move, page: Page) -> Move:
        links = [each for each in page.elements.values() if each.role == "link" and each != move.element]
        if move.final or not links or self._draw(f"{move.says}?") < 0.5:
            return Move(kind="done", says="everything is done")
        return Move(kind="click", element=links[0], says=f"Open {links[0].name}")

    def _draw(self, what: str) -> float:
        drawn = hashlib.sha256(f"{self._about} {what}".encode()).digest()[:8]
        return int.from_bytes(drawn) / 2**64


def wrong(value: str) -> str:
    return OTHER_OPTIONS.get(value, value[:-1] + ("3" if value[-1:] != "3" else "4"))
