"""The notation of task files: references, arguments, expectations, probes, steps and rules.

An argument of a skill that consists of `$input.x`, `$secret.x` or `$file.x` alone is a reference, which is filled in right before the
act. Inside longer text, and everywhere else, only inputs can be named; their values are filled in when the file is read.
`$$` is a plain dollar sign.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from glob import escape
from typing import cast

from midcourse.config.toml_table import Table
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
from midcourse.domain.task import Task
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
    """Reads the notation in a file that declares these inputs, secrets and files."""

    inputs: Pairs = ()
    secrets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    # --- text and values

    def read_text(self, table: Table, key: str, default: str | None = None) -> str:
        return self._fill_in(table, key, table.get_text(key, default))

    def read_pattern(self, table: Table, key: str, default: str | None = None) -> str:
        """Read text with wildcards. A star or @ in the value of an input stands for itself."""
        return self._fill_in(table, key, table.get_text(key, default), in_pattern=True)

    def read_scalar(self, table: Table, key: str) -> Scalar:
        """Read a value. A single `$input.x` keeps the type of the input."""
        value = self.read_argument(table, key)
        if not isinstance(value, Reference):
            return value
        if value.source != "input":
            raise table.make_error(key, f"a {value.source} can only be an argument")
        return dict(self.inputs)[value.name]

    def read_argument(self, table: Table, key: str) -> Argument:
        value = table.get_scalar(key)
        if not isinstance(value, str):
            return value
        alone = _ALONE.fullmatch(value)
        if alone is None:
            return self._fill_in(table, key, value)
        source, name = cast(Source, alone[1]), alone[2]
        known = {
            "input": tuple(dict(self.inputs)),
            "secret": self.secrets,
            "file": (*Task(goal="", files=self.files).file_paths, *self.files),
        }
        if source in known and name not in known[source]:
            raise table.make_error(key, describe_unknown(source, name, known[source]))
        return Reference(source=source, name=name)

    def read_arguments(self, table: Table) -> Arguments:
        return tuple((name, self.read_argument(table, name)) for name in table)

    def read_options(self, table: Table) -> Mapping[str, object]:
        """Return the contents of a table, with inputs filled into its texts at every depth. Another module interprets them."""
        return {key: self._read_option(table, key, table.values[key]) for key in table}

    def _read_option(self, table: Table, key: str, value: object) -> object:
        if isinstance(value, str):
            return self.read_scalar(Table({key: value}, file=table.file, path=table.path), key)
        if isinstance(value, dict):
            inner = Table(cast(dict[str, object], value), file=table.file, path=table.join_path(key))
            return self.read_options(inner)
        if isinstance(value, list):
            return [self._read_option(table, key, each) for each in cast(list[object], value)]
        return value

    def _fill_in(self, table: Table, key: str, text: str, *, in_pattern: bool = False) -> str:
        inputs = dict(self.inputs)

        def value(found: re.Match[str]) -> str:
            source, name = found["source"], found["name"]
            if source is None:
                return "$"
            if source in ("secret", "file", "result") and name:
                raise table.make_error(key, f"{found[0]} has to stand alone, and can only be an argument")
            if source != "input" or not name:
                raise table.make_error(key, f"{found[0]} means nothing; for a plain dollar sign write $$")
            if name not in inputs:
                raise table.make_error(key, describe_unknown("input", name, inputs))
            written = str(inputs[name]).lower() if isinstance(inputs[name], bool) else str(inputs[name])
            return escape(written).replace("@", "[@]") if in_pattern else written

        return _INSIDE.sub(value, text)

    # --- what must be true

    def read_condition(self, table: Table) -> Condition:
        """Read a probe or an expectation."""
        if "probe" not in table:
            return self.read_expectation(table)
        beside = [key for key in table if key in EXPECTATION]
        if beside:
            raise table.make_error("", f"is either a probe or checks, not both: take out 'probe' or '{beside[0]}'")
        table.allow("probe", "arguments", "settles_after")
        return self._read_probe_table(table, "probe")

    def read_expectation(self, table: Table) -> Expectation:
        """Read all checks of the table. Each item of a list under one key is a check."""
        table.allow(*EXPECTATION)
        appears, gone = self._read_zones(table, "zone_appears"), self._read_zones(table, "zone_gone")
        texts, surfaces = (table.get_texts(key, one_will_do=True) for key in ("text_contains", "surface_matches"))
        checks: tuple[Check, ...] = (
            *(ZoneAppears(role=zone.role, label=zone.label) for zone in appears),
            *(ZoneGone(role=zone.role, label=zone.label) for zone in gone),
            *(self._read_zone_has_state(inner) for inner in table.get_tables("zone_has_state", one_will_do=True)),
            *(TextContains(text=self._fill_in(table, "text_contains", text)) for text in texts),
            *(
                SurfaceMatches(pattern=self._fill_in(table, "surface_matches", each, in_pattern=True))
                for each in surfaces
            ),
            *((FingerprintChanged(),) if table.get_flag("fingerprint_changed") else ()),
        )
        says = self.read_text(table, "says", "")
        if not checks and not says:
            raise table.make_error("", f"says nothing; give one of {', '.join(EXPECTATION)}")
        return Expectation(checks=checks, says=says)

    def _read_zones(self, table: Table, key: str) -> list[ZonePattern]:
        return [self._read_zone(table, key, text) for text in table.get_texts(key, one_will_do=True)]

    def _read_zone(self, table: Table, key: str, text: str) -> ZonePattern:
        """Read a zone. It is split before inputs are filled in, so that a colon in the value of an input does not separate."""
        pattern = ZonePattern.parse(text)
        return replace(pattern, label=self._fill_in(table, key, pattern.label, in_pattern=True))

    def _read_zone_has_state(self, table: Table) -> ZoneHasState:
        table.allow("zone", "state", "value")
        zone = self._read_zone(table, "zone", table.get_text("zone"))
        state, value = self.read_text(table, "state"), self.read_scalar(table, "value")
        return ZoneHasState(role=zone.role, label=zone.label, state=state, value=value)

    def read_probe(self, table: Table, key: str) -> Probe | None:
        """Read a probe: only its name, or a table with its name, arguments and settling time."""
        if key not in table:
            return None
        if isinstance(table.values[key], str):
            return Probe(name=table.get_text(key))
        inner = table.get_table(key)
        inner.allow("name", "arguments", "settles_after")
        return self._read_probe_table(inner, "name")

    def _read_probe_table(self, table: Table, name: str) -> Probe:
        arguments = self.read_arguments(table.get_table("arguments"))
        return Probe(name=table.get_text(name), arguments=arguments, settles_after=table.get_seconds("settles_after"))

    # --- what to do

    def read_step(self, table: Table, *, zone_is_pattern: bool = True) -> Draft:
        """Read one step. A step with `once` becomes a `Once`."""
        table.allow(*STEP)
        zone, says = table.get_text("zone"), self.read_text(table, "says", "")
        if zone == REPLAN:
            table.allow("zone", "says")
            return Draft(zone=zone, says=says)
        if zone != GLOBAL:
            zone = str(self._read_zone(table, "zone", zone)) if zone_is_pattern else self.read_text(table, "zone")
        once = table.get_flag("once")
        if once and not says:
            raise table.make_error("once", "needs 'says' beside it: a completed step is recognised by what it says")
        kind = Once if once else Draft
        return kind(
            zone=zone,
            skill=table.get_text("skill"),
            arguments=self.read_arguments(table.get_table("arguments")),
            expect=self._read_optional_expectation(table, "expect"),
            absent_when=self._read_optional_expectation(table, "absent_when"),
            probe=self.read_probe(table, "probe"),
            transition=table.get_flag("transition"),
            needs=table.get_texts("needs", one_will_do=True),
            gives=table.get_texts("gives", one_will_do=True),
            says=says,
        )

    def read_rule(self, table: Table) -> Rule:
        table.allow("on", "when", "steps", "final", "done", "impossible")
        on, when = self.read_pattern(table, "on", "*"), self._read_optional_expectation(table, "when")
        if when and (not when.checks or FingerprintChanged() in when.checks):
            raise table.make_error(
                "when", "has to be checked on one screen alone: neither 'says' nor 'fingerprint_changed' can"
            )
        steps = tuple(self.read_step(step) for step in table.get_tables("steps"))
        final, done, impossible = (
            table.get_flag("final"),
            bool(table.get_flag("done")),
            self.read_text(table, "impossible", ""),
        )
        try:
            return Rule(on=on, when=when, steps=steps, final=final, done=done, impossible=impossible)
        except TaskInvalid as error:
            raise table.make_error("", str(error)) from None

    def _read_optional_expectation(self, table: Table, key: str) -> Expectation | None:
        return self.read_expectation(table.get_table(key)) if key in table else None
