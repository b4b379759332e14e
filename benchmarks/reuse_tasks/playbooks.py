"""Rules for the screens of the simulated worlds and for their disturbances."""

from collections.abc import Mapping
from typing import Any

from midcourse.domain.argument import Reference
from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches, ZoneAppears, ZoneGone, ZoneHasState
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.planners import Once, Rule, ZonePattern

Given = Mapping[str, Any]
AGAIN = Draft(zone=REPLAN)


def step(zone: str, skill: str = "click", says: str = "", **more: Any) -> Draft:
    """Names that are not fields of a draft are arguments."""
    fields = {name: more.pop(name) for name in ("expect", "probe", "transition") if name in more}
    return Draft(zone=zone, skill=skill, says=says or f"{skill} {zone}", arguments=tuple(more.items()), **fields)


def once(zone: str, skill: str, expect: Expectation, probe: Probe, absent: str = "alert:*") -> Draft:
    """What leaves something behind: what shows that it did, what shows that it did not, and where to look otherwise."""
    return Once(zone=zone, skill=skill, says=f"{skill} it", expect=expect, absent_when=there(absent), probe=probe)


def probe(name: str, **arguments: Any) -> Probe:
    return Probe(name=name, arguments=tuple(arguments.items()), settles_after=1.0)


def surface(pattern: str) -> Expectation:
    return Expectation(checks=(SurfaceMatches(pattern=pattern),))


def shows(zone: str, state: str, value: Any) -> Expectation:
    place = ZonePattern.parse(zone)
    return Expectation(checks=(ZoneHasState(role=place.role, label=place.label, state=state, value=value),))


def there(zone: str) -> Expectation:
    place = ZonePattern.parse(zone)
    return Expectation(checks=(ZoneAppears(role=place.role, label=place.label),))


def trouble(*titles: str) -> tuple[Rule, ...]:
    """Rules for what covers the screen: wait until it has loaded, close what can be closed."""
    wait = Rule(when=there("progressbar:*"), steps=(step(GLOBAL, "wait", seconds=2.0), AGAIN))
    return (wait, *(Rule(on=title, steps=(step("button:*", transition=True), AGAIN)) for title in titles))


def erp_rules(values: Given) -> tuple[Rule, ...]:
    def fill(label: str, name: str, skill: str = "fill") -> Draft:
        wanted, zone = values[name], f"textbox:{label}*"
        what = {"amount" if skill == "fill_amount" else "text": wanted}
        return step(zone, skill, expect=shows(zone, "value", wanted), **what)

    login = Expectation(checks=(ZoneGone(role="button", label="Log in*"),))
    booked = probe("invoice_booked", number=values["number"])
    return (
        *trouble("System message", "ERP error"),
        Rule(on="Desktop", steps=(step("icon:ERP*", "double_click", expect=surface("ERP login")), AGAIN)),
        Rule(
            on="ERP login",
            steps=(
                step("textbox:User*", "fill", text="ada"),
                step("textbox:Password*", "fill", text=Reference(source="secret", name="password")),
                step("button:Log in*", transition=True, expect=login),
                AGAIN,
            ),
        ),
        Rule(on="ERP", steps=(step("menu:Invoices*", transition=True, expect=surface("Invoices")), AGAIN)),
        Rule(on="Invoices", when=there(f"invoice:Invoice {values['number']}*"), done=True),
        Rule(on="Invoices", steps=(step("button:New invoice*", transition=True, expect=surface("New invoice")), AGAIN)),
        Rule(
            on="New invoice",
            steps=(
                fill("Supplier", "supplier"),
                fill("Invoice number", "number"),
                fill("Amount", "amount", "fill_amount"),
                fill("Date", "date"),
                fill("Cost centre", "cost_centre"),
                once("button:Submit*", "submit", surface("Invoice booked"), booked, "alert:Not booked*"),
                step("button:Cancel*", transition=True),
            ),
        ),
        Rule(on="Invoice booked", done=True),
    )


def shop_rules(values: Given, item: str, quantity: int) -> tuple[Rule, ...]:
    ordered = surface("Thank you for your order")
    placed = probe("order_placed", reference=values["reference"])
    return (
        *trouble("Newsletter", "504*"),
        Rule(
            on="Catalogue",
            steps=(step(f"product:{item}*", "set_quantity", quantity=quantity), step("link:Checkout", transition=True)),
        ),
        Rule(
            on="Checkout",
            steps=(
                step("textbox:Address*", "fill", text=values["address"]),
                step("textbox:Reference*", "fill", text=values["reference"]),
                once("button:Place order*", "place_order", ordered, placed),
                step("link:Your orders", transition=True),
            ),
        ),
        Rule(on="Thank you*", done=True),
        Rule(on="Your orders", when=there("order:*"), done=True),
        Rule(on="Your orders", steps=(step("link:Catalogue", transition=True), AGAIN)),
    )


