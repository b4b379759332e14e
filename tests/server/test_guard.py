"""What no honest browser sends: other hosts, other origins, forms, huge bodies. And sessions, headers, limits, and where it may bind."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest
from anyio import BrokenResourceError
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from midcourse.cli.main import main
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.server.access.doorway import COOKIE, SECRET_HEADER, Doorway, Proxy
from midcourse.server.access.guard import MOST_BYTES, RateLimit, RequestGuard, Site
from midcourse.server.access.identity import Caller
from midcourse.server.access.keys import KeyFile, add_key, digest_of, new_secret, read_api_keys, remove_key
from midcourse.server.start import Serving, check_bind, site_of
from tests.server.serving import (
    RunningServer,
    StreamMessage,
    decide,
    read_stream,
    run_server,
    start_run_that_asks,
    wait_for_end,
)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "evil.example:{port}", "[::1]"]
)
def test_another_host_is_refused(server: RunningServer, host: str) -> None:
    """A page whose name was made to point to loopback (DNS rebinding) sends its own name."""
    port = server.url.rpartition(":")[2]
    answer = server.client().get("/runs", headers={"Host": host.format(port=port)})
    assert (answer.status_code, answer.json()["code"]) == (421, "wrong_host")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost", "http://127.0.0.1:1", "{url}.evil.example"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(server: RunningServer, origin: str, method: str) -> None:
    headers = {"Origin": origin.format(url=server.url)}
    answer = server.client().request(method, "/runs", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_from_other_sites_are_refused(server: RunningServer, site: str) -> None:
    assert server.client().get("/runs", headers={"Sec-Fetch-Site": site}).status_code == 403


def test_a_link_elsewhere_leads_to_the_console_and_to_nothing_else(server: RunningServer) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    client = server.anonymous_client(headers=link)
    assert client.get(f"{server.url}/").status_code == 200
    assert client.get(f"{server.url}/", headers={"Sec-Fetch-Dest": "iframe"}).status_code == 403
    assert client.post(f"{server.url}/").status_code == 403
    assert server.client().get("/runs", headers=link).status_code == 403


def test_a_typed_address_may_read_and_not_write(server: RunningServer) -> None:
    assert server.client().get("/runs", headers={"Sec-Fetch-Site": "none"}).status_code == 200
    assert server.client().post("/runs", json={}, headers={"Sec-Fetch-Site": "none"}).status_code == 403


@pytest.mark.parametrize(("trouble", "raised"), [(BrokenResourceError(), False), (ValueError("a bug"), True)])
async def test_a_client_that_leaves_a_stream_is_not_an_error(trouble: Exception, raised: bool) -> None:
    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        raise ExceptionGroup("the stream", [trouble])

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None: ...

    guard = RequestGuard(stream, site=Site(hosts=frozenset({"here"}), origins=frozenset()))
    scope: Scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"here")], "client": None}
    with pytest.raises(ExceptionGroup) if raised else nullcontext():
        await guard(scope, receive, send)


def make_browser(server: RunningServer) -> httpx.Client:
    """A browser that has exchanged the token for a cookie."""
    client = server.anonymous_client(headers={"Origin": server.url, "Sec-Fetch-Site": "same-origin"})
    assert client.post("/session", json={"token": server.token}).status_code == 200
    return client


def test_a_token_becomes_a_cookie_that_scripts_cannot_read(server: RunningServer) -> None:
    client = server.anonymous_client(headers={"Origin": server.url})
    answer = client.post("/session", json={"token": server.token})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert server.token not in cookie
    assert client.get("/session").json()["name"] == "owner"


def test_a_form_of_another_site_changes_nothing(server: RunningServer) -> None:
    """Such a form has the cookie of a browser that ignores SameSite, and cannot set headers or send JSON."""
    cookie = make_browser(server).cookies["midcourse_session"]
    forged = server.anonymous_client(headers={"Cookie": f"midcourse_session={cookie}"})
    assert forged.post("/runs", json={"task": "lamp"}).status_code == 403
    as_form = forged.post(
        "/runs", content='{"task":"lamp"}', headers={"Content-Type": "text/plain", "Origin": server.url}
    )
    assert as_form.status_code == 415
    assert forged.get("/runs").json()["runs"] == []


def test_a_revoked_session_is_over(server: RunningServer) -> None:
    client = make_browser(server)
    cookie = client.cookies["midcourse_session"]
    assert client.delete("/session").status_code == 204
    stolen = server.anonymous_client(headers={"Cookie": f"midcourse_session={cookie}"})
    assert stolen.get("/runs").status_code == 401


def test_a_wrong_key_is_not_replaced_by_a_valid_cookie(server: RunningServer) -> None:
    client = make_browser(server)
    assert client.get("/runs", headers={"Authorization": "Bearer wrong"}).status_code == 401


@pytest.mark.slow
def test_every_response_is_secured(server: RunningServer) -> None:
    client = server.client()
    for answer in (
        client.get("/runs"),
        client.get("/nothing"),
        client.get(server.url + "/"),
        server.anonymous_client().get("/runs"),
    ):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
    preflight = client.request("OPTIONS", "/runs", headers={"Access-Control-Request-Method": "POST"})
    assert preflight.status_code == 405


def test_large_bodies_are_refused(server: RunningServer) -> None:
    client = server.client()
    assert client.post("/runs", json={"task": "x" * MOST_BYTES}).status_code == 413

    def pieces():
        for _ in range(40):
            yield b"x" * (MOST_BYTES // 20)

    answer = client.post("/runs", content=pieces(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


def test_too_many_requests_are_refused_for_a_while(tmp_path: Path) -> None:
    with run_server(tmp_path, limit=RateLimit(per_second=0.001, burst=5)) as server:
        client = server.client()
        answers = [client.get("/worlds") for _ in range(8)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
    assert answers[-1].headers["retry-after"]
    assert answers[-1].json()["code"] == "too_many"


# --- keys, proxies, and where it may bind


def test_keys_are_stored_by_their_hash(tmp_path: Path) -> None:
    secret = new_secret()
    file = tmp_path / "keys"
    file.write_text(f"# name tenant role hash\nci acme operator {digest_of(secret)}\n")
    doorway = Doorway(tmp_path / "server", keys=KeyFile(file))
    assert doorway.sign_in(secret) == Caller(name="ci", id="key:ci", tenant="acme", role="operator", means="key")
    assert doorway.sign_in(digest_of(secret)) is None
    assert doorway.sign_in("") is None
    doorway.close()
    file.write_text("ci acme emperor " + digest_of(secret))
    with pytest.raises(TaskInvalid, match="line 1"):
        read_api_keys(file)


def test_a_key_that_is_removed_is_refused_at_once_and_its_sessions_end(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    ada = Caller(name="ada", id="key:ada", tenant="acme", role="approver")
    secret, other = (add_key(file, name, "acme", "approver") for name in ("ada", "ci"))
    assert secret not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(TaskInvalid, match="has a key"):
        add_key(file, "ada", "acme", "viewer")
    doorway = Doorway(tmp_path / "server", keys=KeyFile(file))
    assert doorway.sign_in(secret) == replace(ada, means="key")
    cookies = {COOKIE: doorway.open_session(replace(ada, means="key"), secret)}
    assert doorway.caller_of(Headers({}), cookies) == replace(ada, means="session")
    remove_key(file, "ada", "acme")
    assert doorway.sign_in(secret) is None
    assert doorway.caller_of(Headers({}), cookies) is None
    assert doorway.sign_in(other) is not None
    file.write_text("ci acme approver nonsense")  # a typing error gives access to no one
    assert doorway.sign_in(other) is None
    doorway.close()


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "#a", "x" * 64])
def test_names_of_keys_are_one_plain_word(tmp_path: Path, name: str) -> None:
    with pytest.raises(TaskInvalid, match="letters"):
        add_key(tmp_path / "keys", name, "acme", "viewer")


def test_keys_are_managed_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "keys")
    assert main(["access", "add", "ada", "--role", "approver", "--keys", file]) == 0
    secret = capsys.readouterr().out.strip()
    assert KeyFile(Path(file)).caller_of(digest_of(secret)) == Caller(
        name="ada", id="key:ada", tenant="local", role="approver", means="key"
    )
    assert main(["access", "add", "bob", "--role", "emperor", "--keys", file]) == 2
    assert main(["access", "list", "--keys", file]) == 0
    assert capsys.readouterr().out == "ada\tlocal\tapprover\n"
    assert main(["access", "remove", "ada", "--keys", file]) == 0
    assert main(["access", "remove", "ada", "--keys", file]) == 2


def test_a_stream_ends_when_its_key_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midcourse.server.routes.events.CHECKED", 0.0)
    file = tmp_path / "keys"
    secret = add_key(file, "ada", "acme", "viewer")
    with run_server(tmp_path, keys=KeyFile(file)) as server:
        owner = server.anonymous_client(headers={"Authorization": f"Bearer {server.token}"})
        question = start_run_that_asks(owner, "watched")
        viewer = server.anonymous_client(headers={"Authorization": f"Bearer {secret}"})
        latest = owner.get("/runs/watched").json()["seq"]
        messages: list[StreamMessage] = []
        for one in read_stream(viewer, "watched"):
            messages.append(one)
            if one.data["seq"] == latest:
                remove_key(file, "ada", "acme")
                assert decide(owner, question).status_code == 200
        wait_for_end(owner, "watched")
        assert viewer.get("/runs").status_code == 401
        assert messages[-1].data["seq"] == latest


def test_a_proxy_proves_itself(tmp_path: Path) -> None:
    proxy = Proxy(user_header="X-Forwarded-User", secret="s3cret", tenant="acme", role="approver")
    doorway = Doorway(tmp_path, proxy=proxy)
    known = {"X-Forwarded-User": "ada", SECRET_HEADER: "s3cret"}
    assert doorway.caller_of(Headers(known), {}) == Caller(
        name="ada", id="proxy:ada", tenant="acme", role="approver", means="proxy"
    )
    assert doorway.caller_of(Headers({"X-Forwarded-User": "ada"}), {}) is None
    assert doorway.caller_of(Headers({**known, SECRET_HEADER: "wrong"}), {}) is None
    doorway.close()
    doorway = Doorway(tmp_path, proxy=replace(proxy, role_header="X-Role", tenant_header="X-Tenant"))
    assert doorway.caller_of(Headers(known), {}) is None
    named = Headers({**known, "X-Role": "admin", "X-Tenant": "umbrella"})
    assert doorway.caller_of(named, {}) == Caller(
        name="ada", id="proxy:ada", tenant="umbrella", role="admin", means="proxy"
    )
    doorway.close()


def test_binding_beyond_loopback_needs_keys_and_an_origin(tmp_path: Path) -> None:
    home = Settings.load(overrides={"home": str(tmp_path)})
    for bind in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(TaskInvalid, match="API keys"):
            check_bind(Serving(home=home, bind=bind, origins=("https://console.example",)))
        with pytest.raises(TaskInvalid, match="--origin"):
            check_bind(Serving(home=home, bind=bind, keys=tmp_path / "keys"))
        check_bind(Serving(home=home, bind=bind, keys=tmp_path / "keys", origins=("https://console.example",)))
    for bind in ("127.0.0.1", "::1", "localhost"):
        check_bind(Serving(home=home, bind=bind))


def test_an_origin_is_exact(tmp_path: Path) -> None:
    home = Settings.load(overrides={"home": str(tmp_path)})
    site = site_of(Serving(home=home, bind="0.0.0.0", origins=("https://Console.example/",)), 8321)
    assert site.hosts == {"console.example"}
    assert site.origins == {"https://console.example"}
    with pytest.raises(TaskInvalid, match="--origin"):
        site_of(Serving(home=home, origins=("https://console.example/path",)), 8321)
