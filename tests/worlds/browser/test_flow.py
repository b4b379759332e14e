"""The pages of a checkout: one answer covers the forms that only lead on, and the order is asked about in any case."""

from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.approval import Decision, Question
from midcourse.domain.plan import REPLAN
from midcourse.domain.replace import replace
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Approves
from midcourse.worlds import Browser
from tests.worlds.browser.site import Answer, Page, Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ADDRESS, CONTACT, NOTE, ORDER = "/checkout/address", "/checkout/contact", "/checkout/note", "/checkout/order"
GUEST = "Continue as a guest"
TOKEN = "<input type=hidden name=csrf value=8d1f0c2ab9>"


def document(title: str, body: str) -> str:
    return f"<!doctype html><html lang=en><title>{title}</title><h1>Your order: 20 €</h1>{body}"


def form(action: str, *fields: str, button: str = "Continue") -> str:
    labels = "".join(f"<label>{each} <input name={each.lower()}></label>" for each in fields)
    return f"<form method=post action={action}>{TOKEN}{labels}<button>{button}</button></form>"


def shop(second: str) -> Site:
    return Site(
        {
            "/": document("Address", form(ADDRESS, "Street")),
            ADDRESS: document("Contact", second),
            CONTACT: document("Review", form(ORDER, button="Place order")),
            ORDER: document("Thanks", "Thank you"),
        }
    )


class Shopper:
    """Continues as a guest, fills in what is empty and clicks the last button."""

    def __init__(self) -> None:
        self.clicked: set[str] = set()

    async def plan(self, context: PlanningContext) -> PlanDraft:
        zones, title = context.observation.zones, context.observation.surface.title
        guest = next((zone.id for zone in zones if zone.role == "radio" and zone.label == GUEST), "")
        if guest and GUEST not in self.clicked:
            self.clicked.add(GUEST)
            return PlanDraft(steps=(Draft(zone=guest, skill="click"), Draft(zone=REPLAN)))
        empty = [zone for zone in zones if zone.role in ("textbox", "searchbox") and not zone.get("value")]
        button = next((zone for zone in reversed(zones) if zone.role == "button"), None)
        if button is None or (title in self.clicked and not empty):
            return PlanDraft(verdict="done")
        self.clicked.add(title)
        fill = [Draft(zone=zone.id, skill="type", arguments={"text": f"my {zone.label}"}) for zone in empty]
        return PlanDraft(steps=(*fill, Draft(zone=button.id, skill="click"), Draft(zone=REPLAN)))


class FirstForRun(Approves):
    """Allows the first form for the whole run, and nothing else."""

    async def ask(self, question: Question) -> Decision | None:
        decided = await super().ask(question)
        first = len(self.questions) == 1
        return decided and replace(decided, once=False, verdict="approved" if first else "rejected")


async def check_out(site: Site, folder: Path, start: str = "/") -> tuple[list[str], list[str], FirstForRun]:
    approver = FirstForRun()
    async with site.served():
        settings = Settings.load(overrides={"home": str(folder), "step_delay_seconds": "0"})
        browser = Browser(f"{site.url}{start}", quiet_seconds=0.05)
        await Agent(browser, Shopper(), approver=approver, settings=settings).run(Task(goal="Order it"))
    asked = [each.consequences[0].commit.address.removeprefix(f"POST {site.url}") for each in approver.questions]
    return [each.removeprefix("POST ") for each in site.effects()], asked, approver


async def test_one_answer_covers_the_forms_that_lead_on_and_not_the_order(tmp_path: Path) -> None:
    site = shop(form(CONTACT, "Phone"))
    sent, asked, approver = await check_out(site, tmp_path)
    assert sent == [ADDRESS, CONTACT]
    assert asked == [ADDRESS, ORDER]
    first, last = (question.consequences[0].commit for question in approver.questions)
    assert f"below {site.url}/checkout/" in first.covers
    assert not last.covers


class FarSightedShopper:
    """Plans the next form, which it has not seen, together with the first."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        zones = {zone.role: zone.id for zone in context.observation.zones}
        if context.observation.surface.title != "Address":
            return PlanDraft(verdict="done")
        return PlanDraft(
            steps=(
                Draft(zone=zones["textbox"], skill="type", arguments={"text": "my Street"}),
                Draft(zone=zones["button"], skill="click", says="Go on"),
                Draft(zone="textbox:Phone", skill="type", arguments={"text": "my Phone"}, on="*"),
                Draft(zone="button:Con*", skill="click", says="Go on", on="Contact"),
                Draft(zone="button:Place*", skill="click", says="Order", on="*"),
            )
        )


async def test_the_answer_also_covers_forms_that_were_planned_before_they_were_seen(tmp_path: Path) -> None:
    site, approver = shop(form(CONTACT, "Phone")), FirstForRun()
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        await Agent(browser, FarSightedShopper(), approver=approver, settings=settings).run(Task(goal="Order it"))
    assert [each.removeprefix("POST ") for each in site.effects()] == [ADDRESS, CONTACT]
    asked = [question.consequences[0] for question in approver.questions]
    assert [each.commit.address.removeprefix(f"POST {site.url}") for each in asked] == [ADDRESS, ORDER]
    assert (asked[1].target.surface, asked[1].target.label) == ("Review", "Place order")


TICKETS = "/harbour/concert/checkout"
COUNTRIES = "".join(f"<option value={i}>The Republic of Country {i}</option>" for i in range(250))
CUSTOMER = f"""<form method=post>{TOKEN}
<fieldset><legend><label><input type=radio name=customer_mode value=login checked>Log in with a customer account</label></legend>
<div><p>Log in and connect your order to your account. <label>Email <input name=login-email></label>
<label>Password <input type=password name=login-password></label></div></fieldset>
<fieldset><legend><label><input type=radio name=customer_mode value=register>Create a new customer account</label></legend>
<div><p>We will send you an email with a link to activate your account. You can still go ahead with this purchase.</div></fieldset>
<fieldset><legend><label><input type=radio name=customer_mode value=guest>{GUEST}</label></legend>
<div>If you proceed as a guest, you will be able to access the status of your order through the secret link we will send you via
email once the order is complete.</div></fieldset><button>Continue</button></form>
<script>const show = () => {{ for (const set of document.querySelectorAll('fieldset')) {{
  set.disabled = !set.querySelector('input').checked; set.querySelector('div').hidden = set.disabled }} }};
