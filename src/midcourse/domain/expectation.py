"""Expectations of a step, and probes that find out whether its effect happened.

Labels, titles and patterns match like file names: `*` stands for anything, letters must match exactly.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.argument import Argument, Scalar
from midcourse.domain.fields import NONE, Named, Several, keep_named, keep_several


@dataclass(frozen=True, kw_only=True)
class ZoneAppears:
    """A zone with this role and label is on the screen. An empty role or label matches any."""

    label: str = ""
    role: str = ""
    kind: Literal["zone_appears"] = "zone_appears"


@dataclass(frozen=True, kw_only=True)
class ZoneGone:
    """No zone with this role and label is on the screen."""

    label: str = ""
    role: str = ""
    kind: Literal["zone_gone"] = "zone_gone"


@dataclass(frozen=True, kw_only=True)
class ZoneHasState:
    """A zone with this role and label has `state` equal to `value`. In a text, `*` stands for anything."""

    state: str
    value: Scalar
    label: str = ""
    role: str = ""
    kind: Literal["zone_has_state"] = "zone_has_state"


@dataclass(frozen=True, kw_only=True)
class TextContains:
    """Some zone's label or text state, or the surface's title, contains this text, in which `*` stands for anything.

    A text without capitals is also found where it is written with some.
    """

    text: str
    kind: Literal["text_contains"] = "text_contains"


@dataclass(frozen=True, kw_only=True)
class SurfaceMatches:
    """The surface's title or address matches this pattern."""

    pattern: str
    kind: Literal["surface_matches"] = "surface_matches"


@dataclass(frozen=True, kw_only=True)
class FingerprintChanged:
    """The screen differs from the previous one in any way."""

    kind: Literal["fingerprint_changed"] = "fingerprint_changed"


Check: TypeAlias = Annotated[
    ZoneAppears | ZoneGone | ZoneHasState | TextContains | SurfaceMatches | FingerprintChanged,
    Discriminator("kind"),
]


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """Checks that must all hold, and their meaning in words. Without checks, a model judges the words."""

    checks: Several[Check] = NONE
    says: str = ""
    kind: Literal["expectation"] = "expectation"

    def __post_init__(self) -> None:
        keep_several(self, "checks")


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A read-only check of the world, possibly on another surface, that tells whether an effect happened.

    'Absent' counts only after `settles_after` seconds have passed since the act was barred; 'present' counts immediately.
    """

    name: str
    arguments: Named[Argument] = NONE
    settles_after: float = 0.0
    negated: bool = False
    """Whether the probe checks that an effect was reverted: if it finds the effect, it was not."""
    kind: Literal["probe"] = "probe"

    def __post_init__(self) -> None:
        keep_named(self, "arguments")


Condition: TypeAlias = Annotated[Expectation | Probe, Discriminator("kind")]