def web_rules(values: Given) -> tuple[Rule, ...]:
    """A format is chosen only if one is asked for: from the list that a click on it unfolds."""
    period, chosen = values["period"], values.get("format", "")
    ready = Expectation(
        checks=(
            *shows("textbox:Period*", "text", period).checks,
            *shows("tab:Reports*", "selected", True).checks,
            *(shows("combobox:Format*", "text", chosen).checks if chosen else ()),
        )
    )
    login = Expectation(checks=(ZoneGone(role="button", label="Log in*"),))
    go = step(GLOBAL, "go", address="https://reports.example")
    report = surface(f"Report {period}")
    return (
        *trouble("Cookies", "502*"),
        Rule(on="Desktop", steps=(step("icon:Browser*", expect=surface("New tab")), go, AGAIN)),
        Rule(on="New tab", steps=(go, AGAIN)),
        Rule(
            on="Log in",
            steps=(
                step("textbox:Username*"),
                step(GLOBAL, "type_text", text="ada"),
                step("textbox:Password*"),
                step(GLOBAL, "type_text", text=Reference(source="secret", name="password")),
                step("button:Log in*", transition=True, expect=login),
                AGAIN,
            ),
        ),
        Rule(on="Dashboard", when=there(f"report:Report {period}*"), done=True),
        Rule(on="Dashboard", when=there("menu_item:*"), steps=(step(f"menu_item:{chosen or 'PDF'}"), AGAIN)),
        Rule(
            on="Dashboard",
            when=ready,
            steps=(once("button:Generate*", "generate", report, probe("report_ready", period=period)),),
            final=True,
        ),
        Rule(
            on="Dashboard",
            steps=(
                step("tab:Reports*", expect=shows("tab:Reports*", "selected", True)),
                step("textbox:Period*"),
                step(GLOBAL, "type_text", text=period, expect=shows("textbox:Period*", "text", period)),
                *((step("combobox:Format"),) if chosen else ()),
                AGAIN,
            ),
        ),
        Rule(on="Report *", done=True),
    )


def notepad_rules(values: Given) -> tuple[Rule, ...]:
    text, name = values["text"], values["file_name"]
    everything = step(GLOBAL, "press", key="Ctrl+A")
    saved = surface(f"{name} - Notepad")
    field = "textbox:File name*"
    return (
        *trouble("Update available"),
        Rule(when=there("text:*could not be saved*"), steps=(step("button:*", transition=True), AGAIN)),
        Rule(on="Desktop", steps=(step("taskbar_button:Notepad*", transition=True, expect=surface("Notepad")), AGAIN)),
        Rule(on=f"{name} - Notepad", done=True),
        Rule(
            on="Notepad",
            when=shows("document:*", "text", text),
            steps=(step("toolbar_button:Save*", transition=True, expect=surface("Save As")), AGAIN),
        ),
        Rule(
            on="Notepad",
            steps=(
                step("document:*"),
                everything,
                step(GLOBAL, "type_text", text=text, expect=shows("document:*", "text", text)),
                AGAIN,
            ),
        ),
        Rule(on="Save As", when=there(f"file:{name}"), done=True),
        Rule(
            on="Save As",
            steps=(
                step("folder:Documents*"),
                step(field),
                everything,
                step(GLOBAL, "type_text", text=name, expect=shows(field, "text", name)),
                step("button:Save*", transition=True, expect=saved),
                AGAIN,
            ),
        ),
    )


def tabletop_rules(values: Given) -> tuple[Rule, ...]:
    thing, bin_ = values["object"], values["bin"]
    held = probe("holding", object=thing)
    pick = step(GLOBAL, "pick", object=thing, expect=shows("gripper:*", "holding", thing), probe=held)
    place = step(GLOBAL, "place_in", bin=bin_, expect=shows(f"object:{thing}", "bin", bin_))
    return (
        *trouble("Safety stop", "Controller error"),
        Rule(when=shows(f"object:{thing}", "bin", bin_), done=True),
        Rule(when=shows("gripper:*", "holding", thing), steps=(place, AGAIN)),
        Rule(when=shows("gripper:*", "holding", ""), steps=(pick, place), final=True),
        Rule(steps=(step(GLOBAL, "place", x=0.3, y=-0.3), AGAIN)),
    )


def arm_rules(values: Given) -> tuple[Rule, ...]:
    thing, x, y = values["object"], values["x"], values["y"]
    held = probe("holding", object=thing)
    pick = step(GLOBAL, "pick", object=thing, expect=shows("gripper:*", "holding", thing), probe=held)
    place = step(GLOBAL, "place", x=x, y=y, expect=shows(f"object:{thing}", "x", x))
    return (
        *trouble("Safety stop", "Controller error"),
        Rule(when=shows("gripper:*", "holding", thing), steps=(place, AGAIN)),
        Rule(
            when=Expectation(
                checks=(*shows(f"object:{thing}", "x", x).checks, *shows("gripper:*", "holding", "").checks)
            ),
            done=True,
        ),
        Rule(steps=(pick, place), final=True),
    )
