"""Rule-based planners for the shipped web applications, for any inputs."""

from collections.abc import Mapping
from typing import ClassVar

from benchmarks.web_apps.clerk import DONE, Clerk, Either, Final, Screen, form, press
from benchmarks.web_apps.preferences_site import TIMES, Preferences
from benchmarks.web_apps.reports_site import Reports
from midcourse.domain.expectation import Expectation, SurfaceMatches, ZoneAppears
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing.sites import Shop, Tickets

CREATE, ANSWER, ORDER, SAVE, INVITE, GENERATE = "Create", "Answer", "Order", "Save", "Invite", "Generate"


def surface(pattern: str) -> Expectation:
    return Expectation(checks=(SurfaceMatches(pattern=pattern),))


def text(label: str, role: str = "text") -> Expectation:
    return Expectation(checks=(ZoneAppears(role=role, label=label),))


class Informed(Clerk):
    """Knows the inputs of the task."""

    def __init__(self) -> None:
        self.given: Mapping[str, str] = {}

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.given = {name: str(value) for name, value in context.task.inputs}
        return await super().plan(context)


class TicketClerk(Informed):
    """Opens a ticket; if there is a `reply`, answers the customer as well."""

    words = Tickets.words

    def work(self, screen: Screen) -> PlanDraft | None:
        given, reply = self.given, self.given.get("reply", "")
        customer, subject = given["customer"], given["subject"]
        if screen.title == "Tickets":
            if cell := screen.find_zone("cell", customer):
                return press(screen, "link", subject, within=str(cell.get("within")))
            return None if screen.has_done(CREATE) else press(screen, "link", "New ticket")
        if screen.title == "New ticket" and not screen.has_done(CREATE):
            opened = surface(f"Ticket *: {subject}")
            fields = {
                "Customer number": customer,
                "Subject": subject,
                "Priority": given["priority"],
                "Description": given["description"],
            }
            final = Final(says=CREATE, expect=opened, probe=screen.make_probe(customer, "/"))
            return form(screen, fields, "Create ticket", final=final)
        if not screen.shows_text(f"Customer {customer},", "text"):
            return press(screen, "link", "Tickets")
        if not reply or screen.shows_text(reply, "text"):
            return DONE
        if screen.has_done(ANSWER):
            return press(screen, "link", "Tickets")
        final = Final(says=ANSWER, expect=text(reply), probe=screen.make_probe(reply))
        return form(screen, {"Reply": reply}, "Send reply", final=final)


class EarlierTicketClerk(Informed):
    """Finds a ticket that is there by its subject, and hands it to the `assignee` or sends the `reply`."""

    words = Tickets.words

    def work(self, screen: Screen) -> PlanDraft | None:
        subject, assignee, reply = self.given["subject"], self.given.get("assignee"), self.given.get("reply", "")
        if not screen.title.endswith(f": {subject}"):
            return press(screen, "link", subject) or press(screen, "link", "Tickets")
        if assignee:
            if any(screen.shows_text(f"priority {one}, {assignee}", "text") for one in ("Low", "Normal", "High")):
                return DONE
            return form(screen, {"Assignee": assignee}, "Assign")
        if screen.shows_text(reply, "text"):
            return DONE
        if screen.has_done(ANSWER):
            return press(screen, "link", "Tickets")
        final = Final(says=ANSWER, expect=text(reply), probe=screen.make_probe(reply))
        return form(screen, {"Reply": reply}, "Send reply", final=final)


class OrderClerk(Informed):
    """Orders one of a product that the task names."""

    words = Shop.words
    product = "Desk lamp"

    def work(self, screen: Screen) -> PlanDraft | None:
        given, reference = self.given, self.given["reference"]
        ordered = screen.has_done(ORDER)
        match screen.title:
            case "Your orders":
                if screen.shows_text(reference, "cell"):
                    return DONE
                return None if ordered else press(screen, "link", "Products")
            case _ if ordered or screen.title == "Thank you for your order":
                return press(screen, "link", "Your orders")
            case "Products":
                return press(screen, "link", self.product)
            case title if title == self.product:
                return form(screen, {}, "Add to basket")
            case "Basket" | "Checkout" if screen.shows_text("Your basket is empty."):
                return press(screen, "link", "Products")
            case "Basket":
                return press(screen, "link", "Checkout")
            case "Checkout":
                year, month, day = given["date"].split("-")
                fields = {
                    "Address": given["address"],
                    "Delivery date": Either(given["date"], f"{day}.{month}.{year}"),
                    "Delivery": given["delivery"],
                    "Reference": reference,
                    "Send me offers": False,
                }
                thanks = surface("Thank you for your order")
                final = Final(says=ORDER, expect=thanks, probe=screen.make_probe(reference, "/orders"))
                return form(screen, fields, "Place order", final=final)
            case _:
                return press(screen, "link", "Products")


