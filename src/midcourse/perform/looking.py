"""Observations: what the world shows, what models read in its picture and in its words, and the cost.

A picture that cannot be fetched, stored or read does not fail a run: the observation is then used without it.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from midcourse.codec import make_encodable
from midcourse.containment import Contained
from midcourse.domain.argument import Scalar
from midcourse.domain.budget import FREE, Cost, Spent, bill, total, without_call
from midcourse.domain.expectation import Expectation
from midcourse.domain.observation import Observation, ObservationRef, Unseen
from midcourse.domain.outcome import ANSWERED_WITH_ERROR, Outcome
from midcourse.domain.plan import Step
from midcourse.domain.replace import replace
from midcourse.errors import TaskInvalid
from midcourse.exception_text import describe_exception
from midcourse.perform.ports import Deadline, Ports, describe_error
from midcourse.pictures import read_picture, to_png
from midcourse.policy.evidence.quotation import FIELDS, why_not_a_sign
from midcourse.policy.evidence.verification import Sight, holds, needs_reader
from midcourse.policy.identity import digest_of
from midcourse.policy.merging import merge_zones
from midcourse.policy.spending import worst_plan
from midcourse.ports.abilities import offers
from midcourse.ports.blobs import Blob
from midcourse.ports.metering import metering
from midcourse.ports.reader import Picture, Reader, Sighting
from midcourse.ports.verifier import Claim, Verdict
from midcourse.ports.world import Pictured, Settling

ROLE = "reader"

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Look:
    """The result of an observation, and what it cost."""

    seen: Observation | Unseen
    spent: tuple[Spent, ...] = ()
    wait: float | None = None
    """Seconds until the reader's model should be asked again, if it could not be reached."""
    meets_goal: bool = False

    @property
    def ref(self) -> ObservationRef | None:
        return replace(self.seen.ref, meets_goal=self.meets_goal) if isinstance(self.seen, Observation) else None

    @property
    def cost(self) -> Cost:
        return total(self.spent)


NO_LOOK = Look(seen=Unseen(reason="failed", detail="not looked at"))


async def look(
    ports: Ports,
    command: int,
    seconds: float,
    *,
    version: int = 0,
    free: bool = False,
    reads: bool = True,
    settle: bool = False,
) -> Look:
    """Observe the world and save the observation. Unless `reads`, no model reads its picture.

    `settle`: first wait until the world has settled, as far as it can tell.

    An empty screen counts as not seen, because it was probably not loaded, unless no skill of the world acts on a zone.
    """
    time = Deadline(ports.clock, seconds)
    flat = FREE if free else ports.look_cost
    if settle and offers(ports.world, Settling):
        with suppress(Exception):  # the observation says what is wrong
            async with Contained(time.left()):
                await ports.world.settle()
    seen = await _observe_world(ports, time)
    picture = None
    if isinstance(seen, Observation) and seen.screenshot:
        picture = await _store_picture(ports, seen.screenshot, time)
        seen = seen if picture else replace(seen, screenshot="")
    sighting: Sighting | None = None
    if reads and ports.reader is not None and ports.task.limits.vision and isinstance(seen, Observation):
        sighting = await _read_picture_once(ports, ports.reader, picture, seen, time)
        seen = _apply_sighting(ports, seen, sighting)
    if isinstance(seen, Observation) and not seen.zones:
        skills = ports.world.catalogue().skills
        if not skills or any(skill.on_zone for skill in skills):
            seen = Unseen(reason="empty", detail=f"'{seen.surface.title}' showed nothing to act on")
    meets_goal = False
    if isinstance(seen, Observation):
        seen = ports.mask_observation(replace(seen, id=f"o{command}"))
        await ports.store.save_observation(ports.run_id, seen)
        meets_goal = _seems_done(ports, seen)
    cost = flat.plus(sighting.cost) if sighting else flat
    if sighting is None:
        return Look(seen=seen, spent=bill(ROLE, cost, version), meets_goal=meets_goal)
    spent = bill(ROLE, cost, version, sighting.model)
    return Look(seen=seen, spent=spent, wait=sighting.wait, meets_goal=meets_goal)


def _seems_done(ports: Ports, seen: Observation) -> bool:
    """Whether `done_when` holds without a model or a probe, and not only because a field shows what was typed into it."""
    condition = ports.task.done_when
    if not isinstance(condition, Expectation):
        return False
    shown = replace(seen, zones=tuple(zone for zone in seen.zones if zone.role not in FIELDS))
    return bool(holds(condition, seen) and holds(condition, shown))


