"""Base class for custom worlds: implement `look`, mark skills and probes, and it provides the rest of the port."""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar, cast, get_args

from midcourse.containment import Contained
from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import PICTURED, Observation, Surface, Unseen, Viewer, Zone, fingerprint_of
from midcourse.domain.outcome import Outcome
from midcourse.domain.replace import replace
from midcourse.domain.skill import WorldKind
from midcourse.errors import NotSent, SkillInvalid
from midcourse.exception_text import describe_exception, format_traceback
from midcourse.ports.world import Call, Catalogue, Finding
from midcourse.worlds.declare import Declared, DeclaredProbe, DeclaredSkill, probe, read_declarations, skill
from midcourse.worlds.signature import ArgumentsUnfit

__all__ = [
    "BaseWorld",
    "NotSent",
    "Outcome",
    "Scene",
    "Unseen",
    "Zone",
    "failed",
    "no_effect",
    "not_sent",
    "probe",
    "skill",
    "unreachable",
]

log = logging.getLogger(__name__)
T = TypeVar("T")


class Scene:
    """The visible screen: a titled surface and its zones. Without a fingerprint, one is computed."""

    def __init__(
        self,
        title: str,
        *zones: Zone,
        address: str = "",
        origin: str = "",
        fingerprint: str | None = None,
        viewer: Viewer | None = None,
    ) -> None:
        self.surface = Surface(title=title, address=address, origin=origin)
        self.zones = zones
        self.fingerprint = fingerprint
        self.viewer = viewer

    def observed(self) -> Observation:
        fingerprint = self.fingerprint or fingerprint_of(self.surface, self.zones)
        return Observation(id="", surface=self.surface, zones=self.zones, fingerprint=fingerprint, viewer=self.viewer)


def failed(reason: str, detail: str) -> Outcome:
    """Return the outcome of an act that failed. `reason` is a slug for the kind of failure; `detail` is for people and planners."""
    return Outcome(status="failed", reason=reason, detail=detail)


def unreachable(detail: str) -> Outcome:
    """Return the outcome of an act that cannot work on this screen, even if it is repeated."""
    return Outcome(status="unreachable", reason="unreachable", detail=detail)


def no_effect(detail: str, reason: str = "no_effect") -> Outcome:
    """Return the outcome of an act that was tried and changed nothing that can be seen. With `not_needed` it is not tried again.

    Of an irreversible skill it does not say that nothing was sent: return `not_sent` for that.
    """
    return Outcome(status="no_effect", reason=reason, detail=detail)


def not_sent(reason: str, detail: str = "") -> Outcome:
    """Return the outcome of an irreversible act that the world refused before it sent anything, so that the run plans again.

    `reason` is a slug for the kind of failure, with `detail` in words, or just says why in words. The world is believed unless the
    screen or a probe shows that the act happened; then it is not believed again in that run.
    """
    is_slug = _SLUG.fullmatch(reason) is not None
    said = detail if is_slug or not detail else f"{reason}: {detail}"
    return Outcome(
        status="no_effect",
        reason=reason if is_slug else "not_sent",
        detail=said or reason,
        evidence="rule",
        claimed=True,
    )


_SLUG = re.compile("[a-z][a-z0-9_]*")


def read_refusal(error: BaseException, absent_on: tuple[type[Exception], ...], raised_by: object) -> Outcome | None:
    """Return the outcome of a skill or function that raised, if that means that nothing was sent.

    A `NotSent` that passed through a guarded function speaks for that function only: its caller may have sent something before.
    """
    if isinstance(error, NotSent):
        error.raised_by = raised_by if error.raised_by is None else error.raised_by
        if error.raised_by is raised_by:
            return not_sent(error.reason, error.detail)
    return not_sent("not_sent", describe_exception(error)) if isinstance(error, absent_on) else None


