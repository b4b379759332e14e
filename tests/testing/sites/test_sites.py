"""The sites do what they are asked, keep a true record of it, and misbehave as their drift has it."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, build_opener
from urllib.request import Request as Sent

import pytest

from benchmarks.web_apps.preferences_site import Preferences
from benchmarks.web_apps.reports_site import Reports
from midcourse.testing.sites import PASSWORD, STORMY, USER, Drift, Request, Shop, Site, Tickets, serve
from midcourse.testing.sites.drift import KINDS
from midcourse.testing.sites.site import HIDDEN, TOKEN

ORDER = {
    "address": "1 Main Street",
    "date": "2026-09-14",
    "delivery": "Express",
    "reference": "R-1",
}
SITES = [Shop, Tickets, Preferences, Reports]


@dataclass(frozen=True)
class Page:
    status: int
    path: str
    text: str


HIDDEN_FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="(\w+)">')


class Visitor:
    """Sends what a browser would: a form with the hidden fields of a page that was loaded right before."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> Page:
        return self._send(Sent(self._address + path))

    def get_json(self, path: str) -> Page:
        return self._send(Sent(self._address + path, headers={"Accept": "application/json"}))

    def hidden(self) -> Mapping[str, str]:
        """The hidden fields of a page that always has a form."""
        return dict(HIDDEN_FIELD.findall(self.get("/login").text))

    def post(self, path: str, form: Mapping[str, str], *, hidden: Mapping[str, str] | None = None) -> Page:
        fields = {**(self.hidden() if hidden is None else hidden), **form}
        return self._send(Sent(self._address + path, data=urlencode(fields).encode()))

    def post_json(self, path: str, values: Mapping[str, str]) -> Page:
        headers = {"Content-Type": "application/json", "X-CSRF-Token": self.hidden().get(TOKEN, "")}
        return self._send(Sent(self._address + path, data=json.dumps(values).encode(), headers=headers))

    def _send(self, request: Sent) -> Page:
        try:
            answer = self._opener.open(request, timeout=10)
        except HTTPError as error:
            answer = error
        with answer:
            return Page(answer.status or 0, urlsplit(answer.url).path, answer.read().decode())


@contextmanager
def visited(site: Site) -> Iterator[Visitor]:
    with serve(site) as address:
        visitor = Visitor(address)
        visitor.post("/login", {"user": USER, "password": PASSWORD})
        yield visitor


def names(site: Site) -> list[str]:
    return [effect.name for effect in site.effects]


@pytest.mark.parametrize("kind", SITES)
def test_signing_in_comes_first(kind: type[Site]):
    with serve(kind()) as address:
        visitor = Visitor(address)
        assert "<title>Sign in" in visitor.get("/").text
        assert visitor.post("/login", {"user": USER, "password": "wrong"}).status == 422
        assert "<title>Sign in" not in visitor.post("/login", {"user": USER, "password": PASSWORD}).text


def test_an_order_is_on_record_with_all_that_was_sent():
    shop = Shop()
    with visited(shop) as visitor:
        visitor.post("/basket/desk-lamp", {"quantity": "2"})
        assert "Thank you" in visitor.post("/orders", ORDER).text
        assert "R-1" in visitor.get("/orders").text
    assert shop.effects[0].values == {**ORDER, "items": "2 x desk-lamp", "newsletter": "off"}


def test_a_ticket_is_opened_given_to_somebody_and_answered():
    tickets = Tickets()
    with visited(tickets) as visitor:
        form = {"customer": "4711", "subject": "Broken", "priority": "High", "description": "It is."}
        path = visitor.post("/tickets", form).path
        visitor.post(f"{path}/assignee", {"assignee": "Grace"})
        assert "We are sorry" in visitor.post(f"{path}/replies", {"reply": "We are sorry"}).text
    about = {"customer": "C-4711", "subject": "Broken"}
    assert names(tickets) == ["ticket", "assigned", "reply"]
    assert tickets.effects[1].values == {**about, "assignee": "Grace"}