async def is_world_lost(ports: Ports, seconds: float) -> bool:
    """Whether the world's session is gone or its host cannot be reached. Nothing is saved or read by a model."""
    seen = await _observe_world(ports, Deadline(ports.clock, seconds))
    return isinstance(seen, Unseen) and seen.reason == "world_lost"


async def _observe_world(ports: Ports, time: Deadline) -> Observation | Unseen:
    seconds = time.left()
    try:
        async with Contained(seconds):
            seen = cast(object, await ports.world.observe())
    except TimeoutError:
        return Unseen(reason="timeout", detail=f"nothing was seen within {seconds:g} s")
    except Exception as error:
        return Unseen(reason="failed", detail=ports.sanitize(describe_exception(error)))
    if isinstance(seen, Unseen):
        return replace(seen, detail=ports.sanitize(seen.detail))
    if not isinstance(seen, Observation):
        return Unseen(reason="failed", detail=f"the world showed {type(seen).__name__}, not an Observation")
    return make_encodable(seen) or Unseen(reason="failed", detail="what the world showed cannot be encoded as JSON")


MOST_SIGHTINGS = 20
"""Pictures of a run whose zones a process keeps."""


async def _read_picture_once(
    ports: Ports, reader: Reader, picture: Blob | None, seen: Observation, time: Deadline
) -> Sighting:
    """Read the picture, unless the same picture of the same zones has been read: a look after an act that changed nothing is free."""
    shown = sorted((zone.role, zone.label, zone.bounds or ()) for zone in seen.zones)
    key = digest_of(seen.screenshot, seen.surface.title, repr(shown)) if seen.screenshot else ""
    if key and (known := ports.sightings.get(key)):
        return replace(known, cost=FREE)
    sighting = await _read_picture(ports, reader, picture, seen, time)
    if key and not sighting.unread and sighting.wait is None:
        ports.sightings[key] = sighting
        for old in [*ports.sightings][:-MOST_SIGHTINGS]:
            del ports.sightings[old]
    return sighting


async def _read_picture(
    ports: Ports, reader: Reader, picture: Blob | None, seen: Observation, time: Deadline
) -> Sighting:
    """Ask the reader. After an error no zones were found, and the full reservation counts as spent."""
    png = await as_png(picture)
    if not png:
        return Sighting(why=f"there is no picture of '{seen.surface.title}'", unread=True, cost=FREE)
    worst, known = worst_plan(ports.task.limits), ports.mask_observation(seen).zones
    goal = ports.public_task.goal
    shown = Picture(png=png, surface=seen.surface, size=seen.size, goal=goal, known=known, worst=worst)
    with metering() as meter:
        try:
            async with Contained(time.left()):
                return await reader.read(shown)
        except TimeoutError:
            cost = without_call(meter.at_most(worst))
            return Sighting(why="it took too long", unread=True, cost=cost, wait=0.0)
        except Exception as error:
            return Sighting(why=describe_error(error), unread=True, cost=meter.at_most(worst))


def _apply_sighting(ports: Ports, seen: Observation, sighting: Sighting) -> Observation | Unseen:
    """The observation with the zones found in the picture.

    Returns `Unseen`, so that the last observation stays, if neither the reader nor the world found zones on the screen, or if the
    reader must be asked again.
    """
    if not sighting.zones and (sighting.wait is not None or not any(zone.bounds for zone in seen.zones)):
        return Unseen(reason="failed", detail=f"the picture could not be read: {sighting.why}")
    return replace(merge_zones(seen, sighting.zones), unread=ports.sanitize(sighting.why) if sighting.unread else "")


# --- the screen after an act


async def observe_after(ports: Ports, command: int, step: Step, time: Deadline, *, free: bool = False) -> Look:
    """Look at the world. A `free` look is not charged, and no model reads its picture."""
    seconds = time.left(ports.task.limits.look_timeout_seconds)
    return await look(ports, command, seconds, version=step.version, free=free, reads=not free)


async def read_sight(
    ports: Ports,
    step: Step,
    before: Observation,
    found: Look,
    time: Deadline,
    report: Outcome | None = None,
    *,
    free: bool = False,
) -> tuple[Sight, tuple[Spent, ...]]:
    """The screen after an act, with its verbal expectation checked by the verifier, and the cost.

    Nothing is read after a failure or an error status, or for a `free` look. Of an irreversible act, the verifier's yes counts only if
    the words that it quotes are a sign.
    """
    after = found.seen if isinstance(found.seen, Observation) else None
    sight = Sight(before=before, after=after, expect=step.expect, absent_when=step.absent_when)
    failed = report is not None and (report.status not in ("ok", "unknown") or report.reason == ANSWERED_WITH_ERROR)
    if after is None or free or failed or step.expect is None or not needs_reader(step.expect):
        return sight, ()
    binds = step.effect == "irreversible"
    claim = Claim(says=step.expect.says, task=ports.public_task, now=after, before=before, happened=binds)
    read = await ask_verifier(ports, claim, time, version=step.version)
    if read.verdict is None:
        return sight, read.spent
    holds, held_before = read.verdict.holds, read.verdict.held_before
    if binds and holds:
        holds, held_before = (True, False) if await find_sign(ports, read.verdict, before, after) else (None, None)
    return replace(sight, read=holds, read_before=held_before), read.spent


