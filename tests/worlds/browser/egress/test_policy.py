"""The policy file: allowed origins, safe requests, evidence rules, and errors."""

from pathlib import Path
from typing import Any

import pytest

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.egress.address import AddressRefused, parse
from midcourse.worlds.browser.egress.policy import read_origins

SHOP = "https://shop.example"


def allowed(policy: dict[str, Any], url: str, start: str = SHOP) -> bool:
    return read_origins(policy, start).find_rules(parse(url, ("http", "https", "ws", "wss"))) is not None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://shop.example/orders", True),
        ("wss://shop.example/live", True),
        ("https://shop.example:443/", True),
        ("http://shop.example/", False),
        ("ws://shop.example/", False),
        ("https://shop.example:8443/", False),
        ("https://a.shop.example/", False),
        ("https://img.cdn.example/x.png", True),
        ("https://a.b.cdn.example/x.png", True),
        ("https://cdn.example/x.png", False),
        ("https://evilcdn.example/x.png", False),
        ("https://ads.cdn.example/x.png", False),
    ],
)
def test_an_origin_is_allowed_if_it_is_the_start_or_in_the_file(url: str, expected: bool) -> None:
    assert allowed({"https://*.cdn.example": {}, "https://ads.cdn.example": {"allowed": False}}, url) is expected


def test_the_file_may_forbid_even_the_start() -> None:
    assert not allowed({SHOP: {"allowed": False}}, SHOP)


@pytest.mark.parametrize(
    ("start", "policy", "private"),
    [
        ("http://127.0.0.1:8000/", {}, True),
        ("http://localhost:8000/", {}, True),
        ("http://10.1.2.3/", {}, True),
        ("http://127.0.0.1:8000/", {"http://127.0.0.1:8000": {"safe": ["POST /draft"]}}, True),
        ("http://127.0.0.1:8000/", {"http://127.0.0.1:8000": {"private": False}}, False),
        ("https://intranet.example/", {}, False),
        ("https://intranet.example/", {"https://intranet.example": {"private": True}}, True),
        ("http://169.254.169.254/", {}, False),
    ],
)
def test_private_start_is_allowed_if_it_is_written_as_an_address(
    start: str, policy: dict[str, Any], private: bool
) -> None:
    origin = read_origins(policy, start).find_rules(parse(start))
    assert origin is not None
    assert origin.private is private


# --- what may leave


@pytest.mark.parametrize(
    ("request_", "safe"),
    [
        ("GET /orders", True),
        ("HEAD /orders", True),
        ("OPTIONS /orders", True),
        ("POST /orders", False),
        ("PUT /orders/1", False),
        ("DELETE /orders/1", False),
        ("QUERY /orders", False),
        ("POST /draft", True),
        ("POST /draft/7?autosave=1", True),
        ("PUT /draft/7", False),
        ("POST /drafts", True),
        ("POST /draft/..%2forders", False),
        ("POST /draft/%2e%2e%2forders", False),
        ("POST /draft%2f..%2forders", False),
        ("POST /draft%3f/..%2forders", False),
        ("POST /draft/..;/orders", False),
        ("POST /draft/..;x=1/orders", False),
        ("POST /draft/..%252forders", False),
        ("POST /draft/7;x=1?y=%3f", True),
        ("POST //draft", False),
        ("GET /delete?id=3", False),
        ("HEAD /delete?id=3", False),
        ("GET /%64elete?id=3", False),
        ("GET //delete?id=3", False),
        ("GET /x/..%2fdelete?id=3", False),
        ("GET /x%3f/..%2fdelete?id=3", False),
        ("GET /x/..;/delete?id=3", False),
        ("GET /;x/delete?id=3", False),
        ("GET /%2564elete?id=3", False),
        ("GET /items?action=%2564elete", False),
        ("GET /Delete?id=3", False),
        ("GET /logout", False),
        ("GET /logout?x", False),
        ("GET /logout/", False),
        ("GET /logout;x=1", False),
        ("GET /logout%3fx", False),
        ("GET /logouts", True),
        ("GET /items?action=delete&id=3", False),
        ("GET /items?action=show&id=3", True),
        ("WS /live", True),
        ("WS /chat", False),
        ("POST /track/danger", False),
    ],
)
def test_which_requests_are_safe(request_: str, safe: bool) -> None:
    entry = {
        "safe": ["POST /draft*", "WS /live", "* /track/*"],
        "unsafe": ["GET /delete*", "GET *action=delete*", "GET /logout", "* /track/danger"],
    }
    method, _, path = request_.partition(" ")
    assert read_origins({SHOP: entry}, SHOP).is_safe(method, SHOP + path) is safe


