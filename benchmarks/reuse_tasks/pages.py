"""Ten tasks in a real browser, and three more."""

from collections.abc import Callable

from benchmarks.reuse_tasks.clerks import (
    ChairClerk,
    EarlierTicketClerk,
    InvitationClerk,
    NotificationsClerk,
    OrderClerk,
    QuarterClerk,
    ReportClerk,
    StaplerClerk,
    TicketClerk,
    YearClerk,
)
from benchmarks.reuse_tasks.desk import Given, Page
from benchmarks.web_apps.preferences_site import Preferences
from benchmarks.web_apps.reports_site import Reports
from midcourse.domain.argument import Pairs
from midcourse.domain.expectation import Expectation, SurfaceMatches, ZoneAppears
from midcourse.testing.sites import Effect, Shop, Tickets


def shown(*labels: str, role: str = "text") -> Expectation:
    return Expectation(checks=tuple(ZoneAppears(role=role, label=label) for label in labels))


def _ticket(given: Given) -> Effect:
    names = ("customer", "subject", "priority", "description")
    return Effect(name="ticket", values={name: given[name] for name in names})


def _earlier(given: Given) -> dict[str, str]:
    """Of the tickets that are there already."""
    customers = {"Lamp flickers": "C-0815", "Invoice missing": "C-2390", "Lamp arrived broken": "C-1207"}
    return {"customer": customers[given["subject"]], "subject": given["subject"]}


def _order(item: str) -> Callable[[Given], tuple[Effect, ...]]:
    def effects(given: Given) -> tuple[Effect, ...]:
        values = {name: given[name] for name in ("address", "date", "delivery", "reference")}
        return (Effect(name="order", values={**values, "items": f"1 x {item}", "newsletter": "off"}),)

    return effects


def _listed(given: Given) -> Expectation:
    """As the shop's own list has it."""
    cell = ZoneAppears(role="cell", label=given["reference"])
    return Expectation(checks=(SurfaceMatches(pattern="Your orders"), cell))


TICKET: tuple[Pairs, Pairs] = (
    (
        ("customer", "C-4711"),
        ("subject", "Lamp hums"),
        ("priority", "High"),
        ("description", "In B flat, all night long."),
    ),
    (
        ("customer", "C-8822"),
        ("subject", "Chair squeaks"),
        ("priority", "Low"),
        ("description", "Whenever somebody sits down."),
    ),
)
REPLIES: tuple[Pairs, Pairs] = (
    (("reply", "We are sorry. A new one is on its way."),),
    (("reply", "Thank you for telling us. We shall see to it."),),
)
DELIVERY: tuple[Pairs, Pairs] = (
    (
        ("address", "1 Main Street, Springfield"),
        ("date", "2026-09-14"),
        ("delivery", "Express"),
        ("reference", "PO-7731"),
    ),
    (
        ("address", "22 Acacia Avenue, Nuthurst"),
        ("date", "2026-11-30"),
        ("delivery", "Pick up"),
        ("reference", "PO-4402"),
    ),
)
REPORT: tuple[Pairs, Pairs] = (
    (("year", "2025"), ("quarter", "Q3"), ("format", "CSV"), ("centre", "CC-0815")),
    (("year", "2024"), ("quarter", "Q2"), ("format", "PDF"), ("centre", "CC-4711")),
)
NEW_TICKET, REPLY = "POST /tickets", "POST /tickets/*/replies"


def ticket(name: str, *, refers: bool, replies: bool = False) -> Page:
    more = REPLIES if replies else ((), ())

    def effects(given: Given) -> tuple[Effect, ...]:
        opened = _ticket(given)
        named = {name: given[name] for name in ("customer", "subject")}
        return (opened, *((Effect(name="reply", values={**named, "reply": given["reply"]}),) if replies else ()))

    def done_when(given: Given) -> Expectation:
        facts = f"Customer {given['customer']}, priority *"
        return shown(facts, *((given["reply"],) if replies else ()))

    return Page(
        name=name,
        site=Tickets,
        clerk=TicketClerk,
        goal="Open a ticket for the customer" + (" and answer it" if replies else ""),
        done_when=done_when,
        inputs=((*TICKET[0], *more[0]), (*TICKET[1], *more[1])),
        effects=effects,
        rejects=(NEW_TICKET, REPLY),
        refers=refers,
    )