async def find_sign(ports: Ports, verdict: Verdict, before: Observation, after: Observation) -> str:
    """The words of the screen that the verifier quotes as a sign that an act happened; empty if they are none."""
    quote = " ".join(ports.sanitize(verdict.quote).split())
    if not verdict.holds or why_not_a_sign(quote, before, after, await _list_entered(ports)):
        return ""
    return quote


async def _list_entered(ports: Ports) -> list[Scalar]:
    """Everything that this run has typed or sent."""
    past = await ports.refresh_history()
    entered: list[Scalar] = []
    for entry in past.entries:
        arguments = ports.fill_in(past.plans[entry.version].steps[entry.index].arguments)
        entered += () if isinstance(arguments, str) else dict(arguments).values()
        sent = await ports.store.consequence(ports.run_id, entry.consequence) if entry.consequence else None
        entered += dict(sent.commit.values).values() if sent else ()
    return entered


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The verifier's verdict, None if it was not asked, and what it cost."""

    verdict: Verdict | None = None
    spent: tuple[Spent, ...] = ()


async def read_words(
    ports: Ports,
    condition: Expectation | None,
    now: Observation,
    time: Deadline,
    *,
    turn: int = 0,
) -> Reading:
    """Have the verifier read a condition that is only words, if there is one and the settings allow it."""
    if condition is None or not needs_reader(condition):
        return Reading()
    return await ask_verifier(ports, Claim(says=condition.says, task=ports.public_task, now=now, turn=turn), time)


async def ask_verifier(ports: Ports, claim: Claim, time: Deadline, *, version: int = 0) -> Reading:
    """Have the verifier judge this claim, if there is one and the settings allow it. No answer in time is no verdict."""
    if ports.verifier is None or not ports.task.limits.reads_words:
        return Reading()
    worst, seconds = worst_plan(ports.task.limits), time.left(ports.task.limits.plan_timeout_seconds)
    claim = replace(claim, says=ports.sanitize(claim.says), worst=worst)
    with metering() as meter:
        try:
            async with Contained(seconds):
                verdict = await ports.verifier.verify(claim)
        except TimeoutError:
            verdict = Verdict(why="it was not read in time", cost=without_call(meter.at_most(worst)), wait=0.0)
        except Exception as error:
            verdict = Verdict(why=describe_error(error), cost=meter.at_most(worst))
    return Reading(verdict=verdict, spent=bill("verifier", verdict.cost, version, verdict.model))


# --- pictures


async def _store_picture(ports: Ports, digest: str, time: Deadline) -> Blob | None:
    """Fetch the screenshot that the world's latest observation names, and store it with the run.

    None: it is not available, it is not a picture, or it could not be stored in time.
    """
    if ports.blobs is None or not offers(ports.world, Pictured):
        return None
    try:
        async with Contained(time.left()):
            data = await ports.world.read_screenshot(digest)
            picture = read_picture(data) if data is not None else None
            if picture is None or picture.digest != digest:
                return None
            await ports.blobs.put(ports.run_id, picture)
    except Exception as error:  # a world of the user may raise anything
        log.warning("a screenshot of run %s was not stored: %s: %s", ports.run_id, type(error).__name__, error)
        return None
    return picture


async def read_stored(ports: Ports, digest: str) -> Blob | None:
    """A screenshot of this run."""
    try:
        return await ports.blobs.read(ports.run_id, digest) if ports.blobs else None
    except OSError as error:
        log.warning("a screenshot of run %s was not read: %s", ports.run_id, error)
        return None


async def as_png(picture: Blob | None) -> bytes:
    """The picture as PNG; empty if there is none."""
    if picture is None or not picture.media_type.startswith("image/"):
        return b""
    try:
        return await asyncio.to_thread(to_png, picture)
    except (OSError, TaskInvalid) as error:  # Pillow raises OSError for data that it cannot read
        log.warning("a picture cannot be shown to a model: %s", error)
        return b""
