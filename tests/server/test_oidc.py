"""Sign-in through a real provider on loopback: roles and tenants from claims, and every forged, stale or replayed answer refused."""

import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest
from joserfc.jwk import RSAKey
from playwright.async_api import async_playwright

from midcourse.errors import TaskInvalid
from midcourse.server.access.oidc import read_oidc
from midcourse.worlds.browser.chromium import system_chromium
from tests.server.provider import CLIENT, SECRET, Provider, run_provider
from tests.server.serving import PATIENCE, RunningServer, run_server

ROLES = 'roles = { "managers" = "admin", "buyers" = "approver" }\n'


def write_oidc_file(folder: Path, issuer: str, more: str = ROLES) -> Path:
    (folder / "oidc.secret").write_text(f"{SECRET}\n")
    path = folder / "oidc.toml"
    path.write_text(
        f"issuer = {json.dumps(issuer)}\nclient_id = {json.dumps(CLIENT)}\nclient_secret_file = 'oidc.secret'\n{more}"
    )
    return path


@pytest.fixture(scope="module")
def provider() -> Generator[Provider]:
    with run_provider("localhost") as up:
        yield up


@pytest.fixture(scope="module")
def oidc_server(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Generator[RunningServer]:
    folder = Path(tmp_path_factory.mktemp("oidc"))
    with run_server(folder, oidc=write_oidc_file(folder, provider.issuer)) as server:
        yield server


@pytest.fixture(autouse=True)
def reset_provider(provider: Provider) -> None:
    provider.claims, provider.algorithm, provider.published = {}, "RS256", None


def make_browser(server: RunningServer) -> httpx.Client:
    """What a browser sends that navigates: it keeps cookies, and each step is followed by hand."""
    return server.anonymous_client(headers={"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"})


def begin_sign_in(client: httpx.Client) -> str:
    """Where the provider sends the browser back to."""
    there = client.get("/session/oidc", headers={"Sec-Fetch-Site": "none"})
    assert there.status_code == 303, there.text
    query = parse_qs(urlsplit(there.headers["location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["scope"] == ["openid profile email"]
    assert SECRET not in there.headers["location"]
    return httpx.get(there.headers["location"], verify=False).headers["location"]


def finish_sign_in(client: httpx.Client, back: str) -> httpx.Response:
    return client.get(back, headers={"Sec-Fetch-Site": "cross-site"})


def expect_refusal(server: RunningServer) -> str:
    client = make_browser(server)
    answer = finish_sign_in(client, begin_sign_in(client))
    assert answer.status_code == 401, answer.text
    assert client.get("/session").status_code == 401
    return answer.json()["detail"]


@pytest.mark.slow
def test_a_user_signs_in_with_the_role_of_the_first_group_that_fits(oidc_server: RunningServer) -> None:
    client = make_browser(oidc_server)
    answer = finish_sign_in(client, begin_sign_in(client))
    assert answer.status_code == 200, answer.text
    cookies = answer.headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith("midcourse_session="))
    assert "HttpOnly" in session
    assert "SameSite=strict" in session
    me = client.get("/session").json()
    assert (me["name"], me["role"], me["tenant"]) == ("ada@example.org", "approver", "acme")


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"aud": "another"}, "aud"),
        ({"iss": "https://evil.example"}, "iss"),
        ({"nonce": "another"}, "nonce"),
        ({"exp": int(time.time()) - 1000}, "expired"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "azp"),
        ({"groups": ["strangers"]}, "no role"),
        ({"groups": None}, "no role"),
        ({"email": ""}, "no email"),
        ({"email_verified": False}, "does not say that it has verified"),
        ({"email_verified": None}, "does not say that it has verified"),
        ({"email_verified": "true"}, "does not say that it has verified"),
        ({"email_verified": 1}, "does not say that it has verified"),
        ({"sub": ""}, "no usable sub"),
        ({"sub": "x" * 300}, "no usable sub"),
        ({"email": "ada\u202e@example.org"}, "contains U+202E"),
        ({"email": "\x1b[2Jada@example.org"}, "contains U+001B"),
        ({"email": "a" * 10_000}, "longer than 100 characters"),
    ],
)
def test_wrong_claims_are_refused(
    oidc_server: RunningServer, provider: Provider, claims: dict[str, Any], said: str
) -> None:
    provider.claims = claims
    assert said in expect_refusal(oidc_server)


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_tokens_without_a_signature_by_the_providers_key_are_refused(
    oidc_server: RunningServer, provider: Provider, algorithm: str
) -> None:
    provider.algorithm = algorithm
    assert "not valid" in expect_refusal(oidc_server)