def test_a_report_takes_a_while_and_is_then_published():
    reports = Reports()
    with visited(reports) as visitor:
        form = {"year": "2025", "quarter": "Q3", "format": "CSV", "centre": "815"}
        page = visitor.post("/reports", form)
        assert "Being made" in page.text
        for _ in range(3):
            visitor.get_json(page.path)
        assert "Total" in visitor.get(page.path).text
        assert "Published" in visitor.post(f"{page.path}/published", {}).text
    assert names(reports) == ["report", "published"]


def test_settings_are_saved_and_members_invited_by_script():
    preferences = Preferences()
    with visited(preferences) as visitor:
        visitor.post_json("/settings", {"digest": "Weekly", "quiet": "on", "since": "22:00"})
        visitor.post_json("/invitations", {"email": "eve@example.org", "role": "Editor", "invoices": "off"})
        page = visitor.get("/").text
    assert "Digest: Weekly. Quiet hours: from 22:00." in page
    assert "eve@example.org" in page
    assert names(preferences) == ["settings", "invitation"]


# --- tokens


def ticket(number: int) -> dict[str, str]:
    return {"customer": "4711", "subject": f"Broken {number}", "priority": "High", "description": "It is."}


def test_every_page_has_a_fresh_token_and_all_of_a_session_are_valid():
    tickets = Tickets(tokens=True)
    with visited(tickets) as visitor:
        pages = [visitor.hidden() for _ in range(3)]
        statuses = [visitor.post("/tickets", ticket(n), hidden=page).status for n, page in enumerate(pages)]
    assert len({page[TOKEN] for page in pages}) == 3
    assert statuses == [200, 200, 200]
    assert [effect.values["subject"] for effect in tickets.effects] == ["Broken 0", "Broken 1", "Broken 2"]


@pytest.mark.parametrize("token", [{}, {TOKEN: ""}, {TOKEN: "0" * 32}, {TOKEN: "ä"}])
def test_nothing_is_stored_without_a_token_that_was_issued(token: Mapping[str, str]):
    tickets = Tickets(tokens=True)
    with visited(tickets) as visitor:
        page = visitor.post("/tickets", ticket(1), hidden=token)
        signing_in = visitor.post("/login", {"user": USER, "password": PASSWORD}, hidden=token)
    assert (page.status, signing_in.status, names(tickets)) == (403, 403, [])
    assert "Try again" in page.text


def test_the_token_of_another_session_is_not_valid():
    tickets = Tickets(tokens=True)
    with visited(tickets) as visitor:
        before = visitor.hidden()
        visitor.post("/login", {"user": USER, "password": PASSWORD})
        assert visitor.post("/tickets", ticket(1), hidden=before).status == 403
    assert names(tickets) == []


def test_scripts_send_the_token_in_a_header():
    preferences = Preferences(tokens=True)
    invitation = {"email": "eve@example.org", "role": "Editor", "invoices": "off"}
    with visited(preferences) as visitor:
        visitor.post_json("/invitations", {**invitation, "idempotency_key": "1"})
        assert '<meta name="csrf-token"' in visitor.get("/").text
    assert [effect.values for effect in preferences.effects] == [invitation]


def test_volatile_fields_change_with_every_page_and_are_not_on_record():
    tickets = Tickets(tokens=True, volatile=True)
    with visited(tickets) as visitor:
        first, second = visitor.hidden(), visitor.hidden()
        visitor.post("/tickets", ticket(1), hidden=second)
    assert len(first) == 3
    assert all(first[name] != second[name] for name in first)
    assert not HIDDEN & tickets.effects[0].values.keys()


# --- trouble


