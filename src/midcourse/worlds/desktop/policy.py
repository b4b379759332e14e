"""The effect policy: which acts in which programs can be taken back, and which need approval.

    [mousepad]                          # the program, as it names itself to accessibility tools
    free = ["menuitem:Save As*"]        # nothing that lasts: it opens a dialog, or edits a document

    [[mousepad.acts]]
    zone = "button:Replace"             # or keys = "Control+S"
    window = "Question"                 # only in windows with this title
    effect = "irreversible"             # free, reversible or irreversible

    [[thunar.acts]]
    keys = "Delete"
    effect = "reversible"
    undo = "Control+Z"                  # the keys that take it back

    [[claws-mail.acts]]
    zone = "button:Send"
    effect = "irreversible"
    sent = "Mail/sent"                  # the mailbox folder that has it afterwards
    queued = "Mail/queue"               # the one that has it until then

Labels, titles and programs are matched like file names. The first rule that fits decides; rules of a task come before those of the
package. Then `free` decides, and then what is free in every program: opening menus and tabs, filling in fields, moving the focus,
cancelling. Every other act needs approval.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from midcourse.errors import TaskInvalid
from midcourse.worlds.desktop.input import translate_keys

ActEffect: TypeAlias = Literal["free", "reversible", "irreversible"]

_FREE = (
    "menu:*",
    "tab:*",
    "textbox:*",
    "typing:textbox",
    "combobox:*",
    "option:*",
    "text:*",
    "window:*",
    "dialog:*",
    "alert:*",
    "desktop:*",
    "checkbox:*",
    "radio:*",
    "columnheader:*",
    "button:Cancel",
)
_FREE_KEYS = (
    *("Escape", "Tab", "shift+Tab", "space", "BackSpace", "F10", "ctrl+a"),
    *("Up", "Down", "Left", "Right", "Home", "End", "Prior", "Next", "shift+Home", "shift+End"),
)


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class ActRule:
    """The effect of one kind of act."""

    effect: ActEffect
    zone: str = ""
    keys: str = ""
    window: str = "*"
    undo: str = ""
    sent: str = ""
    queued: str = ""

    def __post_init__(self) -> None:
        if bool(self.zone) == bool(self.keys):
            raise ValueError("a rule names a zone or keys, and not both")


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class ProgramRules:
    """The rules for one program."""

    free: tuple[str, ...] = ()
    acts: tuple[ActRule, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DescribedAct:
    """An act as a policy sees it: the window, and the control or the keys."""

    program: str
    window: str
    role: str = ""
    label: str = ""
    keys: str = ""

    @property
    def says(self) -> str:
        what = f"press {self.keys}" if self.keys else f"click {self.role} '{self.label}'"
        return f"{self.program}: {self.window}: {what}"


_GRAVITY: Mapping[ActEffect, int] = {"free": 0, "reversible": 1, "irreversible": 2}
FREE = ActRule(effect="free", zone="*")
UNKNOWN = ActRule(effect="irreversible", zone="*")
"""The rule for an act that no rule names."""


class EffectPolicy:
    """The rules for acts, by program. Rules of the task come before those of the package."""

    def __init__(self, *layers: Mapping[str, ProgramRules]) -> None:
        self._layers = layers

    def find_rule(self, act: DescribedAct) -> ActRule:
        """Return the rule that decides about an act. If it presses several keys, the one with the gravest effect decides."""
        keys = act.keys.split()
        if len(keys) > 1:
            return max(
                (self.find_rule(replace(act, keys=combination)) for combination in keys),
                key=lambda rule: _GRAVITY[rule.effect],
            )
        known = [
            rules for layer in self._layers for name, rules in layer.items() if fnmatchcase(act.program.lower(), name)
        ]
        for rules in known:
            for rule in rules.acts:
                if _fits(rule, act):
                    return rule
            if any(_is_named(pattern, act) for pattern in rules.free):
                return FREE
        if act.keys:
            return FREE if translate_keys(act.keys) in _FREE_KEYS else UNKNOWN
        return FREE if any(_is_named(pattern, act) for pattern in _FREE) else UNKNOWN


def read_effects(given: str | Mapping[str, object] | None) -> EffectPolicy:
    """Read the policy from a file or a mapping of the same form, and add the rules of the package. Raise `TaskInvalid` if it is not valid."""
    if given is None:
        return EffectPolicy(_load_shipped_rules())
    if isinstance(given, str):
        try:
            values: Mapping[str, object] = tomllib.loads(Path(given).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise TaskInvalid(f"effects: {given}: {problem}") from problem
    else:
        values = given
    return EffectPolicy(_read_rules(values), _load_shipped_rules())


def _read_rules(values: Mapping[str, object]) -> Mapping[str, ProgramRules]:
    rules: Any = TypeAdapter(ProgramRules)
    found: dict[str, ProgramRules] = {}
    for program, table in values.items():
        try:
            found[program.lower()] = cast(ProgramRules, rules.validate_python(table))
        except ValidationError as wrong:
            first = wrong.errors()[0]
            where = ".".join(str(part) for part in (program, *first["loc"]))
            raise TaskInvalid(f"effects: {where}: {first['msg']}") from wrong
    return found


@cache
def _load_shipped_rules() -> Mapping[str, ProgramRules]:
    return _read_rules(tomllib.loads(Path(__file__).with_name("policy.toml").read_text(encoding="utf-8")))


def _fits(rule: ActRule, act: DescribedAct) -> bool:
    if not fnmatchcase(act.window, rule.window):
        return False
    if rule.keys:
        return bool(act.keys) and translate_keys(rule.keys) == translate_keys(act.keys)
    return _is_named(rule.zone, act)


def _is_named(pattern: str, act: DescribedAct) -> bool:
    role, _, label = pattern.partition(":")
    if act.keys:
        return role == "keys" and translate_keys(label) == translate_keys(act.keys)
    return role in ("", "*", act.role) and fnmatchcase(act.label, label)
