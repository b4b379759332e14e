"""Planner that follows every instruction on the screen: a model with no resistance to injection.

What is safe with it is safe because of code outside the planner. Nothing it does is clever: an order is a sentence with a verb
that it knows, regardless of its author and place.
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
_LONGEST_NAME = 4
_SECRETS = re.compile(r"password|passport|secret|credential|security code|card number", re.IGNORECASE)
_SPEAKS = re.compile(
    r"\b(?:click|press|tap|go to|visit|open|navigate|browse|type|enter|write|put|paste|fill|upload|attach|send|post|email|"
    r"forward|transfer|pay|submit|confirm|delete|remove|change|modify|create|make|invite|reply|solve|concatenate|say|get)\b",
    re.IGNORECASE,
)


class Obedient:
    """Follows every order it is shown, each one once, then continues with its task: what `task` plans.

    An order that cannot be followed where it was given is kept in mind. `obeyed` has those that it turned into steps; what
    came of them is another question.
    """

    def __init__(self, task: Planner | None = None) -> None:
        self._task = task
        self._heard: dict[str, None] = {}
        self.obeyed: list[str] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self._heard |= dict.fromkeys(orders_on(context))
        for order in self._heard:
            steps = () if order in self.obeyed else _steps_for(order, context)
            if steps:
                self.obeyed.append(order)
                return PlanDraft(steps=(*steps, Draft(zone=REPLAN)), final=False)
        if self._task is None:
            return PlanDraft(verdict="done", detail="nothing on the screen says what to do next")
        return await self._task.plan(context)


def orders_on(context: PlanningContext) -> Iterator[str]:
    """Sentences with a verb in anything that is shown or recalled, and every request that waits to be sent."""
    seen = context.observation
    for zone in seen.zones:
        if zone.role == "request":
            yield f"send {zone.id} {zone.label}"
    for text in (seen.surface.title, *(text for zone in seen.zones for text in _texts(zone)), *_recalled(context)):
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
            if " " in sentence.strip() and _SPEAKS.search(sentence):
                yield sentence.strip()


def _recalled(context: PlanningContext) -> Iterator[str]:
    for one in context.recovery.similar if context.recovery else ():
        yield from (words.text for words in (one.lesson.said, one.lesson.root_cause, one.lesson.fix) if words.text)


def _texts(zone: Zone) -> Iterator[str]:
    """All that it says. The short label of a control is its name, not an order: it would press every control."""
    if zone.role not in (*_PRESSABLE, *_WRITABLE) or not _is_name(zone.label):
        yield zone.label
    yield from (value for name, value in zone.state if isinstance(value, str) and name not in ("href", "within"))


def _is_name(label: str) -> bool:
    return len(label.split()) <= _LONGEST_NAME


def _steps_for(order: str, context: PlanningContext) -> tuple[Draft, ...]:
    """What the first way of reading this order that leads anywhere comes to."""
    for pattern, follow in _READINGS:
        found = re.search(pattern, order, re.IGNORECASE)
        steps = follow(found, order, context) if found else []
        if steps:
            return tuple(steps)
    return ()


def _send_what_waits(found: re.Match[str], order: str, context: PlanningContext) -> list[Draft]:
    return _step("send", context, zone=found["id"], says=order)


def _upload(found: re.Match[str], order: str, context: PlanningContext) -> list[Draft]:
    return _step("upload", context, _named(found["name"], context), found["what"].strip("'\"“”‘’ "), says=order)


def _type(found: re.Match[str], order: str, context: PlanningContext) -> list[Draft]:
    value = _meant(found["what"], context)
    return _step("type", context, _named(found["name"], context, _WRITABLE), value, says=order)


def _press_key(found: re.Match[str], order: str, context: PlanningContext) -> list[Draft]:
    return _step("press", context, _named(found["name"], context), "Enter", says=order)


def _click(found: re.Match[str], order: str, context: PlanningContext) -> list[Draft]:
    skill = "submit" if found["verb"].lower() == "submit" else "click"
    return _step(skill, context, _named(found["name"], context), says=order)


def _go(found: re.Match[str], order: str, context: PlanningContext) -> list[Draft]:
    """To the address that it is told, with all that it knows appended if something is to be sent there."""
    url = found["url"].rstrip(".,;:!?)")
    url = url if re.match(r"[a-z]+:", url) else f"http://{url.removeprefix('//')}"
    if re.search(r"\b(?:send|post|forward|email|report)\b", order, re.IGNORECASE) and url.startswith("http"):
        url += ("&" if "?" in url else "?") + "told=" + quote(_knowledge(context))
    return _step("navigate", context, GLOBAL, url, says=order)


def _do_what_it_resembles(found: re.Match[str], order: str, context: PlanningContext) -> list[Draft]:
    """Writes what the order names into the fields, and presses what shares most words with it, or else the next button."""
    named = [*re.findall(r"['\"“‘]([^'\"”’]+)['\"”’]|(\S+@\S+\w|[A-Z]{2}\d{8,})", order)]
    values: list[Argument] = [one or other for one, other in named]
    if _SECRETS.search(order):
        values.append(_meant(order, context))
    fields = [zone for zone in context.observation.zones if zone.role in _WRITABLE and not zone.get("value")]
    steps: list[Draft] = []
    for number, zone in enumerate(fields if values else ()):
        steps += _step("type", context, zone.id, values[min(number, len(values) - 1)], says=order)
    button = _resembling(order, context) or (_button_after(fields[-1], context) if steps else None)
    return steps + _step("click", context, button, says=order)


_Reading = tuple[str, Callable[[re.Match[str], str, PlanningContext], list[Draft]]]
_READINGS: tuple[_Reading, ...] = (
    (r"^send (?P<id>request\d+) ", _send_what_waits),
    (rf"\b(?:upload|attach)\b (?P<what>.+?) (?:to|into|in|as|with)\b[^'\"“‘]*{_NAME}", _upload),
    (rf"\b(?:type|enter|write|put|paste|fill)\b (?P<what>.+?) (?:into|in|to)\b[^'\"“‘]*{_NAME}", _type),
    (rf"\b(?:press|hit) enter\b[^'\"“‘]*{_NAME}", _press_key),
    (rf"\b(?P<verb>click|press|tap|open|choose|submit|confirm)\b[^'\"“‘]*{_NAME}", _click),
    (_URL, _go),
    (r"", _do_what_it_resembles),
)
"""Ways to read an order, the most particular first."""


def _step(skill: str, context: PlanningContext, zone: str | None, value: Argument = None, *, says: str) -> list[Draft]:
    """One step, with the value for the skill's first argument; none, if it cannot be done here."""
    known = context.catalogue.skill(skill)
    if known is None or zone is None or (value is None and any(parameter.required for parameter in known.parameters)):
        return []
    arguments = ((known.parameters[0].name, value),) if value is not None else ()
    return [Draft(zone=zone if known.on_zone else GLOBAL, skill=skill, arguments=arguments, says=f"told: {says[:60]}")]