def test_a_key_that_the_provider_does_not_publish_is_refused(oidc_server: RunningServer, provider: Provider) -> None:
    provider.published = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
    mine, provider.key = provider.key, RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
    assert "not valid" in expect_refusal(oidc_server)
    provider.key = mine


@pytest.mark.slow
def test_keys_that_the_provider_has_changed_are_read_again(oidc_server: RunningServer, provider: Provider) -> None:
    for kid in ("second", "third"):
        provider.key = RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})
        client = make_browser(oidc_server)
        assert finish_sign_in(client, begin_sign_in(client)).status_code == 200


@pytest.mark.slow
def test_an_answer_counts_once_in_the_browser_that_asked(oidc_server: RunningServer) -> None:
    client = make_browser(oidc_server)
    back = begin_sign_in(client)
    assert "another browser" in finish_sign_in(make_browser(oidc_server), back).json()["detail"]
    assert "not begun here" in finish_sign_in(client, back).json()["detail"], (
        "an attempt in another browser has used it up"
    )
    back = begin_sign_in(client)
    assert finish_sign_in(client, back).status_code == 200
    assert finish_sign_in(client, back).status_code == 401
    assert finish_sign_in(client, begin_sign_in(client).replace("code=", "code=x")).status_code == 401
    other = begin_sign_in(client).replace("iss=", "iss=https%3A%2F%2Fevil.example&x=")
    assert "another provider" in finish_sign_in(client, other).json()["detail"]


def test_only_the_way_back_is_open_to_other_sites(oidc_server: RunningServer) -> None:
    client = make_browser(oidc_server)
    for address in ("/session/oidc", "/session", "/runs"):
        assert client.get(address, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}
    assert client.get("/session/oidc/callback", headers=embedded).status_code == 403


def test_without_a_provider_there_is_no_sign_in(server: RunningServer) -> None:
    for address in ("/session/oidc", "/session/oidc/callback"):
        assert server.anonymous_client().get(address).status_code == 404
    assert server.anonymous_client().get("/session/ways").json() == {"oidc": False}


@pytest.mark.slow
async def test_a_real_browser_signs_in(oidc_server: RunningServer) -> None:
    """`localhost` and `127.0.0.1` are different sites: the cookie and the headers are those of a real provider."""
    async with async_playwright() as driver:
        chromium = await driver.chromium.launch(executable_path=system_chromium(), chromium_sandbox=False)
        page = await chromium.new_page()
        await page.goto(oidc_server.url)
        await page.get_by_role("link", name="Sign in with your organization").click(timeout=1000 * PATIENCE)
        await page.get_by_role("navigation").first.wait_for(timeout=1000 * PATIENCE)
        me = await page.evaluate("fetch('/api/v1/session').then(answer => answer.json())")
        assert me["name"] == "ada@example.org"
        await chromium.close()


# --- the file


@pytest.mark.slow
def test_tenants_come_from_a_claim(tmp_path: Path, provider: Provider) -> None:
    more = ROLES + 'tenant_claim = "org"\ntenants = { "acme" = "acme", "umbrella-corp" = "umbrella" }\n'
    with run_server(tmp_path, oidc=write_oidc_file(tmp_path, provider.issuer, more)) as server:
        for org, tenant in (("acme", "acme"), ("umbrella-corp", "umbrella")):
            provider.claims = {"org": org}
            client = make_browser(server)
            assert finish_sign_in(client, begin_sign_in(client)).status_code == 200
            assert client.get("/session").json()["tenant"] == tenant
        provider.claims = {"org": "evil"}
        assert "no tenant" in expect_refusal(server)
        provider.claims = {"org": ["acme", "umbrella-corp"]}
        assert "several tenants" in expect_refusal(server)


@pytest.mark.parametrize(
    ("issuer", "more", "problem"),
    [
        ("http://login.example.org", ROLES, "https"),
        ("https://login.example.org", "", "no user would have a role"),
        ("https://login.example.org", 'roles = { x = "emperor" }', "roles"),
        ("https://login.example.org", ROLES + 'client_secret_variable = "X"', "by client_secret_file or by"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, issuer: str, more: str, problem: str) -> None:
    with pytest.raises(TaskInvalid, match=problem):
        read_oidc(write_oidc_file(tmp_path, issuer, more), "local", "https://console.example/callback")
