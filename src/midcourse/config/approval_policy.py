"""The approval policy as a file: which steps need approval in every mode, and who may not approve.

four_eyes = true                       # the user who starts a run does not decide its questions
trust_after = 3                        # adaptive mode: approvals in a row before a reversible step goes unasked

[[rules]]
ask = "always"
label = "*delete*"

[[rules]]
ask = "never"
skill = "send_reminder"
effect = "irreversible"                # a rule not to ask is about irreversible steps only if it says so
"""

import tomllib
from pathlib import Path
from typing import cast, get_args

from midcourse.config.toml_table import Table, read_text
from midcourse.domain.agreement import Agreement, Rule
from midcourse.domain.skill import Effect
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown

PATTERNS = ("skill", "origin", "label", "address")
ANSWERS = ("always", "never")


def read_agreement(path: Path) -> Agreement:
    """Read an approval policy. Raises `TaskInvalid` with the key that is wrong."""
    return parse_agreement(read_text(path), str(path))


def parse_agreement(text: str, file: str = "approval policy") -> Agreement:
    """Parse an approval policy. `file` is its name in error messages."""
    try:
        root = Table(tomllib.loads(text), file=file)
    except tomllib.TOMLDecodeError as error:
        raise TaskInvalid(f"{file}: is not TOML: {error}") from None
    root.allow("four_eyes", "trust_after", "rules")
    return Agreement(
        rules=tuple(_read_rule(table) for table in root.get_tables("rules")),
        trust_after=_read_trust_after(root) if "trust_after" in root else Agreement.trust_after,
        four_eyes=bool(root.get_flag("four_eyes")),
    )


def _read_trust_after(root: Table) -> int:
    value = root.get_scalar("trust_after")
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
        raise root.make_error("trust_after", f"has to be a whole number from 1 to 1000, not {value!r}")
    return value


def _read_rule(table: Table) -> Rule:
    table.allow("ask", "effect", *PATTERNS)
    answer = table.get_text("ask")
    if answer not in ANSWERS:
        raise table.make_error("ask", describe_unknown("answer", answer, ANSWERS))
    patterns = {name: table.get_text(name) for name in PATTERNS if name in table}
    effects = _read_effects(table)
    if not patterns and not effects:
        raise table.make_error("", f"is about everything; say what it is about: {', '.join((*PATTERNS, 'effect'))}")
    if answer == "never" and not patterns.keys() - {"label"}:
        raise table.make_error(
            "", "a page chooses its labels: a rule not to ask needs a skill, an origin or an address"
        )
    return Rule(ask=answer == "always", effects=effects, **patterns)


def _read_effects(table: Table) -> tuple[Effect, ...]:
    names = table.get_texts("effect", one_will_do=True)
    for name in names:
        if name not in get_args(Effect):
            raise table.make_error("effect", describe_unknown("effect class", name, get_args(Effect)))
    return cast(tuple[Effect, ...], names)