class ChairClerk(OrderClerk):
    product = "Office chair"


class StaplerClerk(OrderClerk):
    product = "Stapler"


class NotificationsClerk(Informed):
    words = Preferences.words
    dialogs = ("Notifications", "Advanced")

    def work(self, screen: Screen) -> PlanDraft | None:
        digest, since = self.given["digest"], self.given["since"]
        wanted = f"Digest: {digest}. Quiet hours: from {since}."
        if screen.find_zone("link", "Sign in"):
            return press(screen, "link", "Sign in")
        match screen.dialog:
            case "Advanced":
                return form(screen, {"Quiet hours": True, "From": Either(since, TIMES[since])}, "Done")
            case "Notifications" if screen.has_done(SAVE):
                return press(screen, "button", "Cancel")
            case "Notifications":
                objected = screen.shows_text("Please correct", "alert")
                times = (TIMES[since],) if objected else (since, TIMES[since])
                if not any(screen.shows_text(f"Quiet hours: from {time}.", "text") for time in times):
                    return press(screen, "button", "Advanced…")
                final = Final(says=SAVE, expect=text("Settings saved.", "status"), probe=screen.make_probe(wanted, "/"))
                return form(screen, {"Digest": digest}, "Save", final=final)
            case _ if screen.shows_text(wanted, "text"):
                return DONE
            case _ if screen.has_done(SAVE):
                return press(screen, "link", "Settings")
            case _:
                return press(screen, "button", "Notifications…")


class InvitationClerk(Informed):
    words = Preferences.words
    dialogs = ("Members", "Invite a member")

    def work(self, screen: Screen) -> PlanDraft | None:
        email = self.given["email"]
        if screen.find_zone("link", "Sign in"):
            return press(screen, "link", "Sign in")
        match screen.dialog:
            case "Members":
                return press(screen, "button", "Close" if screen.has_done(INVITE) else "Invite…")
            case "Invite a member" if screen.has_done(INVITE):
                return press(screen, "button", "Cancel")
            case "Invite a member":
                fields = {"E-mail": email, "Role": self.given["role"], "May see invoices": False}
                final = Final(
                    says=INVITE, expect=text("Invitation sent.", "status"), probe=screen.make_probe(email, "/")
                )
                return form(screen, fields, "Send invitation", final=final)
            case _ if screen.shows_text(email, "text"):
                return DONE
            case _ if screen.has_done(INVITE):
                return press(screen, "link", "Settings")
            case _:
                return press(screen, "button", "Members…")


class ReportClerk(Informed):
    """Orders a report. The task does not wait until it is ready."""

    words = Reports.words
    fixed: ClassVar[Mapping[str, str]] = {}

    def work(self, screen: Screen) -> PlanDraft | None:
        given, generated = {**self.fixed, **self.given}, screen.has_done(GENERATE)
        name = f"{given['year']} {given['quarter']}"
        match screen.title:
            case "Reports" if screen.find_zone("link", name):
                return press(screen, "link", name)
            case "Reports" | "Overview" if not generated:
                return press(screen, "link", "New report")
            case "New report" if not generated:
                fields = {
                    "Year": given["year"],
                    "Quarter": given["quarter"],
                    "Format": given["format"],
                    "Cost centre": given["centre"],
                }
                made = surface(f"Report {given['year']} *")
                final = Final(says=GENERATE, expect=made, probe=screen.make_probe(given["centre"], "/reports"))
                return form(screen, fields, "Generate report", final=final)
            case title if title == f"Report {name}":
                return DONE
            case _:
                return press(screen, "link", "Reports")


class YearClerk(ReportClerk):
    fixed: ClassVar[Mapping[str, str]] = {"quarter": "Q3"}


class QuarterClerk(ReportClerk):
    fixed: ClassVar[Mapping[str, str]] = {"year": "2025", "quarter": "Q3"}
