"""Drift of sites: the probability of each kind of fault, at every page or request that it can happen to.

The same seed and the same requests always produce the same faults. Each kind is drawn separately, so two drifts that differ in
one rate differ in that kind of fault only.
"""

import json
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b

_LARGEST = 1 << 64


@dataclass(frozen=True, kw_only=True)
class Drift:
    """A rate for each kind of fault, from 0 to 1."""

    # of the pages
    popup: float = 0.0
    """A pop-up covers the page."""
    interrupted: float = 0.0
    """A pop-up covers the page as soon as the agent begins to enter something."""
    renamed: float = 0.0
    """Controls have other labels than usual."""
    moved: float = 0.0
    """Controls are in other places than usual: links in a menu, the fields of a form in another order."""
    failing: float = 0.0
    """An error page is shown instead."""
    # of all requests
    expired: float = 0.0
    """The session has ended, and the login page is shown instead."""
    slow: float = 0.0
    """The response is slow."""
    # of the requests that send something
    refused: float = 0.0
    """The response is a 503, and nothing is stored."""
    # of those that store something
    unanswered: float = 0.0
    """The effect is stored, and the response is a 504."""
    silent: float = 0.0
    """The effect is stored, and the same form is shown again without a confirmation."""
    # of the sites
    strict: float = 0.0
    """A field requires another format than usual. The form is shown again with the error, and with one choice reset."""

    # how long it takes
    slow_seconds: float = 1.5
    slow_to_confirm_seconds: float = 6.0
    """Seconds of a slow response after an effect was stored: longer than agents wait, while the form and its button are still usable."""

    def __post_init__(self) -> None:
        for kind in KINDS:
            if not 0.0 <= self.rate(kind) <= 1.0:
                raise ValueError(f"the rate of '{kind}' is a share of 1, not {self.rate(kind)!r}")

    def rate(self, kind: str) -> float:
        return getattr(self, kind)

    def times(self, factor: float) -> "Drift":
        """The same drift with all rates multiplied by `factor`, up to 1."""
        return replace(self, **{kind: min(1.0, round(self.rate(kind) * factor, 6)) for kind in KINDS})

    @property
    def digest(self) -> str:
        """A digest of all parameters, to record which drift a figure was measured under."""
        return blake2b(json.dumps(asdict(self), sort_keys=True).encode(), digest_size=8).hexdigest()


KINDS = tuple(field.name for field in fields(Drift) if not field.name.endswith("_seconds"))

CALM = Drift()

STORMY = Drift(
    popup=0.06,
    interrupted=0.05,
    renamed=0.10,
    moved=0.10,
    failing=0.04,
    expired=0.03,
    slow=0.06,
    refused=0.06,
    unanswered=0.15,
    silent=0.10,
    strict=0.30,
)
"""Two or three kinds of faults in a task of a dozen pages. One act in four that stores something is not confirmed."""


class Chance:
    """Draws at every page or request whether a fault is due."""

    def __init__(self, drift: Drift, seed: str) -> None:
        self._drift = drift
        self._seed = seed
        self._counts: dict[str, int] = {}

    def due(self, kind: str) -> bool:
        return bool(self._drift.rate(kind)) and self.draw(kind) < self._drift.rate(kind)

    def draw(self, what: str) -> float:
        """A pseudorandom number in [0, 1), a different one at each call."""
        count = self._counts[what] = self._counts.get(what, 0) + 1
        digest = blake2b(f"{self._seed} {what} {count}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) / _LARGEST

    def delay(self, *, stored: bool) -> float:
        """Seconds by which the next response is delayed."""
        if not self.due("slow"):
            return 0.0
        return self._drift.slow_to_confirm_seconds if stored else self._drift.slow_seconds
