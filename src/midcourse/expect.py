"""Expectations and probes: how a step, or a whole task, is checked against the world; and how a skill is undone."""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.domain.argument import Reference as Reference
    from midcourse.domain.expectation import Expectation as Expectation
    from midcourse.domain.expectation import FingerprintChanged as FingerprintChanged
    from midcourse.domain.expectation import Probe as Probe
    from midcourse.domain.expectation import SurfaceMatches as SurfaceMatches
    from midcourse.domain.expectation import TextContains as TextContains
    from midcourse.domain.expectation import ZoneAppears as ZoneAppears
    from midcourse.domain.expectation import ZoneGone as ZoneGone
    from midcourse.domain.expectation import ZoneHasState as ZoneHasState
    from midcourse.domain.skill import Undo as Undo
