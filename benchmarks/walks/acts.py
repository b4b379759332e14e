"""The walks of an act and of a step: `python -m benchmarks.walks.acts act|step`, with WALK_TO in the environment."""

import asyncio
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.walks.trace import Trace
from midcourse import Agent, Draft, Expectation, Settings
from midcourse.expect import SurfaceMatches
from midcourse.planners import PlanDraft, PlanningContext, Playbook, Rule
from midcourse.testing import Approves
from midcourse.worlds import BaseWorld, Browser, Scene, Zone, skill


class Lamp(BaseWorld):
    """A lamp that can be switched on."""

    lit = False

    def look(self) -> Scene:
        return Scene("Lit" if self.lit else "Dark", Zone(id="switch", role="button", label="Switch"))

    @skill(effect="reversible", transition=True)
    def press(self, zone: Zone) -> None:
        self.lit = True


class Shop(BaseHTTPRequestHandler):
    """A page with one form. It says 'Ordered' after the form was sent."""

    def do_GET(self) -> None:
        self._answer("<title>Lamp</title><form method=post action=/orders><button>Order</button></form>")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer("<title>Ordered</title>")

    def _answer(self, page: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


class Recording:
    """A planner that records from its first answer until it is asked again."""

    def __init__(self, planner: Playbook, trace: Trace) -> None:
        self._planner, self._trace, self._asked = planner, trace, 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self._trace.recording = False
        draft = await self._planner.plan(context)
        self._asked += 1
        self._trace.recording = self._asked == 1
        return draft


def make_rules(zone: str, name: str, before: str, after: str) -> Playbook:
    then = Expectation(checks=[SurfaceMatches(pattern=after)])
    return Playbook([Rule(on=before, steps=(Draft(zone=zone, skill=name, expect=then),)), Rule(on=after, done=True)])


def main(walk: str) -> None:
    trace = Trace()
    trace.install()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        if walk == "act":
            world, rules = (
                Browser(f"http://127.0.0.1:{server.server_port}/"),
                make_rules("button:Order", "click", "Lamp", "Ordered"),
            )
        else:
            world, rules = Lamp(), make_rules("button:Switch", "press", "Dark", "Lit")
        agent = Agent(world, Recording(rules, trace), approver=Approves(), settings=Settings(home=home))
        result = asyncio.run(agent.run("Do it"))
    server.shutdown()
    assert result.final_reason == "plan_complete", result
    trace.write()


if __name__ == "__main__":
    main(sys.argv[1])
