"""A ticket system: a ticket is opened, assigned, and answered. Customers get a mail for each of these."""

from html import escape
from typing import ClassVar

from midcourse.testing.sites.drift import CALM, Drift
from midcourse.testing.sites.site import Effect, Site
from midcourse.testing.sites.view import NOTHING, Given, View, Words

PRIORITIES = ("Normal", "Low", "High")
PEOPLE = ("Nobody", "Grace", "Linus", "Margaret")
LINKS = {"Tickets": "/", "New ticket": "/tickets/new"}
EARLIER = (
    {"customer": "C-0815", "subject": "Lamp flickers", "priority": "Low"},
    {"customer": "C-2390", "subject": "Invoice missing", "priority": "Normal"},
    {"customer": "C-1207", "subject": "Lamp arrived broken", "priority": "Normal"},
)
"""Tickets that are there already; one looks like a ticket that a task may open."""


class Tickets(Site):
    """A ticket system: a ticket is opened, assigned and answered. Customers get a mail for each of these."""

    words: ClassVar[Words] = {
        "Assign": ("Hand over", "Give to"),
        "Assignee": ("Responsible", "Assigned to"),
        "Create ticket": ("Submit ticket", "Open ticket"),
        "Customer number": ("Customer", "Customer no."),
        "Description": ("What happened?", "Details"),
        "New ticket": ("Add ticket", "Report a problem"),
        "Priority": ("Urgency", "Severity"),
        "Reply": ("Answer", "Message to the customer"),
        "Send reply": ("Send", "Answer the customer"),
        "Subject": ("Title", "Summary"),
    }
    once = ("ticket", "reply", "subscribed")
    forgets = ("priority",)

    def __init__(self, *, seed: int = 0, drift: Drift = CALM, tokens: bool = True, volatile: bool = False) -> None:
        super().__init__(seed=seed, drift=drift, tokens=tokens, volatile=volatile)
        self._assigned: dict[int, str] = {}

    def form_of(self, path: str) -> str:
        match path.split("/")[1:]:
            case ["tickets"]:
                return "/tickets/new"
            case ["tickets", number, "assignee" | "replies"]:
                return f"/tickets/{number}"
            case _:
                return path

    def problems(self, path: str, form: Given) -> Given:
        match path.split("/")[1:]:
            case ["tickets"]:
                found = {field: "Please fill this in." for field in ("subject", "description") if not form.get(field)}
                customer = form.get("customer", "")
                if not customer.removeprefix("C-").isdigit() or (self.strict and not customer.startswith("C-")):
                    found["customer"] = "Write the customer number like C-1234."
                return found
            case ["tickets", _, "replies"]:
                return NOTHING if form.get("reply") else {"reply": "Please fill this in."}
            case _:
                return NOTHING

    def find_effect(self, path: str, form: Given) -> Effect | None:
        match path.split("/")[1:]:
            case ["tickets"]:
                values = {name: form.get(name, "") for name in ("subject", "priority", "description")}
                customer = f"C-{form.get('customer', '').removeprefix('C-')}"
                return Effect(name="ticket", values={"customer": customer, **values})
            case ["tickets", number, "assignee"]:
                return self._build_effect(number, "assigned", assignee=form.get("assignee", ""))
            case ["tickets", number, "replies"]:
                return self._build_effect(number, "reply", reply=form.get("reply", ""))
            case _:
                return None

    def carry_out(self, path: str, form: Given) -> str:
        match path.split("/")[1:]:
            case ["tickets"]:
                return f"/tickets/{len(self._tickets())}"
            case ["tickets", number, "assignee"] if self._has(number):
                self._assigned[int(number)] = form.get("assignee", "")
            case _:
                pass
        return self.form_of(path)

    def page(self, path: str, view: View, given: Given, errors: Given) -> str | None:
        match path.split("/")[1:]:
            case [""]:
                return view.page("Tickets", self._list(view), links=LINKS)
            case ["tickets", "new"]:
                return self._new_page(view, given, errors)
            case ["tickets", number] if self._has(number):
                return self._ticket_page(view, int(number), given, errors)
            case _:
                return None

    def _list(self, view: View) -> str:
        rows = [
            [str(n), view.link(ticket["subject"], f"/tickets/{n}"), escape(ticket["customer"]), self._assignee(n)]
            for n, ticket in enumerate(self._tickets(), start=1)
        ]
        return view.table(["Number", "Subject", "Customer", "Assignee"], rows if view.moved else reversed(rows))

    def _new_page(self, view: View, given: Given, errors: Given) -> str:
        fields = [
            view.field("customer", "Customer number", given, errors),
            view.field("subject", "Subject", given, errors),
            view.select("priority", "Priority", PRIORITIES, given),
            view.area("description", "Description", given, errors),
        ]
        wrong = view.alert("Please correct the marked fields." if errors else "")
        return view.page("New ticket", wrong, view.form("/tickets", fields, "Create ticket"), links=LINKS)

    def _ticket_page(self, view: View, number: int, given: Given, errors: Given) -> str:
        ticket, path = self._tickets()[number - 1], f"/tickets/{number}"
        facts = view.text(f"Customer {ticket['customer']}, priority {ticket['priority']}, {self._assignee(number)}")
        chosen = {"assignee": self._assignee(number), **given}
        parts = [
            view.form(f"{path}/assignee", [view.select("assignee", "Assignee", PEOPLE, chosen)], "Assign"),
            view.heading("Replies"),
            *(view.text(reply) for reply in self._replies(ticket)),
            view.form(f"{path}/replies", [view.area("reply", "Reply", given, errors)], "Send reply"),
        ]
        parts = parts[::-1] if view.moved else parts
        return view.page(f"Ticket {number}: {ticket['subject']}", facts, *parts, links=LINKS)

    def _tickets(self) -> list[Given]:
        return [*EARLIER, *(dict(effect.values) for effect in self.effects if effect.name == "ticket")]

    def _build_effect(self, number: str, name: str, **values: str) -> Effect | None:
        """The effect of an act on a ticket, which it names by customer and subject: the number depends on earlier tickets."""
        if not self._has(number):
            return None
        ticket = self._tickets()[int(number) - 1]
        return Effect(name=name, values={"customer": ticket["customer"], "subject": ticket["subject"], **values})

    def _has(self, number: str) -> bool:
        return number.isdigit() and 0 < int(number) <= len(self._tickets())

    def _assignee(self, number: int) -> str:
        return self._assigned.get(number, PEOPLE[0])

    def _replies(self, ticket: Given) -> list[str]:
        key = (ticket["customer"], ticket["subject"])
        replies = (effect.values for effect in self.effects if effect.name == "reply")
        return [reply["reply"] for reply in replies if (reply["customer"], reply["subject"]) == key]
