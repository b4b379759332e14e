"""A real server on loopback for tests: in a thread, with two tenants, and a key for each role of each."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx

from midcourse.config.settings import Settings
from midcourse.server.access.doorway import Doorway
from midcourse.server.access.guard import RateLimit
from midcourse.server.access.identity import RIGHTS, Caller, Role
from midcourse.server.access.keys import ApiKey, KeyRing, digest_of, new_secret
from midcourse.server.app import build_app
from midcourse.server.start import Server, Serving, listen, provider_of, site_of
from midcourse.server.starting import Starts
from midcourse.server.state import Shared
from midcourse.server.webhooks.notifier import Notifier
from midcourse.tenants.tenants import LocalTenants, Tenants
from tests.cli.conftest import write_order

TENANTS = ("acme", "umbrella")
CHANGEABLE = """
goal = "Order a lamp"

[world]
name = "tests.server.worlds:Office"

[planner]
name = "same_plan"
final = true
steps = [{ zone = "__global__", skill = "order", arguments = { product = "Lamp", reference = "PO-1" }, says = "Order it" }]
"""
PLACES = 'says = "Place the order"\n'
PROBED = 'probe = { name = "order_placed", arguments = { reference = "$input.reference" } }\n'
PATIENCE = 300.0
"""Seconds that only guard against hanging."""


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    """A server that has started."""

    url: str
    token: str
    """The token of the owner, who belongs to the first tenant."""
    keys: dict[tuple[str, Role], str]
    home: Path
    get_hub: Callable[[], Any]
    clients: ExitStack
    tenants: tuple[str, str] = TENANTS

    def client(self, role: Role = "admin", tenant: str = "") -> httpx.Client:
        """A client with the key of this role, by default of the first tenant."""
        return self.anonymous_client(headers={"Authorization": f"Bearer {self.keys[tenant or self.tenants[0], role]}"})

    def anonymous_client(self, **options: Any) -> httpx.Client:
        """A client without credentials. It loads no certificates, which would take longer than most requests."""
        client = httpx.Client(base_url=f"{self.url}/api/v1", timeout=PATIENCE, verify=False, **options)
        return self.clients.enter_context(client)


def make_local_tenants(folder: Path) -> LocalTenants:
    return LocalTenants({tenant: Settings.load(overrides={"home": str(folder / tenant)}) for tenant in TENANTS})


@contextmanager
def run_server(
    home: Path,
    *,
    tasks: Path | None = None,
    limit: RateLimit | None = None,
    served: Callable[[], Tenants] | None = None,
    tenants: tuple[str, str] = TENANTS,
    keys: KeyRing | None = None,
    origins: tuple[str, ...] = (),
    notify: Callable[[Tenants], Notifier] | None = None,
    oidc: Path | None = None,
) -> Generator[RunningServer]:
    """Run a server for two tenants, by default with their homes in this folder."""
    tasks = tasks or write_tasks(home / "tasks")
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    token = new_secret()
    secrets: dict[tuple[str, Role], str] = {(tenant, role): new_secret() for tenant in tenants for role in RIGHTS}
    started: list[tuple[Server, Shared]] = []
    up = threading.Event()

    async def serve() -> None:
        opened = served() if served else make_local_tenants(home)
        shared = Shared(
            tenants=opened,
            notifier=notify(opened) if notify else None,
            oidc=provider_of(Serving(home=Settings.load(), oidc=oidc), tenants[0], f"http://127.0.0.1:{port}"),
            doorway=Doorway(
                home / "server",
                token=token,
                owner=Caller(name="owner", id="account:owner", tenant=tenants[0], role="admin"),
                keys=keys
                or KeyRing(
                    tuple(
                        ApiKey(
                            digest=digest_of(key),
                            caller=Caller(
                                name=f"{tenant}-{role}",
                                id=f"key:{tenant}-{role}",
                                tenant=tenant,
                                role=role,
                                means="key",
                            ),
                        )
                        for (tenant, role), key in secrets.items()
                    )
                ),
            ),
            starts=Starts(home / "server"),
            tasks=tasks,
        )
        site = site_of(Serving(home=Settings.load(), origins=origins), port)
        app = build_app(shared, site, limit or RateLimit(per_second=1e6, burst=1_000_000))
        server = Server(app, shared)
        started.append((server, shared))
        await shared.tenants.open()
        if shared.notifier:
            await shared.notifier.start()
        up.set()
        await server.serve([listener])

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert up.wait(PATIENCE)
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: started[0][0].started)
    try:
        with ExitStack() as clients:
            yield RunningServer(
                url=url,
                token=token,
                keys=secrets,
                home=home,
                get_hub=lambda: started[0][1].hub,
                clients=clients,
                tenants=tenants,
            )
    finally:
        started[0][0].should_exit = True
        thread.join(PATIENCE)


def write_tasks(folder: Path) -> Path:
    """Write tasks whose worlds open immediately, because they are in the process of the server: `lamp`, `doubtful`, `stored`, `changeable`, `watched`."""
    folder.mkdir(exist_ok=True, parents=True)
    fault = '[[world.faults]]\nkind = "{kind}"\nskill = "place_order"'
    write_order(folder, "lamp.toml")
    write_order(folder, "doubtful.toml", fault.format(kind="error_not_stored"))
    stored = Path(write_order(folder, "stored.toml", fault.format(kind="stored_but_error")))
    stored.write_text(stored.read_text().replace(PLACES, PLACES + PROBED))
    (folder / "changeable.toml").write_text(CHANGEABLE)
    (folder / "watched.toml").write_text(CHANGEABLE.replace(":Office", ":Window"))
    return folder


def wait_until(condition: Callable[[], Any]) -> Any:
    """Wait until a condition is true, and return its value."""
    give_up_at = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < give_up_at, "the condition never became true"
        time.sleep(0.02)
    return found


@dataclass(frozen=True, kw_only=True)
class StreamMessage:
    """A message of an event stream."""

    type: str
    id: str
    data: dict[str, Any]


def read_stream(client: httpx.Client, run_id: str, last_id: str = "") -> Iterator[StreamMessage]:
    """Read the messages of a run's event stream until it ends."""
    headers = {b"Last-Event-ID": last_id.encode()} if last_id else {}
    with client.stream("GET", f"/runs/{run_id}/events", headers=headers) as response:
        assert response.status_code == 200, response.read()
        fields: dict[str, str] = {}
        for line in response.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                yield StreamMessage(type=fields["event"], id=fields.get("id", ""), data=json.loads(fields["data"]))
                fields = {}
            else:
                fields = {}


