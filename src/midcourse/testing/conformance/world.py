"""Conformance suite for worlds.

    class TestMine(WorldConformance):
        def make_world(self, tmp_path: Path) -> World:
            return MyWorld()

        def a_harmless_call(self, observation: Observation) -> Call:
            return a_call("click", observation.zones[0])

`tmp_path` is a folder of the test's own. The harmless call is one that works on the first screen, any number of times.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, Target
from midcourse.domain.skill import Effect, Parameter, Skill, ValueType
from midcourse.ports.abilities import offers
from midcourse.ports.world import Call, Rereads, World

_SAMPLES: dict[ValueType, Scalar] = {"string": "x", "integer": 1, "number": 1.0, "boolean": True, "json": "{}"}


def a_call(skill: str, zone: Zone | None = None, arguments: Pairs = (), command: int = 1) -> Call:
    """A call as a run would make it; without a zone it is for a skill that has none."""
    if zone is None:
        target = Target(surface="", role="", label="")
        return Call(command=command, skill=skill, zone=GLOBAL, target=target, arguments=arguments)
    target = Target(surface="", role=zone.role, label=zone.label)
    return Call(command=command, skill=skill, zone=zone.id, target=target, arguments=arguments)


class WorldConformance:
    """Tests that every world must pass. Subclass it as `Test…` and define `make_world` and `a_harmless_call`."""

    def make_world(self, tmp_path: Path) -> World:
        raise NotImplementedError("a conformance suite needs to know what to test")

    def a_harmless_call(self, observation: Observation) -> Call:
        raise NotImplementedError("a conformance suite needs one call that works and does no harm")

    # --- what it says about itself

    def test_its_skills_make_sense(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            skills = world.catalogue().skills
            names = [skill.name for skill in skills]
            assert skills, "a world without skills has nothing to do"
            assert len(set(names)) == len(names), f"two skills have the same name: {names}"
            for skill in skills:
                assert skill.effect in get_args(Effect), f"{skill.name}: no such effect class: {skill.effect}"
                assert skill.commits in ("call", "world"), f"{skill.name}: its commit set is in no known place"
                assert skill.undo in ("", *names), f"{skill.name}: undone by '{skill.undo}', which is not a skill"
                _check_parameters(skill.name, skill.parameters)

        self._with_world(tmp_path, check)

    def test_its_probes_make_sense(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            catalogue = world.catalogue()
            names = [probe.name for probe in catalogue.probes]
            assert len(set(names)) == len(names), f"two probes have the same name: {names}"
            for probe in catalogue.probes:
                _check_parameters(probe.name, probe.parameters)
            for skill in catalogue.skills:
                if skill.probe is not None:
                    assert skill.probe.name in names, f"{skill.name}: probe '{skill.probe.name}' does not exist"

        self._with_world(tmp_path, check)

    # --- looking

    def test_zones_have_ids_of_their_own(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            ids = [zone.id for zone in (await _seen(world)).zones]
            assert ids, "the first screen shows nothing to act on"
            assert len(set(ids)) == len(ids), f"two zones have the same id: {sorted(ids)}"
            assert GLOBAL not in ids, f"'{GLOBAL}' stands for no zone at all"

        self._with_world(tmp_path, check)

    def test_the_same_screen_has_the_same_fingerprint(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            first, second = await _seen(world), await _seen(world)
            assert first.fingerprint, "a fingerprint cannot be empty"
            if (first.surface, first.zones) == (second.surface, second.zones):
                assert first.fingerprint == second.fingerprint, "two looks at one screen differ"

        self._with_world(tmp_path, check)

    def test_looking_changes_nothing(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            first = await _seen(world)
            for _ in range(5):
                assert (await _seen(world)).fingerprint == first.fingerprint, "looking changed what is seen"

        self._with_world(tmp_path, check)

    # --- acting

    def test_a_harmless_call_works(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            outcome = await world.act(self.a_harmless_call(await _seen(world)))
            assert outcome.status == "ok", f"expected ok: {outcome}"

        self._with_world(tmp_path, check)

    def test_a_zone_that_is_not_there_is_not_visible(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            for skill in world.catalogue().skills:
                if skill.on_zone:
                    call = replace(a_call(skill.name, arguments=_arguments(skill)), zone="no such zone")
                    outcome = await world.act(call)
                    assert outcome.reason == "target_not_visible", f"{skill.name}: {outcome}"
                    assert outcome.status in ("no_effect", "unreachable"), f"{skill.name}: {outcome}"
                    return

        self._with_world(tmp_path, check)

    def test_an_unknown_skill_fails_and_raises_nothing(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            seen = await _seen(world)
            outcome = await world.act(a_call("no such skill", seen.zones[0]))
            assert outcome.status in ("failed", "no_effect"), f"expected a failure: {outcome}"
            assert outcome.reason, "a failure needs a reason that a program can act on"
            assert (await _seen(world)).fingerprint == seen.fingerprint

        self._with_world(tmp_path, check)

    def test_a_barred_command_does_nothing(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            if not world.fences:
                return
            seen = await _seen(world)
            call = self.a_harmless_call(seen)
            await world.bar(call.command)
            await world.bar(call.command)
            outcome = await world.act(call)
            assert (outcome.status, outcome.reason) == ("failed", "barred"), f"it acted all the same: {outcome}"
            assert (await _seen(world)).fingerprint == seen.fingerprint, "a barred command changed the screen"
            other = await world.act(replace(call, command=call.command + 1))
            assert other.status == "ok", f"another command must not be barred: {other}"

        self._with_world(tmp_path, check)

    def test_reading_a_commit_set_sends_nothing(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            seen = await _seen(world)
            for skill in world.catalogue().skills:
                zones = seen.zones[:10] if skill.on_zone else (None,)
                for zone in zones:
                    await world.commit_set(a_call(skill.name, zone, _arguments(skill)))
            assert (await _seen(world)).fingerprint == seen.fingerprint, "reading a commit set changed the screen"
            assert await world.commit_set(self.a_harmless_call(seen)) is not None

        self._with_world(tmp_path, check)

    def test_reading_a_form_again_changes_nothing(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            if not offers(world, Rereads):
                return
            seen = await _seen(world)
            call = self.a_harmless_call(seen)
            await world.commit_set(call)
            changed = await world.reread(call, ("no such value",))
            assert changed is None or set(changed) <= {"no such value"}, f"more than it was asked about: {changed}"
            assert (await _seen(world)).fingerprint == seen.fingerprint, "reading a form again changed the screen"

        self._with_world(tmp_path, check)

    def test_an_unknown_probe_finds_nothing(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            assert await world.probe("no such probe", ()) != "present"

        self._with_world(tmp_path, check)

    # --- sessions

    def test_being_told_what_to_conceal_changes_nothing_else(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            before = await _seen(world)
            await world.conceal((("pin", "no such text"),))
            assert (await _seen(world)).fingerprint == before.fingerprint, "it only must not be pictured"

        self._with_world(tmp_path, check)

    def test_closing_twice_is_no_error(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            await world.close()
            await world.close()

        self._with_world(tmp_path, check)

    def test_attaching_to_an_unknown_handle_fails(self, tmp_path: Path) -> None:
        async def check(world: World) -> None:
            for handle in ("", "nonsense", "{}", '{"url": "http://127.0.0.1:1", "token": "x"}'):
                assert not await world.attach(handle), f"attached to {handle!r}"

        self._with_world(tmp_path, check)

    def test_a_handle_is_what_one_attaches_with(self, tmp_path: Path) -> None:
        """A second world object takes the session over and finds it as it was; the first can no longer act."""

        async def check() -> None:
            first, second = self.make_world(tmp_path), self.make_world(tmp_path)
            handle = await first.open()
            try:
                if not handle:
                    return
                call = self.a_harmless_call(await _seen(first))
                assert await second.attach(handle), "a session that was just opened cannot be attached to"
                before = await _seen(second)
                if first.fences:
                    outcome = await first.act(call)
                    refused = outcome.status in ("failed", "no_effect")
                    assert refused, f"the session that was taken over still acts: {outcome}"
                    assert (await _seen(second)).fingerprint == before.fingerprint
                assert (await second.act(replace(call, command=call.command + 1))).status == "ok"
            finally:
                await second.close()
                await first.close()

        asyncio.run(check())

    def _with_world(self, tmp_path: Path, check: Callable[[World], Awaitable[None]]) -> None:
        async def checked() -> None:
            world = self.make_world(tmp_path)
            await world.open()
            try:
                await check(world)
            finally:
                await world.close()

        asyncio.run(checked())


async def _seen(world: World) -> Observation:
    seen = await world.observe()
    assert isinstance(seen, Observation), f"the world cannot be seen: {seen}"
    return seen


def _arguments(skill: Skill) -> Pairs:
    required = (parameter for parameter in skill.parameters if parameter.required)
    return tuple((p.name, p.choices[0] if p.choices else _SAMPLES[p.type]) for p in required)


def _check_parameters(owner: str, parameters: tuple[Parameter, ...]) -> None:
    names = [parameter.name for parameter in parameters]
    assert len(set(names)) == len(names), f"{owner}: two parameters have the same name: {names}"
    for parameter in parameters:
        assert parameter.type in get_args(ValueType), f"{owner}: '{parameter.name}' has no known type"
