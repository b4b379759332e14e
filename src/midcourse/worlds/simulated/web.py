"""A web application behind a login: reports for a period, made on request. It bills every report, even the same one twice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias, Unpack, get_args

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.ports.world import Call
from midcourse.worlds.base import Scene, failed, no_effect, not_sent, probe, skill
from midcourse.worlds.simulated.base import Overlay, SimulatedWorld, Simulation
from midcourse.worlds.simulated.faults import Special

ORIGIN = "https://reports.example"
USERNAME = "ada"
PASSWORD = "lovelace"
PERIOD = re.compile(r"\d{4}-Q[1-4]")
MOST_LISTED = 20

Page: TypeAlias = Literal["desktop", "new_tab", "missing", "login", "dashboard", "report"]
Tab: TypeAlias = Literal["Overview", "Reports", "Account"]
Format: TypeAlias = Literal["PDF", "CSV"]
Focus: TypeAlias = Literal["", "username", "password", "period"]
"""The field of the state that typing goes to."""
_TITLES: dict[Page, str] = {
    "desktop": "Desktop",
    "new_tab": "New tab",
    "missing": "Page not found",
    "login": "Log in",
    "dashboard": "Dashboard",
}


@dataclass(frozen=True, kw_only=True)
class Report:
    number: str
    period: str
    format: str
    total: float


@dataclass(frozen=True, kw_only=True)
class WebState:
    page: Page = "desktop"
    user: str = ""
    """Who is logged in."""
    focus: Focus = ""
    username: str = ""
    password: str = ""
    tab: Tab = "Overview"
    period: str = ""
    format: Format = "PDF"
    menu: bool = False
    """Whether the list of formats is open."""
    alert: str = ""
    report: Report | None = None
    """The one on the report page."""


class Web(SimulatedWorld[WebState]):
    """A simulated web application with a login and reports to order. It bills every report, even the same one twice."""

    name = "web"
    stores = ("generate",)
    special: ClassVar[Special] = {"expired": ()}
    popup = Overlay(kind="popup", title="Cookies", text="We value your privacy.", button="Accept all")
    error = Overlay(
        kind="error",
        title="502 Bad Gateway",
        text="502 Bad Gateway: the application did not answer, please try again.",
        button="Back",
    )

    def __init__(self, *, username: str = USERNAME, password: str = PASSWORD, **simulation: Unpack[Simulation]) -> None:
        """`username` and `password` are the ones that the application knows."""
        super().__init__(WebState(), **simulation)
        self._known = (username, password)
        self._numbers = 0

    @skill(transition=True)
    def go(self, address: str) -> Outcome | None:
        """Go to an address, in the browser."""
        state = self.state
        if state.page == "desktop":
            return failed("no_browser", "no browser is open")
        if not address.startswith(ORIGIN):
            self.state = replace(state, page="missing", focus="", alert="")
        elif not state.user:
            self.state = WebState(page="login")
        else:
            self._show("Reports" if address == f"{ORIGIN}/reports" else "Overview")
        return None

    @skill
    def type_text(self, text: str) -> Outcome | None:
        """Type text into the field that has the focus, in place of what is there."""
        match self.state.focus:
            case "username":
                self.state = replace(self.state, username=text, alert="")
            case "password":
                self.state = replace(self.state, password=text, alert="")
            case "period":
                self.state = replace(self.state, period=text, alert="")
            case "":
                return no_effect("nothing has the focus")
        return None

    @skill(effect="irreversible", transition=True, commit_set="report_form")
    def generate(self, zone: Zone) -> Outcome | None:
        """Press 'Generate': have the report of the period made, which is billed."""
        if zone.id != "generate":
            return not_sent("wrong_target", f"{zone.role} '{zone.label}' generates nothing")
        if alert := self._find_problem():
            self.state = replace(self.state, alert=f"Not generated: {alert}")
            return None
        self._numbers += 1
        number = f"R-{self.draw_hex(len(self.effects), self._numbers)}"
        period = self.state.period
        report = Report(number=number, period=period, format=self.state.format, total=self._compute_total(period))
        self.store("report", number=number, period=period, format=report.format, total=report.total)
        self.state = replace(self.state, page="report", focus="", menu=False, alert="", report=report)
        return None

    def report_form(self, zone: Zone) -> CommitSet | None:
        """What is ordered: one report of this period, in this format."""
        if zone.id != "generate":
            return None
        values: Pairs = (("period", self.state.period), ("format", self.state.format))
        return CommitSet(values=values, address=f"{ORIGIN}/reports/new")

    @skill(effect="read")
    def read_report(self, zone: Zone) -> Mapping[str, Scalar] | Outcome:
        """Read the figure of a report, on its page."""
        if zone.role != "figure":
            return failed("wrong_target", f"{zone.role} '{zone.label}' is not a figure")
        return {"total": zone.get("value"), "report_number": zone.get("report_number")}

    @probe
    def report_ready(self, period: str) -> bool:
        """Whether there is a report of this period."""
        return any(report.get("period") == period for report in self.happened("report"))

    def clicked(self, zone: Zone) -> Outcome | None:
        match self.state.page, zone.id:
            case "desktop", "icon_browser":
                self.state = WebState(page="new_tab")
            case "login", "field_username":
                self.state = replace(self.state, focus="username")
            case "login", "field_password":
                self.state = replace(self.state, focus="password")
            case "login", "log_in":
                self._log_in()
            case "dashboard", "generate":
                return failed("wrong_skill", "'Generate' is pressed with generate")
            case "dashboard", _:
                self._click_dashboard(zone)
            case "report", "link_dashboard":
                self._show("Reports")
            case _:
                pass
        return None

    def blocked(self, over: Overlay, call: Call) -> Outcome | None:
        """An error page can be left for another page; a dialog cannot."""
        return None if over.kind == "error" and call.skill == "go" else super().blocked(over, call)

    def without_dialog(self) -> WebState | None:
        return replace(self.state, menu=False) if self.state.menu else None

    def logged_out(self) -> WebState | None:
        return WebState(page="login") if self.state.user else None

    def scene(self) -> Scene:
        state = self.state
        if state.page == "desktop":
            return Scene("Desktop", Zone(id="icon_browser", role="icon", label="Browser"))
        title = f"Report {state.report.period}" if state.page == "report" and state.report else _TITLES[state.page]
        origin = "" if state.page == "new_tab" else ORIGIN
        bar = Zone(id="address_bar", role="textbox", label="Address bar")
        return Scene(
            title, bar, *self._build_content(), address=f"{origin}/{state.page}" if origin else "", origin=origin
        )

    def _build_content(self) -> tuple[Zone, ...]:
        match self.state.page:
            case "login":
                return self._build_login()
            case "dashboard":
                return self._build_dashboard()
            case "report":
                return self._build_report()
            case _:
                return ()

    def _build_login(self) -> tuple[Zone, ...]:
        state = self.state
        return (
            *self._build_alert(),
            _build_field("username", "Username", state.username, focused=state.focus == "username"),
            _build_field("password", "Password", "•" * len(state.password), focused=state.focus == "password"),
            Zone(id="log_in", role="button", label="Log in"),
        )

    def _build_dashboard(self) -> tuple[Zone, ...]:
        state = self.state
        formats = tuple(Zone(id=f"format_{name}", role="menu_item", label=name) for name in get_args(Format))
        return (
            *self._build_alert(),
            *(
                Zone(id=f"tab_{tab}", role="tab", label=tab, state=(("selected", tab == state.tab),))
                for tab in get_args(Tab)
            ),
            _build_field("period", "Period", state.period, focused=state.focus == "period"),
            Zone(id="field_format", role="combobox", label="Format", state=(("text", state.format),)),
            *(formats if state.menu else ()),
            Zone(id="generate", role="button", label="Generate"),
            *(_build_row(report) for report in self._list_reports() if state.tab == "Reports"),
            Zone(id="log_out", role="button", label="Log out"),
        )

    def _build_report(self) -> tuple[Zone, ...]:
        report = self.state.report
        if report is None:
            return ()
        figure: Pairs = (("value", report.total), ("report_number", report.number))
        return (
            Zone(id="link_dashboard", role="link", label="Dashboard"),
            Zone(id="figure_total", role="figure", label="Total", state=figure),
        )

    def _build_alert(self) -> tuple[Zone, ...]:
        return (Zone(id="alert", role="alert", label=self.state.alert),) if self.state.alert else ()

    def _list_reports(self) -> tuple[Report, ...]:
        """The last ones, as the back end has them."""
        made = self.happened("report")[-MOST_LISTED:]
        return tuple(Report(**dict(effect.values)) for effect in made)

    def _show(self, tab: Tab) -> None:
        self.state = replace(self.state, page="dashboard", tab=tab, focus="", menu=False, alert="")

    def _log_in(self) -> None:
        state = self.state
        if (state.username, state.password) == self._known:
            self.state = WebState(page="dashboard", user=state.username)
        else:
            self.state = WebState(page="login", username=state.username, alert="Wrong user name or password.")

    def _click_dashboard(self, zone: Zone) -> None:
        for tab in get_args(Tab):
            if zone.id == f"tab_{tab}":
                self.state = replace(self.state, tab=tab, focus="", menu=False)
        for name in get_args(Format):
            if zone.id == f"format_{name}":
                self.state = replace(self.state, format=name, menu=False, alert="")
        if zone.id == "field_period":
            self.state = replace(self.state, focus="period")
        if zone.id == "field_format":
            self.state = replace(self.state, menu=not self.state.menu)
        if zone.id == "log_out":
            self.state = WebState(page="login")
        for report in self._list_reports():
            if zone.id == f"report_{report.number}":
                self.state = replace(self.state, page="report", report=report)

    def _find_problem(self) -> str:
        if self.state.tab != "Reports":
            return "choose the tab 'Reports' first."
        return "" if PERIOD.fullmatch(self.state.period) else "a period is written like 2026-Q1."

    def _compute_total(self, period: str) -> float:
        return int(self.draw_hex("total", period), 16) % 10_000_000 / 100


def _build_field(name: str, label: str, text: str, *, focused: bool) -> Zone:
    return Zone(
        id=f"field_{name}",
        role="textbox",
        label=label,
        state=(("text", text), ("filled", bool(text)), ("focused", focused)),
    )


def _build_row(report: Report) -> Zone:
    state: Pairs = (("report_number", report.number), ("format", report.format))
    return Zone(id=f"report_{report.number}", role="report", label=f"Report {report.period}", state=state)
