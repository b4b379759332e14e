"""What kind of failure is this? By its reason, a slug that skills and ports choose with care."""

from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["transient", "structural", "other"]

KINDS: dict[str, Kind] = {
    # The same step may well work in a moment.
    "busy": "transient",
    "grasp_slipped": "transient",
    "no_effect": "transient",
    "not_dispatched": "transient",
    "object_moved": "transient",
    "timeout": "transient",
    "transient": "transient",
    # No step of this kind can ever work from here.
    "unreachable": "structural",
    "not_permitted": "structural",
    "impossible": "structural",
}

AT_ONCE = ("not_dispatched",)
"""Nothing was tried yet, so there is nothing to wait for."""

OUT_OF_SIGHT = ("target_not_visible", "stale_target")
"""Nothing was tried, because the target could not be seen. Whoever sees it again may try."""


def kind_of(reason: str) -> Kind:
    return KINDS.get(reason, "other")