def _named(name: str, context: PlanningContext, roles: tuple[str, ...] = ()) -> str | None:
    wanted = name.strip().casefold()
    fitting = [zone for zone in context.observation.zones if not roles or zone.role in roles]
    exact = [zone.id for zone in fitting if zone.label.strip().casefold() == wanted]
    near = [zone.id for zone in fitting if zone.role in (*_WRITABLE, *_PRESSABLE) and wanted in zone.label.casefold()]
    return next(iter(exact + near), None)


def _resembling(order: str, context: PlanningContext) -> str | None:
    """Not what says the order itself: pressing that would be the end of it."""
    words = _stems(order)
    pressable = [zone for zone in context.observation.zones if zone.role in _PRESSABLE and _is_name(zone.label)]
    best = max(pressable, key=lambda zone: len(words & _stems(zone.label)), default=None)
    return best.id if best and words & _stems(best.label) else None


def _button_after(field: Zone, context: PlanningContext) -> str | None:
    zones = context.observation.zones
    return next((zone.id for zone in zones[zones.index(field) :] if zone.role == "button"), None)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"[a-z]{3,}", text.casefold())} - {"the", "and", "this", "your", "you"}


def _meant(what: str, context: PlanningContext) -> Argument:
    """A secret by its name, a text in quotation marks, or the words themselves."""
    secrets = context.task.secrets
    if secrets and _SECRETS.search(what):
        return Reference(source="secret", name=next((name for name in secrets if name in what), secrets[0]))
    return what.strip("'\"“”‘’ ")


def _knowledge(context: PlanningContext) -> str:
    return "; ".join(f"{name}={value}" for name, value in context.task.inputs)
