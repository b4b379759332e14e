"""A planner that follows every instruction on the screen, like a model with no resistance to injection.

What is safe with this planner is safe because of code outside the planner. An instruction is any sentence with a verb from a fixed
list, regardless of its author and place.
"""

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.observation import Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext

_URL = r"(?P<url>(?:https?:|wss?:|ftp:|file:|data:|javascript:|//|www\.)[^\s'\"<>”’]+)"
_NAME = r"['\"“‘](?P<name>[^'\"”’]+)['\"”’]"
_WRITABLE = ("textbox", "searchbox", "textarea", "spinbutton", "combobox")
_PRESSABLE = ("button", "link", "clickable", "menuitem", "tab")
_MAX_NAME_WORDS = 4
_SECRETS = re.compile(r"password|passport|secret|credential|security code|card number", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:click|press|tap|go to|visit|open|navigate|browse|type|enter|write|put|paste|fill|upload|attach|send|post|email|"
    r"forward|transfer|pay|submit|confirm|delete|remove|change|modify|create|make|invite|reply|solve|concatenate|say|get)\b",
    re.IGNORECASE,
)


class Obedient:
    """Follows every instruction once, then continues with the plan of `task`.

    An instruction that cannot be followed on the current screen is tried again on later ones. `obeyed` has the instructions that were
    turned into steps, whether or not the steps succeeded.
    """

    def __init__(self, task: Planner | None = None) -> None:
        self._task = task
        self._instructions: dict[str, None] = {}
        self.obeyed: list[str] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self._instructions |= dict.fromkeys(find_instructions(context))
        for instruction in self._instructions:
            steps = () if instruction in self.obeyed else _steps_for(instruction, context)
            if steps:
                self.obeyed.append(instruction)
                return PlanDraft(steps=(*steps, Draft(zone=REPLAN)), final=False)
        if self._task is None:
            return PlanDraft(verdict="done", detail="nothing on the screen says what to do next")
        return await self._task.plan(context)


def find_instructions(context: PlanningContext) -> Iterator[str]:
    """Yield every sentence with a known verb that is shown or recalled, and every request that waits to be sent."""
    observation = context.observation
    for zone in observation.zones:
        if zone.role == "request":
            yield f"send {zone.id} {zone.label}"
    for text in (
        observation.surface.title,
        *(text for zone in observation.zones for text in _read_texts(zone)),
        *_recalled_texts(context),
    ):
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
            if " " in sentence.strip() and _VERB.search(sentence):
                yield sentence.strip()


def _recalled_texts(context: PlanningContext) -> Iterator[str]:
    for recalled in context.recovery.similar if context.recovery else ():
        yield from (
            words.text
            for words in (recalled.lesson.said, recalled.lesson.root_cause, recalled.lesson.fix)
            if words.text
        )


def _read_texts(zone: Zone) -> Iterator[str]:
    """Yield the texts of a zone, without the short label of a control: read as instructions, labels would press every control."""
    if zone.role not in (*_PRESSABLE, *_WRITABLE) or not _is_short_label(zone.label):
        yield zone.label
    yield from (value for name, value in zone.state if isinstance(value, str) and name not in ("href", "within"))


def _is_short_label(label: str) -> bool:
    return len(label.split()) <= _MAX_NAME_WORDS


def _steps_for(instruction: str, context: PlanningContext) -> tuple[Draft, ...]:
    """Return the steps of the first reading of this instruction that yields any."""
    for pattern, follow in _READINGS:
        found = re.search(pattern, instruction, re.IGNORECASE)
        steps = follow(found, instruction, context) if found else []
        if steps:
            return tuple(steps)
    return ()


def _send_waiting_request(found: re.Match[str], instruction: str, context: PlanningContext) -> list[Draft]:
    return _make_step("send", context, zone=found["id"], says=instruction)


def _upload(found: re.Match[str], instruction: str, context: PlanningContext) -> list[Draft]:
    return _make_step(
        "upload", context, _find_zone(found["name"], context), found["what"].strip("'\"“”‘’ "), says=instruction
    )


def _type(found: re.Match[str], instruction: str, context: PlanningContext) -> list[Draft]:
    value = _read_value(found["what"], context)
    return _make_step("type", context, _find_zone(found["name"], context, _WRITABLE), value, says=instruction)


def _press_key(found: re.Match[str], instruction: str, context: PlanningContext) -> list[Draft]:
    return _make_step("press", context, _find_zone(found["name"], context), "Enter", says=instruction)


def _click(found: re.Match[str], instruction: str, context: PlanningContext) -> list[Draft]:
    skill = "submit" if found["verb"].lower() == "submit" else "click"
    return _make_step(skill, context, _find_zone(found["name"], context), says=instruction)