onchange = show; show()</script>"""
INFORMATION = f"""<form method=post enctype=multipart/form-data>{TOKEN}<h3>Contact information</h3>
<label>E-mail <input name=email></label><label>Name <input name=name_parts_0></label>
<details><summary>Invoice information (optional)</summary>
<label><input type=radio name=is_business value=individual checked>Individual customer</label>
<label>Country <select name=country>{COUNTRIES}</select></label></details>
<p>Day ticket: €12.00, total €12.00. We will send your order there.</p><button>Continue</button></form>"""
PAYMENT = f"""<form method=post>{TOKEN}<label><strong>+ €0.00</strong><input type=radio name=payment value=banktransfer checked>
Bank transfer</label><p>After completing your purchase, we will ask you to transfer the money to the following bank account, using a
personal reference code: Harbour Bank, account 4711. €12.00</p><button>Continue</button></form>"""
REVIEW = f"<form method=post>{TOKEN}<p>Bank transfer, €12.00</p><button>Place binding order</button></form>"


def tickets(**changed: str) -> Site:
    """A shop whose pages are sent to their own addresses, as pretix has them."""
    pages = {"customer": CUSTOMER, "questions": INFORMATION, "payment": PAYMENT, "confirm": REVIEW} | changed
    after = dict(zip(pages, [*list(pages)[1:], "thanks"], strict=True))

    def serve(name: str, body: str) -> Page:
        forward = Answer(status=303, fields={"Location": f"{TICKETS}/{after[name]}/"})
        return lambda asked: forward if asked.method == "POST" else Answer(document(name, body))

    return Site({f"{TICKETS}/{name}/": serve(name, body) for name, body in pages.items()})


async def test_one_answer_covers_a_guest_on_the_way_to_the_order(tmp_path: Path) -> None:
    sent, asked, approver = await check_out(tickets(), tmp_path, f"{TICKETS}/customer/")
    assert sent == [f"{TICKETS}/{name}/" for name in ("customer", "questions", "payment")]
    assert asked == [f"{TICKETS}/customer/", f"{TICKETS}/confirm/"]
    first, last = (question.consequences[0].commit for question in approver.questions)
    assert "show prices or ask how to pay" in first.covers
    assert not last.covers


ASKED = {
    "a sentence that orders": {"payment": PAYMENT.replace("<button", "<p>By continuing you order.</p><button")},
    "terms that are agreed to": {
        "payment": PAYMENT.replace("<button", "<label><input type=checkbox name=a checked>Agreed</label><button")
    },
    "a card": {"payment": PAYMENT.replace("<button", "<input type=hidden name=cardtoken value=1><button")},
    "a review without a word": {"payment": REVIEW.replace("Place binding order", "Continue")},
}


@pytest.mark.parametrize("name", ASKED)
async def test_page_that_could_be_the_order_is_asked_about(tmp_path: Path, name: str) -> None:
    sent, asked, _ = await check_out(tickets(**ASKED[name]), tmp_path, f"{TICKETS}/customer/")
    assert sent == [f"{TICKETS}/customer/", f"{TICKETS}/questions/"]
    assert asked == [f"{TICKETS}/customer/", f"{TICKETS}/payment/"]


PLAIN = form(CONTACT, "Phone")
SCRIPT = "<script>document.forms[0].{}</script>"
MORE = {
    "a button that says more": PLAIN.replace("Continue", "Continue and pay"),
    "a hidden word that binds": PLAIN.replace("<button", "<p hidden>Buy now</p><button"),
    "a file": PLAIN.replace("<button", "<input type=file name=scan><button"),
    "a hidden field of a script": PLAIN + SCRIPT.format("csrf.value = '9f86d081'"),
    "a name of a script": PLAIN + SCRIPT.format("csrf.name = 'n9f86d081'"),
    "an address of a script": PLAIN + SCRIPT.format("action = '/checkout/n9f86d081'"),
    "a text of a script": PLAIN + SCRIPT.format("onsubmit = e => e.target.phone.value = 'my Street'"),
    "a form of a script": f"<script>document.write(`{PLAIN}`)</script>",
}


@pytest.mark.parametrize("name", MORE)
async def test_form_that_could_be_more_is_asked_about(tmp_path: Path, name: str) -> None:
    sent, asked, _ = await check_out(shop(MORE[name]), tmp_path)
    assert sent == [ADDRESS]
    assert len(asked) == 2
