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

from midcourse.app.desk.desks import Desks, LocalDesks
from midcourse.app.settings.run import Settings
from midcourse.server.access.doorway import Doorway
from midcourse.server.access.guard import RateLimit
from midcourse.server.access.identity import RIGHTS, Caller, Role
from midcourse.server.access.keys import ApiKey, KeyRing, digest_of, new_secret
from midcourse.server.app import build_app
from midcourse.server.start import Server, Serving, listen, provider_of, site_of
from midcourse.server.starting import Starts
from midcourse.server.state import Shared
from midcourse.server.webhooks.notifier import Notifier
from tests.cli.conftest import order_file

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
class Served:
    """A server that is up."""

    url: str
    token: str
    """Of the owner of the first tenant's runs."""
    keys: dict[tuple[str, Role], str]
    home: Path
    hub_of: Callable[[], Any]
    clients: ExitStack
    tenants: tuple[str, str] = TENANTS

    def client(self, role: Role = "admin", tenant: str = "") -> httpx.Client:
        """A program with the key of this role, of the first tenant if none is named."""
        return self.anyone(headers={"Authorization": f"Bearer {self.keys[tenant or self.tenants[0], role]}"})

    def anyone(self, **options: Any) -> httpx.Client:
        """A client without credentials. It loads no certificates, which would take longer than most requests."""
        client = httpx.Client(base_url=f"{self.url}/api/v1", timeout=PATIENCE, verify=False, **options)
        return self.clients.enter_context(client)


def homes_in(folder: Path) -> LocalDesks:
    return LocalDesks({tenant: Settings.load(overrides={"home": str(folder / tenant)}) for tenant in TENANTS})


@contextmanager
def serving(
    home: Path,
    *,
    tasks: Path | None = None,
    limit: RateLimit | None = None,
    desks: Callable[[], Desks] | None = None,
    tenants: tuple[str, str] = TENANTS,
    keys: KeyRing | None = None,
    origins: tuple[str, ...] = (),
    notify: Callable[[Desks], Notifier] | None = None,
    oidc: Path | None = None,
) -> Generator[Served]:
    """A server for two tenants: by default for their homes in this folder."""
    tasks = tasks or task_folder(home / "tasks")
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    token = new_secret()
    secrets: dict[tuple[str, Role], str] = {(tenant, role): new_secret() for tenant in tenants for role in RIGHTS}
    server: list[tuple[Server, Shared]] = []
    up = threading.Event()

    async def go() -> None:
        served = desks() if desks else homes_in(home)
        shared = Shared(
            desks=served,
            notifier=notify(served) if notify else None,
            oidc=provider_of(Serving(home=Settings.load(), oidc=oidc), tenants[0], f"http://127.0.0.1:{port}"),
            doorway=Doorway(
                home / "server",
                token=token,
                owner=Caller(name="owner", tenant=tenants[0], role="admin"),
                keys=keys
                or KeyRing(
                    tuple(
                        ApiKey(
                            digest=digest_of(key),
                            caller=Caller(name=f"{tenant}-{role}", tenant=tenant, role=role, means="key"),
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
        made = Server(app, shared)
        server.append((made, shared))
        await shared.desks.open()
        if shared.notifier:
            await shared.notifier.start()
        up.set()
        await made.serve([listener])

    thread = threading.Thread(target=lambda: asyncio.run(go()), daemon=True)
    thread.start()
    assert up.wait(PATIENCE)
    url = f"http://127.0.0.1:{port}"
    until(lambda: server[0][0].started)
    try:
        with ExitStack() as clients:
            yield Served(
                url=url,
                token=token,
                keys=secrets,
                home=home,
                hub_of=lambda: server[0][1].hub,
                clients=clients,
                tenants=tenants,
            )
    finally:
        server[0][0].should_exit = True
        thread.join(PATIENCE)


def task_folder(folder: Path) -> Path:
    """Tasks in worlds of the server's own process, which open immediately: `lamp`, `doubtful`, `stored`, `changeable`, `watched`."""
    folder.mkdir(exist_ok=True, parents=True)
    fault = '[[world.faults]]\nkind = "{kind}"\nskill = "place_order"'
    order_file(folder, "lamp.toml")
    order_file(folder, "doubtful.toml", fault.format(kind="error_not_stored"))
    stored = Path(order_file(folder, "stored.toml", fault.format(kind="stored_but_error")))
    stored.write_text(stored.read_text().replace(PLACES, PLACES + PROBED))
    (folder / "changeable.toml").write_text(CHANGEABLE)
    (folder / "watched.toml").write_text(CHANGEABLE.replace(":Office", ":Window"))
    return folder


def until(condition: Callable[[], Any]) -> Any:
    """Wait for a condition, and return what it found."""
    give_up_at = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < give_up_at, "it never came true"
        time.sleep(0.02)
    return found


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One message of an event stream."""

    type: str
    id: str
    data: dict[str, Any]


def listening(client: httpx.Client, run_id: str, last_id: str = "") -> Iterator[Heard]:
    """The messages of a run's stream, until it ends or is left."""
    headers = {b"Last-Event-ID": last_id.encode()} if last_id else {}
    with client.stream("GET", f"/runs/{run_id}/events", headers=headers) as response:
        assert response.status_code == 200, response.read()
        fields: dict[str, str] = {}
        for line in response.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                yield Heard(type=fields["event"], id=fields.get("id", ""), data=json.loads(fields["data"]))
                fields = {}
            else:
                fields = {}


def start(client: httpx.Client, run_id: str = "lamp", task: str = "lamp", **body: Any) -> str:
    answer = client.post("/runs", json={"task": task, "run_id": run_id, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()["run"]


def start_asking(client: httpx.Client, run_id: str = "lamp", task: str = "lamp") -> dict[str, Any]:
    """A run that waits for an approval, and its question."""
    start(client, run_id, task, settings={"approvals": "always"})
    return until(lambda: question_of(client, run_id))


def question_of(client: httpx.Client, run_id: str) -> dict[str, Any] | None:
    asked = client.get("/questions").json()["questions"]
    return next((one for one in asked if one["run"] == run_id), None)


def decide(client: httpx.Client, question: dict[str, Any], verdict: str = "approved", **body: Any) -> httpx.Response:
    body = {"verdict": verdict, "shown": question["shown"], **body}
    return client.post(f"/runs/{question['run']}/questions/{question['id']}", json=body)


def ended(client: httpx.Client, run_id: str = "lamp") -> dict[str, Any]:
    """The view of the run once it has ended."""

    def look() -> dict[str, Any] | None:
        found = client.get(f"/runs/{run_id}").json()
        return found if found["result"] else None

    return until(look)
