"""Every world passes the public conformance suite, and the suite notices worlds that do not conform."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.search.generated import generate_application
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.ports.world import Call, World
from midcourse.testing.conformance.world import WorldConformance, a_call
from midcourse.worlds.base import Scene, Zone
from midcourse.worlds.host.wire import Handle
from midcourse.worlds.remote import RemoteWorld
from midcourse.worlds.simulated import Arm, Desktop, Erp, Quest, Shop, Web
from midcourse.worlds.simulated.application import Windows
from tests.worlds.host_process import DIARY, ERP, SHOP, run_host
from tests.worlds.test_base import Lamp


class TestLamp(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Lamp()

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("turn", observation.zones[0], (("on", True),))


class TestDesktop(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Desktop(effects=str(tmp_path / "effects.jsonl"))

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("press", arguments=(("key", "Win"),))


class TestShop(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Shop(effects=str(tmp_path / "effects.jsonl"))

    def a_harmless_call(self, observation: Observation) -> Call:
        product = next(zone for zone in observation.zones if zone.role == "product")
        return a_call("set_quantity", product, (("quantity", 2),))


class TestArm(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Arm()

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("click", observation.zones[0])


class TestWindows(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Windows(generate_application(0).application, effects=str(tmp_path / "effects.jsonl"))

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("click", observation.zones[0])


class TestErp(WorldConformance):
    def make_world(self, tmp_path: Path) -> World:
        return Erp(effects=str(tmp_path / "effects.jsonl"))

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("click", observation.zones[0])


class TestWeb(TestErp):
    def make_world(self, tmp_path: Path) -> World:
        return Web(effects=str(tmp_path / "effects.jsonl"))


class TestQuest(TestErp):
    def make_world(self, tmp_path: Path) -> World:
        return Quest(effects=str(tmp_path / "effects.jsonl"))


@pytest.mark.slow
@pytest.mark.usefixtures("forked_hosts")
class TestShopInItsOwnProcess(TestShop):
    def make_world(self, tmp_path: Path) -> World:
        return RemoteWorld("midcourse.worlds.simulated:Shop", folder=tmp_path, idle=60.0)


@pytest.mark.slow
@pytest.mark.usefixtures("forked_hosts")
class TestErpInItsOwnProcess(TestErp):
    def make_world(self, tmp_path: Path) -> World:
        options = {"drift": {"popup": 0.0}, "seed": 3}
        return RemoteWorld("midcourse.worlds.simulated:Erp", options=options, folder=tmp_path, idle=60.0)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    with run_host(tmp_path_factory.mktemp("host")) as there:
        yield there.host


@pytest.mark.slow
class TestShopAtAHostOfMany(TestShop):
    @pytest.fixture(autouse=True)
    def there(self, host: Handle) -> None:
        self.host = host

    def make_world(self, tmp_path: Path) -> World:
        return RemoteWorld(SHOP, host=self.host, key=str(tmp_path))


@pytest.mark.slow
class TestErpAtAHostOfMany(TestErp):
    @pytest.fixture(autouse=True)
    def there(self, host: Handle) -> None:
        self.host = host

    def make_world(self, tmp_path: Path) -> World:
        return RemoteWorld(ERP, options={"drift": {"popup": 0.0}, "seed": 3}, host=self.host, key=str(tmp_path))


@pytest.mark.slow
class TestDiaryOnAThreadOfItsOwn(WorldConformance):
    @pytest.fixture(autouse=True)
    def there(self, host: Handle) -> None:
        self.host = host

    def make_world(self, tmp_path: Path) -> World:
        return RemoteWorld(DIARY, options={"folder": str(tmp_path)}, host=self.host, key=str(tmp_path))

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("write", arguments=(("text", "Dear diary"),))


class Restless(Lamp):
    def look(self) -> Scene:
        self.on = not self.on
        return super().look()


class Twins(Lamp):
    def look(self) -> Scene:
        zone = Zone(id="lamp", role="switch", label="Lamp")
        return Scene("Room", zone, zone)


class Unbarred(Lamp):
    async def bar(self, command: int) -> None:
        pass


class Hasty(Lamp):
    async def _attempt(self, call: Call) -> Outcome:
        return Outcome()


class Dark(Lamp):
    def look(self) -> Unseen:  # pyrefly: ignore[bad-override]
        return Unseen(reason="failed")


@pytest.mark.parametrize(
    ("kind", "test"),
    [
        (Restless, "test_looking_changes_nothing"),
        (Twins, "test_zones_have_ids_of_their_own"),
        (Unbarred, "test_a_barred_command_does_nothing"),
        (Hasty, "test_a_zone_that_is_not_there_is_not_visible"),
        (Hasty, "test_an_unknown_skill_fails_and_raises_nothing"),
        (Dark, "test_the_same_screen_has_the_same_fingerprint"),
    ],
)
def test_the_suite_fails_a_world_that_breaks_a_rule(kind: type[Lamp], test: str, tmp_path: Path) -> None:
    class Suite(TestLamp):
        def make_world(self, tmp_path: Path) -> World:
            return kind()

    with pytest.raises(AssertionError):
        getattr(Suite(), test)(tmp_path)