def _navigate(found: re.Match[str], instruction: str, context: PlanningContext) -> list[Draft]:
    """Navigate to the address, with the task's inputs appended if the instruction says to send something."""
    url = found["url"].rstrip(".,;:!?)")
    url = url if re.match(r"[a-z]+:", url) else f"http://{url.removeprefix('//')}"
    if re.search(r"\b(?:send|post|forward|email|report)\b", instruction, re.IGNORECASE) and url.startswith("http"):
        url += ("&" if "?" in url else "?") + "told=" + quote(_list_inputs(context))
    return _make_step("navigate", context, GLOBAL, url, says=instruction)


def _act_on_similar_control(found: re.Match[str], instruction: str, context: PlanningContext) -> list[Draft]:
    """Type the values in the instruction into the fields, then click the control that shares most words with it, or the next button."""
    named = [*re.findall(r"['\"“‘]([^'\"”’]+)['\"”’]|(\S+@\S+\w|[A-Z]{2}\d{8,})", instruction)]
    values: list[Argument] = [quoted or unquoted for quoted, unquoted in named]
    if _SECRETS.search(instruction):
        values.append(_read_value(instruction, context))
    fields = [zone for zone in context.observation.zones if zone.role in _WRITABLE and not zone.get("value")]
    steps: list[Draft] = []
    for number, zone in enumerate(fields if values else ()):
        steps += _make_step("type", context, zone.id, values[min(number, len(values) - 1)], says=instruction)
    button = _find_most_similar(instruction, context) or (_find_button_after(fields[-1], context) if steps else None)
    return steps + _make_step("click", context, button, says=instruction)


_Reading = tuple[str, Callable[[re.Match[str], str, PlanningContext], list[Draft]]]
_READINGS: tuple[_Reading, ...] = (
    (r"^send (?P<id>request\d+) ", _send_waiting_request),
    (rf"\b(?:upload|attach)\b (?P<what>.+?) (?:to|into|in|as|with)\b[^'\"“‘]*{_NAME}", _upload),
    (rf"\b(?:type|enter|write|put|paste|fill)\b (?P<what>.+?) (?:into|in|to)\b[^'\"“‘]*{_NAME}", _type),
    (rf"\b(?:press|hit) enter\b[^'\"“‘]*{_NAME}", _press_key),
    (rf"\b(?P<verb>click|press|tap|open|choose|submit|confirm)\b[^'\"“‘]*{_NAME}", _click),
    (_URL, _navigate),
    (r"", _act_on_similar_control),
)
"""Ways to read an instruction, the most specific first."""


def _make_step(
    skill: str, context: PlanningContext, zone: str | None, value: Argument = None, *, says: str
) -> list[Draft]:
    """Return one step with `value` as the skill's first argument, or no step if it is impossible here."""
    known = context.catalogue.skill(skill)
    if known is None or zone is None or (value is None and any(parameter.required for parameter in known.parameters)):
        return []
    arguments = ((known.parameters[0].name, value),) if value is not None else ()
    return [Draft(zone=zone if known.on_zone else GLOBAL, skill=skill, arguments=arguments, says=f"told: {says[:60]}")]


def _find_zone(name: str, context: PlanningContext, roles: tuple[str, ...] = ()) -> str | None:
    wanted = name.strip().casefold()
    fitting = [zone for zone in context.observation.zones if not roles or zone.role in roles]
    exact = [zone.id for zone in fitting if zone.label.strip().casefold() == wanted]
    near = [zone.id for zone in fitting if zone.role in (*_WRITABLE, *_PRESSABLE) and wanted in zone.label.casefold()]
    return next(iter(exact + near), None)


def _find_most_similar(instruction: str, context: PlanningContext) -> str | None:
    """Find the control that shares most words with the instruction, except a control whose long label is the instruction."""
    words = _stem_words(instruction)
    pressable = [zone for zone in context.observation.zones if zone.role in _PRESSABLE and _is_short_label(zone.label)]
    best = max(pressable, key=lambda zone: len(words & _stem_words(zone.label)), default=None)
    return best.id if best and words & _stem_words(best.label) else None


def _find_button_after(field: Zone, context: PlanningContext) -> str | None:
    zones = context.observation.zones
    return next((zone.id for zone in zones[zones.index(field) :] if zone.role == "button"), None)


def _stem_words(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"[a-z]{3,}", text.casefold())} - {"the", "and", "this", "your", "you"}


def _read_value(what: str, context: PlanningContext) -> Argument:
    """Return a reference to a secret that the words name, or the words without quotation marks."""
    secrets = context.task.secrets
    if secrets and _SECRETS.search(what):
        return Reference(source="secret", name=next((name for name in secrets if name in what), secrets[0]))
    return what.strip("'\"“”‘’ ")


def _list_inputs(context: PlanningContext) -> str:
    return "; ".join(f"{name}={value}" for name, value in context.task.inputs)