def test_no_request_to_an_origin_outside_the_policy_is_safe() -> None:
    assert not read_origins({}, SHOP).is_safe("GET", "https://attacker.example/")
    with pytest.raises(AddressRefused, match="is not in the policy file"):
        read_origins({}, SHOP).check("https://attacker.example/")


# --- what an answer proves


@pytest.mark.parametrize(
    ("method", "path", "status", "body", "proved"),
    [
        ("POST", "/orders", 422, '<p class="field-error">', True),
        ("POST", "/orders", 422, "something else", False),
        ("POST", "/orders", 500, '<p class="field-error">', False),
        ("POST", "/payments", 422, '<p class="field-error">', False),
        ("PUT", "/orders", 422, '<p class="field-error">', False),
        ("POST", "/login", 401, "", True),
        ("POST", "/login", 403, "", True),
    ],
)
def test_response_is_evidence_only_where_a_rule_matches(
    method: str, path: str, status: int, body: str, proved: bool
) -> None:
    rules = [
        {"request": "POST /orders", "status": 422, "text": "field-error"},
        {"request": "POST /login", "status": [401, 403]},
    ]
    origins = read_origins({SHOP: {"evidence": rules}}, SHOP)
    assert bool(origins.find_disproof(method, SHOP + path, status, body)) is proved


# --- destinations and secrets


def test_only_listed_paths_of_exact_origins_are_vouched_for() -> None:
    policy = {SHOP: {"navigate": ["/orders/*"]}, "https://*.cdn.example": {"navigate": ["/*"]}}
    assert read_origins(policy, SHOP).vouched_patterns == ("https://shop.example/orders/*",)


def test_a_secret_is_typed_only_where_it_belongs() -> None:
    origins = read_origins({SHOP: {"secrets": ["password"]}, "https://other.example": {}}, SHOP)
    assert origins.allows_secret("password", "https://shop.example/login")
    assert not origins.allows_secret("password", "https://other.example/login")
    assert not origins.allows_secret("password", "about:blank")
    assert not origins.allows_secret("token", "https://shop.example/login")


# --- reading


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"saf": []}, "saf: no such key; did you mean 'safe'?"),
        ({"colour": 1}, "colour: no such key; there are allowed, private,"),
        ({"safe": "POST /"}, "safe: must be a list"),
        ({"safe": ["draft"]}, "'draft' is not a request; write a method and a path"),
        ({"unsafe": ["get /x"]}, "'get /x' is not a request"),
        ({"private": "yes"}, "private: must be true or false"),
        ({"navigate": ["orders"]}, "'orders' is not a path"),
        ({"evidence": [{"status": 422}]}, "evidence.0.request: is missing"),
        ({"evidence": [{"request": "POST /", "status": 500}]}, "only a status from 400 to 499 can prove it alone"),
        ({"evidence": [{"request": "POST /", "status": "bad"}]}, "evidence.0.status: must be a whole number"),
        (3, "must be a table"),
    ],
)
def test_wrong_entry_is_refused_with_advice(entry: object, sentence: str) -> None:
    with pytest.raises(TaskInvalid) as refused:
        read_origins({SHOP: entry}, SHOP)
    assert str(refused.value).startswith(f"origins: '{SHOP}': ")
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "name",
    ["shop", "ftp://shop.example", "https://shop.example/", "https://shop.example/a", "https://*.com", "https://*"],
)
def test_name_that_is_not_an_origin_is_refused(name: str) -> None:
    with pytest.raises(TaskInvalid, match=r"such as https://shop\.example|too wide"):
        read_origins({name: {}}, SHOP)


def test_a_start_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(TaskInvalid, match="the start URL: 'javascript:' is not opened"):
        read_origins({}, "javascript:alert(1)")


def test_a_file_is_read_as_its_own_docstring_shows_it(tmp_path: Path) -> None:
    from midcourse.worlds.browser.egress import policy as origins

    file = tmp_path / "origins.toml"
    shown = (origins.__doc__ or "").split("\n\n", 1)[1].rpartition("\n\n")[0]
    file.write_text("\n".join(line.removeprefix("    ") for line in shown.splitlines()))
    read = read_origins(file, "https://start.example")
    assert read.is_safe("POST", "https://shop.example/draft/1")
    assert read.find_disproof("POST", "https://shop.example/orders", 422, "field-error")


def test_a_file_that_cannot_be_read_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(TaskInvalid, match=r"gone\.toml: cannot be read"):
        read_origins(tmp_path / "gone.toml", SHOP)
    (tmp_path / "bad.toml").write_text("[")
    with pytest.raises(TaskInvalid, match=r"bad\.toml: is not TOML"):
        read_origins(str(tmp_path / "bad.toml"), SHOP)
