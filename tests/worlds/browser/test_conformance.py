"""The browser passes the suite that every world passes."""

from collections.abc import Generator
from pathlib import Path

import pytest

from midcourse.domain.observation import Observation
from midcourse.ports.world import Call, World
from midcourse.testing.conformance.world import WorldConformance, a_call
from midcourse.worlds.browser import Browser
from tests.pages import Pages, serving

pytestmark = pytest.mark.slow

FORM = "<h1>Form</h1><label>Name <input></label><label><input type=checkbox> Agree</label><button>Go</button>"


@pytest.fixture(scope="module")
def pages() -> Generator[Pages]:
    with serving() as there:
        yield there


class TestBrowser(WorldConformance):
    @pytest.fixture(autouse=True)
    def there(self, pages: Pages) -> None:
        self.address = pages.show("/", FORM, title="Form")

    def make_world(self, tmp_path: Path) -> World:
        return Browser(self.address, quiet_seconds=0.02)

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("check", next(zone for zone in observation.zones if zone.role == "checkbox"))