def start(client: httpx.Client, run_id: str = "lamp", task: str = "lamp", **body: Any) -> str:
    response = client.post("/runs", json={"task": task, "run_id": run_id, **body})
    assert response.status_code == 201, response.text
    return response.json()["run"]


def start_run_that_asks(client: httpx.Client, run_id: str = "lamp", task: str = "lamp") -> dict[str, Any]:
    """Start a run that asks for an approval, and return its question."""
    start(client, run_id, task, settings={"approvals": "always"})
    return wait_until(lambda: find_question(client, run_id))


def find_question(client: httpx.Client, run_id: str) -> dict[str, Any] | None:
    questions = client.get("/questions").json()["questions"]
    return next((question for question in questions if question["run"] == run_id), None)


def decide(client: httpx.Client, question: dict[str, Any], verdict: str = "approved", **body: Any) -> httpx.Response:
    body = {"verdict": verdict, "shown": question["shown"], **body}
    return client.post(f"/runs/{question['run']}/questions/{question['id']}", json=body)


def wait_for_end(client: httpx.Client, run_id: str = "lamp") -> dict[str, Any]:
    """Wait until the run has ended, and return its view."""

    def find_ended() -> dict[str, Any] | None:
        view = client.get(f"/runs/{run_id}").json()
        return view if view["result"] else None

    return wait_until(find_ended)
