"""Open a ticket for a customer, hand it to Grace and answer the customer."""

from benchmarks.web_apps.clerk import DONE, Clerk, Either, Final, Screen, Value, form, press
from benchmarks.web_apps.site import SiteApplication
from midcourse.domain.expectation import Expectation, SurfaceMatches, ZoneAppears
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.testing.sites import Effect, Tickets

CUSTOMER, SUBJECT, REPLY = "C-4711", "Lamp arrived broken", "We are sorry. A new lamp is on its way."
FORM: dict[str, Value] = {
    "Customer number": Either("4711", CUSTOMER),
    "Subject": SUBJECT,
    "Priority": "High",
    "Description": "The glass was in pieces.",
}
CREATE, ANSWER = "Open the ticket", "Answer the customer"
OPENED = Expectation(checks=(SurfaceMatches(pattern=f"Ticket *: {SUBJECT}"),))
ANSWERED = Expectation(checks=(ZoneAppears(role="text", label=REPLY),))
FACTS = f"Customer {CUSTOMER}, priority High"


class TicketsClerk(Clerk):
    words = Tickets.words

    def work(self, screen: Screen) -> PlanDraft | None:
        if screen.title == "Tickets":
            if cell := screen.find_zone("cell", CUSTOMER):
                return press(screen, "link", SUBJECT, within=str(cell.get("within")))
            return None if screen.has_done(CREATE) else press(screen, "link", "New ticket")
        if screen.title == "New ticket" and not screen.has_done(CREATE):
            final = Final(says=CREATE, expect=OPENED, probe=screen.make_probe(CUSTOMER, "/"))
            return form(screen, FORM, "Create ticket", final=final)
        if not screen.shows_text(FACTS, "text"):
            return press(screen, "link", "Tickets")
        if not screen.shows_text(f"{FACTS}, Grace", "text"):
            return form(screen, {"Assignee": "Grace"}, "Assign")
        if screen.shows_text(REPLY, "text"):
            return DONE
        if screen.has_done(ANSWER):
            return press(screen, "link", "Tickets")
        final = Final(says=ANSWER, expect=ANSWERED, probe=screen.make_probe(REPLY))
        return form(screen, {"Reply": REPLY}, "Send reply", final=final)


TICKETS = SiteApplication(
    name="tickets",
    site=Tickets,
    clerk=TicketsClerk,
    task=Task(
        goal=f"Open a ticket '{SUBJECT}' with priority High for customer {CUSTOMER}, assign it to Grace and reply '{REPLY}'",
        inputs=(("customer", CUSTOMER), ("subject", SUBJECT), ("assignee", "Grace"), ("reply", REPLY)),
        done_when=Expectation(
            checks=(ZoneAppears(role="text", label=f"{FACTS}, Grace"), ZoneAppears(role="text", label=REPLY))
        ),
        secrets=("password",),
    ),
    wanted=(
        Effect(
            name="ticket",
            values={
                "customer": CUSTOMER,
                "subject": SUBJECT,
                "priority": "High",
                "description": "The glass was in pieces.",
            },
        ),
        Effect(name="assigned", values={"customer": CUSTOMER, "subject": SUBJECT, "assignee": "Grace"}),
        Effect(name="reply", values={"customer": CUSTOMER, "subject": SUBJECT, "reply": REPLY}),
    ),
    safe=("POST /tickets/*/assignee",),
    rejects=("POST /tickets", "POST /tickets/*/replies"),
)
