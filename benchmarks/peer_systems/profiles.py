"""Profiles of the scripted model: trusting, careful, and trusting with errors.

A hash of application, seed and decision draws the errors, so that every system meets the same errors, and a higher rate includes the
errors of a lower one. Each error is made once: when the page reports it, the model corrects it.
"""

import hashlib
from dataclasses import replace

from benchmarks.llm.decisions import Move, Page, Policy

OTHER_OPTIONS = {"High": "Low", "Damage": "Delivery", "Express": "Pick up"}


def choose_policy(profile: str) -> Policy:
    return "careful" if profile == "careful" else "trusting"


def choose_rate(profile: str) -> float:
    """Errors for each decision, such as a field to fill in or a button to press."""
    return int(profile.removeprefix("erring-")) / 100 if profile.startswith("erring-") else 0.0


class Errors:
    """Makes errors in decisions: another value, a click elsewhere, or 'done' too early."""

    def __init__(self, app: str, seed: int, rate: float) -> None:
        self._case = f"{app} {seed}"
        self._rate = rate
        self.made: list[str] = []

    def spoil(self, moves: list[Move], page: Page) -> list[Move]:
        """Return the moves, some with wrong values; if a click is drawn as an error, only the wrong click."""
        spoiled: list[Move] = []
        for move in moves:
            if not self._is_drawn(move):
                spoiled.append(move)
                continue
            self.made.append(move.says)
            if move.kind in ("type", "select"):
                spoiled.append(replace(move, value=make_wrong(move.value)))
                continue
            return [self._make_wrong_click(move, page)]
        return spoiled

    def _is_drawn(self, move: Move) -> bool:
        possible = move.kind in ("type", "select", "click") and move.says not in self.made
        return possible and self._draw(move.says) < self._rate

    def _make_wrong_click(self, move: Move, page: Page) -> Move:
        links = [each for each in page.elements.values() if each.role == "link" and each != move.element]
        if move.final or not links or self._draw(f"{move.says}?") < 0.5:
            return Move(kind="done", says="everything is done")
        return Move(kind="click", element=links[0], says=f"Open {links[0].name}")

    def _draw(self, decision: str) -> float:
        digest = hashlib.sha256(f"{self._case} {decision}".encode()).digest()[:8]
        return int.from_bytes(digest) / 2**64


def make_wrong(value: str) -> str:
    return OTHER_OPTIONS.get(value, value[:-1] + ("3" if value[-1:] != "3" else "4"))
