"""The little language of task files: references, arguments, expectations, probes, steps and rules.

`$input.x`, `$secret.x` and `$file.x` alone are references, filled in right before acting. Inside longer text, and
wherever no skill's argument is meant, only inputs can be named; their values are known and put in as the file is read.
`$$` is a plain dollar sign.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from glob import escape
from typing import cast

from midcourse.app.toml_table import Table
from midcourse.domain.argument import Argument, Arguments, Pairs, Reference, Scalar, Source
from midcourse.domain.expectation import (
    Check,
    Condition,
    Expectation,
    FingerprintChanged,
    Probe,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.errors import TaskInvalid
from midcourse.planners import Once, Rule, ZonePattern
from midcourse.policy.spelling import describe_unknown

EXPECTATION = (
    "zone_appears",
    "zone_gone",
    "zone_has_state",
    "text_contains",
    "surface_matches",
    "fingerprint_changed",
    "says",
)
STEP = ("zone", "skill", "arguments", "says", "expect", "absent_when", "probe", "transition", "needs", "gives", "once")

_ALONE = re.compile(r"\$(input|secret|file|result)\.([^\s$]+)")
_INSIDE = re.compile(r"\$(?:\$|(?P<source>[A-Za-z]\w*)(?:\.(?P<name>\w+))?)")


@dataclass(frozen=True, kw_only=True)
class Notation:
    """Reads the language in a file that declares these inputs, secrets and files."""

    inputs: Pairs = ()
    secrets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    # --- text and values

    def text(self, table: Table, key: str, default: str | None = None) -> str:
        return self._fill_in(table, key, table.text(key, default))

    def pattern(self, table: Table, key: str, default: str | None = None) -> str:
        """Text with wildcards. A star or @ in an input's value is only that character."""
        return self._fill_in(table, key, table.text(key, default), in_pattern=True)

    def scalar(self, table: Table, key: str) -> Scalar:
        """A value. An input alone keeps its type."""
        value = self.argument(table, key)
        if not isinstance(value, Reference):
            return value
        if value.source != "input":
            raise table.wrong(key, f"a {value.source} can only be an argument")
        return dict(self.inputs)[value.name]

    def argument(self, table: Table, key: str) -> Argument:
        value = table.scalar(key)
        if not isinstance(value, str):
            return value
        alone = _ALONE.fullmatch(value)
        if alone is None:
            return self._fill_in(table, key, value)
        source, name = cast(Source, alone[1]), alone[2]
        known = {"input": tuple(dict(self.inputs)), "secret": self.secrets, "file": self.files}
        if source in known and name not in known[source]:
            raise table.wrong(key, describe_unknown(source, name, known[source]))
        return Reference(source=source, name=name)

    def arguments(self, table: Table) -> Arguments:
        return tuple((name, self.argument(table, name)) for name in table)

    def options(self, table: Table) -> Mapping[str, object]:
        """What a table holds, however deep. Another module reads it; inputs are filled into its texts here."""
        return {key: self._option(table, key, table.values[key]) for key in table}

    def _option(self, table: Table, key: str, value: object) -> object:
        if isinstance(value, str):
            return self.scalar(Table({key: value}, file=table.file, path=table.path), key)
        if isinstance(value, dict):
            inner = Table(cast(dict[str, object], value), file=table.file, path=table.at(key))
            return self.options(inner)
        if isinstance(value, list):
            return [self._option(table, key, each) for each in cast(list[object], value)]
        return value

    def _fill_in(self, table: Table, key: str, text: str, *, in_pattern: bool = False) -> str:
        inputs = dict(self.inputs)

        def value(found: re.Match[str]) -> str:
            source, name = found["source"], found["name"]
            if source is None:
                return "$"
            if source in ("secret", "file", "result") and name:
                raise table.wrong(key, f"{found[0]} has to stand alone, and can only be an argument")
            if source != "input" or not name:
                raise table.wrong(key, f"{found[0]} means nothing; for a plain dollar sign write $$")
            if name not in inputs:
                raise table.wrong(key, describe_unknown("input", name, inputs))
            written = str(inputs[name]).lower() if isinstance(inputs[name], bool) else str(inputs[name])
            return escape(written).replace("@", "[@]") if in_pattern else written

        return _INSIDE.sub(value, text)

    # --- what must be true

    def condition(self, table: Table) -> Condition:
        """A probe, or an expectation."""
        if "probe" not in table:
            return self.expectation(table)
        beside = [key for key in table if key in EXPECTATION]
        if beside:
            raise table.wrong("", f"is either a probe or checks, not both: take out 'probe' or '{beside[0]}'")
        table.allow("probe", "arguments", "settles_after")
        return self._probe(table, "probe")

    def expectation(self, table: Table) -> Expectation:
        """All checks of the table together. A list under one key is as many checks."""
        table.allow(*EXPECTATION)
        appears, gone = self._zones(table, "zone_appears"), self._zones(table, "zone_gone")
        texts, surfaces = (table.texts(key, one_will_do=True) for key in ("text_contains", "surface_matches"))
        checks: tuple[Check, ...] = (
            *(ZoneAppears(role=zone.role, label=zone.label) for zone in appears),
            *(ZoneGone(role=zone.role, label=zone.label) for zone in gone),
            *(self._zone_has_state(inner) for inner in table.tables("zone_has_state", one_will_do=True)),
            *(TextContains(text=self._fill_in(table, "text_contains", text)) for text in texts),
            *(
                SurfaceMatches(pattern=self._fill_in(table, "surface_matches", each, in_pattern=True))
                for each in surfaces
            ),
            *((FingerprintChanged(),) if table.flag("fingerprint_changed") else ()),
        )
        says = self.text(table, "says", "")
        if not checks and not says:
            raise table.wrong("", f"says nothing; give one of {', '.join(EXPECTATION)}")
        return Expectation(checks=checks, says=says)

    def _zones(self, table: Table, key: str) -> list[ZonePattern]:
        return [self._zone(table, key, text) for text in table.texts(key, one_will_do=True)]

    def _zone(self, table: Table, key: str, text: str) -> ZonePattern:
        """Split first, filled in second: a colon in an input's value separates nothing."""
        pattern = ZonePattern.parse(text)
        return replace(pattern, label=self._fill_in(table, key, pattern.label, in_pattern=True))

    def _zone_has_state(self, table: Table) -> ZoneHasState:
        table.allow("zone", "state", "value")
        zone = self._zone(table, "zone", table.text("zone"))
        state, value = self.text(table, "state"), self.scalar(table, "value")
        return ZoneHasState(role=zone.role, label=zone.label, state=state, value=value)

    def probe(self, table: Table, key: str) -> Probe | None:
        """A probe's name alone, or a table with its name, arguments and settling time."""
        if key not in table:
            return None
        if isinstance(table.values[key], str):
            return Probe(name=table.text(key))
        inner = table.table(key)
        inner.allow("name", "arguments", "settles_after")
        return self._probe(inner, "name")

    def _probe(self, table: Table, name: str) -> Probe:
        arguments = self.arguments(table.table("arguments"))
        return Probe(name=table.text(name), arguments=arguments, settles_after=table.seconds("settles_after"))

    # --- what to do

    def draft(self, table: Table, *, zone_is_pattern: bool = True) -> Draft:
        """One step. What is done `once` comes back as such."""
        table.allow(*STEP)
        zone, says = table.text("zone"), self.text(table, "says", "")
        if zone == REPLAN:
            table.allow("zone", "says")
            return Draft(zone=zone, says=says)
        if zone != GLOBAL:
            zone = str(self._zone(table, "zone", zone)) if zone_is_pattern else self.text(table, "zone")
        once = table.flag("once")
        if once and not says:
            raise table.wrong("once", "needs 'says' beside it: a completed step is recognised by what it says")
        kind = Once if once else Draft
        return kind(
            zone=zone,
            skill=table.text("skill"),
            arguments=self.arguments(table.table("arguments")),
            expect=self._optional_expectation(table, "expect"),
            absent_when=self._optional_expectation(table, "absent_when"),
            probe=self.probe(table, "probe"),
            transition=table.flag("transition"),
            needs=table.texts("needs", one_will_do=True),
            gives=table.texts("gives", one_will_do=True),
            says=says,
        )

    def rule(self, table: Table) -> Rule:
        table.allow("on", "when", "steps", "final", "done", "impossible")
        on, when = self.pattern(table, "on", "*"), self._optional_expectation(table, "when")
        if when and (not when.checks or FingerprintChanged() in when.checks):
            raise table.wrong(
                "when", "has to be checked on one screen alone: neither 'says' nor 'fingerprint_changed' can"
            )
        steps = tuple(self.draft(step) for step in table.tables("steps"))
        final, done, impossible = table.flag("final"), bool(table.flag("done")), self.text(table, "impossible", "")
        try:
            return Rule(on=on, when=when, steps=steps, final=final, done=done, impossible=impossible)
        except TaskInvalid as error:
            raise table.wrong("", str(error)) from None

    def _optional_expectation(self, table: Table, key: str) -> Expectation | None:
        return self.expectation(table.table(key)) if key in table else None
