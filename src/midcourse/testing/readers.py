"""Readers without a model: what they say is written down beforehand. The last answer is repeated."""

from collections.abc import Sequence
from typing import TypeVar

from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Zone
from midcourse.errors import TaskInvalid
from midcourse.ports.extractor import Extract, Wanted
from midcourse.ports.reader import Picture, Sighting
from midcourse.ports.verifier import Claim, Verdict

T = TypeVar("T")


class ScriptedVerifier:
    """Says yes, no or nothing, in turn; `claims` has what it was asked."""

    def __init__(self, *verdicts: Verdict | bool | None) -> None:
        self._verdicts = [each if isinstance(each, Verdict) else Verdict(holds=each) for each in verdicts]
        self.claims: list[Claim] = []

    async def verify(self, claim: Claim) -> Verdict:
        self.claims.append(claim)
        return _nth(self._verdicts, len(self.claims))


class ScriptedExtractor:
    """Brings back this, in turn; `wanted` has what it was asked for."""

    def __init__(self, *extracts: Extract | Pairs) -> None:
        self._extracts = [each if isinstance(each, Extract) else Extract(data=each) for each in extracts]
        self.wanted: list[Wanted] = []

    async def extract(self, wanted: Wanted) -> Extract:
        self.wanted.append(wanted)
        return _nth(self._extracts, len(self.wanted))


class ScriptedReader:
    """Makes out these zones, in turn; `pictures` has what it was shown."""

    def __init__(self, *sightings: Sighting | tuple[Zone, ...]) -> None:
        self._sightings = [each if isinstance(each, Sighting) else Sighting(zones=each) for each in sightings]
        self.pictures: list[Picture] = []

    async def read(self, picture: Picture) -> Sighting:
        self.pictures.append(picture)
        return _nth(self._sightings, len(self.pictures))


def _nth(answers: Sequence[T], n: int) -> T:
    if not answers:
        raise TaskInvalid("a scripted reader needs at least one answer")
    return answers[min(n, len(answers)) - 1]