class BaseWorld:
    """A world in this process. Implement `look`, and mark methods with `@skill` and `@probe`.

    Skills, probes and `look` may be plain or `async` methods. A plain one that takes long delays everything else in the process.
    A skill returns nothing, an `Outcome`, or a mapping of what it read. If a skill raises an exception, its outcome is unknown,
    unless it is `NotSent` or listed in `absent_on`; if `look` raises one, the look has failed; if a probe raises one, its finding is
    unclear.
    """

    name: str = ""
    fences: bool = True
    rebuilds: bool = False
    """Whether the same acts and looks lead a fresh session to the same state, so that a run in it can be forked."""
    kind: WorldKind = "screen"
    """The words in which a model that plans for it is instructed."""
    blocks: bool = True
    """Whether the world may block its thread. A host of many worlds then runs it in a separate thread."""
    _declared: Declared = Declared()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = vars(cls).get("name") or cls.__name__.lower()
        cls._declared = read_declarations(cls, BaseWorld)

    def __init__(self) -> None:
        self._acting = asyncio.Lock()
        self._barred: set[int] = set()

    def look(self) -> Scene | Unseen | Awaitable[Scene | Unseen]:
        """Return the current screen without changing anything. A world where no skill acts on a zone need not implement it."""
        if not any(declared.skill.on_zone for declared in self._declared.skills):
            return Scene(self.name)
        raise NotImplementedError(f"{type(self).__name__} does not say what is seen: give it a `look` method")

    def catalogue(self) -> Catalogue:
        return replace(self._declared.catalogue, kind=self.kind)

    async def open(self) -> str:
        """Begin a session. The handle is empty, because the session ends with its process, so that no other process can attach to it."""
        self._barred.clear()
        return ""

    async def attach(self, handle: str) -> bool:
        """Return False: there is no session to take over, because sessions end with their process."""
        return False

    async def attend(self) -> str:
        """Let a person act in the world. Override it in a world that holds back what a person does, or to say where the person can act."""
        return ""

    async def conceal(self, secrets: Pairs) -> None:
        """Cover these secrets in screenshots. Override it in a world that takes screenshots."""

    async def close(self) -> None:
        """End the session. Override it in a world that holds connections, files or processes."""

    async def observe(self) -> Observation | Unseen:
        seen = await self._look()
        return seen if isinstance(seen, Unseen) else seen.observed()

    async def act(self, call: Call) -> Outcome:
        """Carry out one call at a time. A barred command, an unknown skill or wrong arguments are refused before anything is done."""
        async with self._acting:
            if call.command in self._barred:
                return failed("barred", f"command {call.command} was barred and may no longer act")
            return await self._attempt(call)

    async def commit_set(self, call: Call) -> CommitSet | None:
        declared = self._declared.skill(call.skill)
        if declared is None:
            return None
        if declared.commit_set is None:
            return CommitSet(values=call.arguments)
        reader: Any = declared.commit_set
        try:
            arguments = await self._with_zone(declared, call, declared.signature.bind(call.arguments))
            if arguments is None:
                return None
            bound = getattr(self, reader) if isinstance(reader, str) else reader.__get__(self)
            async with Contained():
                values = await await_if_needed(bound(**arguments))
        except Exception:
            log.exception("%s: the commit set of %s cannot be read", self.name, call.skill)
            return None
        if values is None or isinstance(values, CommitSet):
            return values
        return CommitSet(values=_check_pairs(f"the commit set of {self.name}.{call.skill}", values))

    async def probe(self, name: str, arguments: Pairs) -> Finding:
        declared = self._declared.probe(name)
        if declared is None:
            return "unclear"
        try:
            async with Contained():
                found = await await_if_needed(self._check(declared, arguments))
        except Exception:
            log.exception("%s: probe %s failed", self.name, name)
            return "unclear"
        if found in get_args(Finding):
            return found
        return "unclear" if found is None else "present" if found else "absent"

    def _check(self, declared: DeclaredProbe, arguments: Pairs) -> Any:
        return getattr(self, declared.spec.name)(**declared.signature.bind(arguments))

    async def bar(self, command: int) -> None:
        """Bar a command and wait for an act that is under way. After this returns, the command cannot act any more."""
        self._barred.add(command)
        async with self._acting:
            pass

    async def _attempt(self, call: Call) -> Outcome:
        declared = self._declared.skill(call.skill)
        if declared is None:
            return not_sent("unknown_skill", f"{self.name} has no skill called '{call.skill}'")
        try:
            bound = declared.signature.bind(call.arguments)
        except ArgumentsUnfit as unfit:
            return not_sent("bad_arguments", f"{call.skill}: {unfit}")
        if call.pictured and declared.signature.on_zone and not declared.by_position:
            others = ", ".join(each.skill.name for each in self._declared.skills if each.by_position) or "no skill"
            where = f"{call.target.role} '{call.target.label}' is only seen in the picture, where {others} can act"
            return not_sent("not_by_position", f"{call.skill} needs more than a position: {where}")
        arguments = await self._with_zone(declared, call, bound)
        if arguments is None:
            detail = f"there is no zone '{call.zone}' any more, which was {call.target.role} '{call.target.label}'"
            return not_sent("target_not_visible", detail)
        return await self._invoke(call, arguments)

    async def _with_zone(
        self, declared: DeclaredSkill, call: Call, arguments: dict[str, Scalar]
    ) -> dict[str, Any] | None:
        """Return the arguments, with the zone if the skill acts on one, or None if that zone is not there."""
        if not declared.signature.on_zone:
            return dict(arguments)
        zone: Zone | None = None
        if not call.pictured:
            zone = await self._find(call.zone)
        elif call.bounds is not None and declared.by_position:
            # A reader found it in a picture, and no look of this world has it.
            role, label = call.target.role, call.target.label
            zone = Zone(id=call.zone, role=role, label=label, bounds=call.bounds, state=((PICTURED, True),))
        return None if zone is None else {**arguments, "zone": zone}

    async def _find(self, zone_id: str) -> Zone | None:
        """Find a zone in a new look, since the screen may have changed since the step was planned."""
        seen = await self._look()
        return next((zone for zone in seen.zones if zone.id == zone_id), None) if isinstance(seen, Scene) else None

    async def _look(self) -> Scene | Unseen:
        try:
            async with Contained():
                return await await_if_needed(self.look())
        except Exception as error:
            log.error("%s: the look failed\n%s", self.name, format_traceback(error))
            return Unseen(reason="failed", detail=describe_exception(error))

    async def _invoke(self, call: Call, arguments: dict[str, Any]) -> Outcome:
        declared = self._declared.skill(call.skill)
        try:
            returned = await await_if_needed(getattr(self, call.skill)(**arguments))
        except Exception as error:
            refused = read_refusal(error, declared.absent_on if declared else (), self)
            if refused is None:
                raise
            return refused
        if returned is None:
            return Outcome()
        if isinstance(returned, Outcome):
            return returned
        return Outcome(data=_check_pairs(f"{self.name}.{call.skill}", returned))


async def await_if_needed(value: T | Awaitable[T]) -> T:
    return await cast(Awaitable[T], value) if inspect.isawaitable(value) else value


def _check_pairs(where: str, values: object) -> Pairs:
    if not isinstance(values, Mapping):
        raise SkillInvalid(f"{where} came back as {type(values).__name__}; expected nothing or a mapping")
    pairs = tuple((str(name), value) for name, value in cast(Mapping[object, object], values).items())
    if wrong := [name for name, value in pairs if not isinstance(value, str | int | float | bool | None)]:
        raise SkillInvalid(f"{where}: {', '.join(wrong)} must be a string, a number, a boolean or None")
    return cast(Pairs, pairs)