def order(name: str, clerk: type[OrderClerk], what: str, sku: str, *, refers: bool = True) -> Page:
    return Page(
        name=name,
        site=Shop,
        clerk=clerk,
        goal=f"Order one {what}, without offers",
        done_when=_listed,
        inputs=DELIVERY,
        effects=_order(sku),
        safe=("POST /basket/*",),
        rejects=("POST /orders",),
        refers=refers,
    )


def report(name: str, clerk: type[ReportClerk], goal: str, *fixed: str) -> Page:
    """`fixed` are inputs that the goal has in place of the task."""

    def own(inputs: Pairs) -> Pairs:
        return tuple(pair for pair in inputs if pair[0] not in fixed)

    return Page(
        name=name,
        site=Reports,
        clerk=clerk,
        goal=goal,
        done_when=lambda given: Expectation(checks=(SurfaceMatches(pattern=f"Report {given.get('year', '2025')} *"),)),
        inputs=(own(REPORT[0]), own(REPORT[1])),
        effects=lambda given: (Effect(name="report", values={**clerk.fixed, **given}),),
        rejects=("POST /reports",),
    )


PAGES: tuple[Page, ...] = (
    ticket("ticket", refers=True),
    ticket("ticket, written out", refers=False),
    ticket("ticket and answer", refers=False, replies=True),
    order("order of a lamp", OrderClerk, "desk lamp", "desk-lamp"),
    order("order of a chair, written out", ChairClerk, "office chair", "chair", refers=False),
    order("order of a stapler", StaplerClerk, "stapler", "stapler"),
    Page(
        name="notifications",
        site=Preferences,
        clerk=NotificationsClerk,
        goal="Set the digest, and quiet hours",
        done_when=lambda given: shown(f"Digest: {given['digest']}. Quiet hours: from {given['since']}."),
        inputs=((("digest", "Weekly"), ("since", "22:00")), (("digest", "Never"), ("since", "21:00"))),
        effects=lambda given: (
            Effect(name="settings", values={"digest": given["digest"], "quiet": "on", "since": given["since"]}),
        ),
        rejects=("POST /settings",),
    ),
    Page(
        name="invitation",
        site=Preferences,
        clerk=InvitationClerk,
        goal="Invite a member who does not see invoices",
        done_when=lambda given: shown(f"Invited: *{given['email']}."),
        inputs=(
            (("email", "eve@example.org"), ("role", "Editor")),
            (("email", "mallory@example.com"), ("role", "Owner")),
        ),
        effects=lambda given: (
            Effect(name="invitation", values={"email": given["email"], "role": given["role"], "invoices": "off"}),
        ),
        rejects=("POST /invitations",),
        refers=False,
    ),
    report("report of a year", YearClerk, "Order the report of Q3", "quarter"),
    report("report of one quarter", QuarterClerk, "Order the report of 2025 Q3", "year", "quarter"),
)

BESIDES: tuple[Page, ...] = (
    report("report of any quarter", ReportClerk, "Order a report"),
    Page(
        name="earlier ticket assigned",
        site=Tickets,
        clerk=EarlierTicketClerk,
        goal="Hand the ticket with this subject to the assignee",
        done_when=lambda given: shown(f"Customer *, priority *, {given['assignee']}"),
        inputs=(
            (("subject", "Lamp flickers"), ("assignee", "Grace")),
            (("subject", "Invoice missing"), ("assignee", "Margaret")),
        ),
        effects=lambda given: (Effect(name="assigned", values={**_earlier(given), "assignee": given["assignee"]}),),
        safe=("POST /tickets/*/assignee",),
    ),
    Page(
        name="earlier ticket answered",
        site=Tickets,
        clerk=EarlierTicketClerk,
        goal="Answer the ticket with this subject",
        done_when=lambda given: shown(given["reply"]),
        inputs=(
            (("subject", "Lamp arrived broken"), *REPLIES[0]),
            (("subject", "Invoice missing"), *REPLIES[1]),
        ),
        effects=lambda given: (Effect(name="reply", values={**_earlier(given), "reply": given["reply"]}),),
        rejects=(REPLY,),
        refers=False,
    ),
)
"""Not among the twenty, because a page changes with the inputs: it has a value in its title that is too short to be sure of, or
it is another record's.
"""