def ordered(drift: Drift, date: str = "2026-09-14") -> tuple[Shop, Page]:
    shop = Shop(drift=drift)
    with visited(shop) as visitor:
        shop._basket["desk-lamp"] = 1
        return shop, visitor.post("/orders", {**ORDER, "date": date})


def test_an_unanswered_order_is_stored():
    shop, page = ordered(Drift(unanswered=1.0))
    assert (page.status, names(shop)) == (504, ["order"])


def test_a_refused_order_is_not_stored():
    shop, page = ordered(Drift(refused=1.0))
    assert (page.status, names(shop)) == (503, [])


def test_a_silent_shop_stores_the_order_and_shows_the_same_form():
    shop, page = ordered(Drift(silent=1.0))
    assert (page.status, names(shop)) == (200, ["order"])
    assert 'value="R-1"' in page.text
    assert "Place order" in page.text


def test_the_same_order_twice_is_two_orders():
    shop = Shop(drift=Drift(unanswered=1.0))
    with visited(shop) as visitor:
        shop._basket["desk-lamp"] = 1
        visitor.post("/orders", ORDER)
        visitor.post("/orders", ORDER)
    assert names(shop) == ["order", "order"]


def test_a_strict_site_says_what_is_wrong_and_undoes_a_choice():
    shop, page = ordered(Drift(strict=1.0))
    assert (page.status, names(shop)) == (422, [])
    assert "Write the date like 31.12.2026." in page.text
    assert "<option selected>Standard</option>" in page.text
    assert ordered(Drift(strict=1.0), "14.09.2026")[0].effects[0].values["date"] == "2026-09-14"


def test_a_slow_site_takes_longest_to_confirm_what_it_stored():
    shop = Shop(drift=Drift(slow=1.0, slow_seconds=1.5, slow_to_confirm_seconds=6.0), tokens=False)
    login = Request(method="POST", path="/login", form={"user": USER, "password": PASSWORD})
    session = shop.answer(login).session
    shop._basket["desk-lamp"] = 1
    assert shop.answer(Request(method="GET", path="/checkout", session=session)).seconds == 1.5
    assert shop.answer(Request(method="POST", path="/orders", form=ORDER, session=session)).seconds == 6.0


def test_an_expired_session_asks_for_signing_in_and_stores_nothing():
    shop, page = ordered(Drift(expired=1.0))
    assert "Your session has ended." in page.text
    assert names(shop) == []


def test_a_failing_site_shows_an_error_page():
    with visited(Shop(drift=Drift(failing=1.0))) as visitor:
        assert visitor.get("/").status == 500


@pytest.mark.parametrize(
    ("drift", "text"),
    [
        (Drift(popup=1.0), 'id="popup" data-on="load"'),
        (Drift(interrupted=1.0), 'id="popup" data-on="input"'),
        (Drift(moved=1.0), "Menu</button>"),
    ],
)
def test_pages_of_a_drift_differ_from_the_usual_ones(drift: Drift, text: str):
    with visited(Shop(drift=drift)) as visitor, visited(Shop()) as usual:
        assert text in visitor.get("/basket").text
        assert text not in usual.get("/basket").text


@pytest.mark.parametrize("kind", SITES)
def test_every_control_may_be_called_otherwise(kind: type[Site]):
    with visited(kind(drift=Drift(renamed=1.0))) as visitor:
        page = visitor.get("/").text
    others = [other for words in kind.words.values() for other in words]
    assert any(f">{other}<" in page for other in others)


def test_the_same_seed_and_requests_meet_the_same_trouble():
    def pages(seed: int) -> list[tuple[int, str]]:
        with visited(Shop(seed=seed, drift=replace(STORMY.times(2), slow=0.0))) as visitor:
            got = [visitor.get("/basket/chair") for _ in range(8)]
        return [(page.status, page.text) for page in got]

    assert pages(3) == pages(3) != pages(4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_is_a_share_of_one(kind: str):
    with pytest.raises(ValueError, match=kind):
        Drift(**{kind: 1.5})
