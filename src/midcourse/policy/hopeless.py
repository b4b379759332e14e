"""Is it any use to plan again? Not if no new plan ever mended this failure, in any run that met it of late.

A few runs try all the same, or nobody would notice that the cause is gone.
"""

from midcourse.domain.budget import Limits
from midcourse.domain.failure import Track
from midcourse.policy.chance import chance


def why_hopeless(limits: Limits, track: Track | None) -> str:
    """The numbers that speak against another plan, or nothing."""
    after = limits.lesson_stop_after
    if track is None or after is None or track.mended or track.unmended < after or track.lot < limits.lesson_tries:
        return ""
    numbers = f"of the last {track.unmended} runs that met this and planned again, 0 got past it"
    known_as = f"lesson {track.lesson}; " if track.lesson else ""
    return f"{numbers}; {known_as}{limits.lesson_tries:.0%} of runs try all the same"


def lot_of(run_id: str, lesson: str) -> float:
    """For this run and this failure, the same whenever it is drawn again."""
    return chance("lesson", run_id, lesson)
