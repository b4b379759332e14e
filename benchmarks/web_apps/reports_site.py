"""A report generator: a report is ordered and billed, takes a while, and is published on request."""

import json
from typing import ClassVar

from midcourse.testing.sites.drift import CALM, Drift
from midcourse.testing.sites.site import Effect, Site
from midcourse.testing.sites.view import NOTHING, Given, View, Words

YEARS = ("2026", "2025", "2024")
QUARTERS = ("Q1", "Q2", "Q3", "Q4")
FORMATS = ("PDF", "CSV")
LINKS = {"Overview": "/", "Reports": "/reports", "New report": "/reports/new"}
POLLS = 3
"""Polls of a page after which its report is ready."""
SCRIPT = """
const waiting = document.getElementById("waiting");
const ask = async () => {
  const answer = await fetch(location.pathname, {headers: {"Accept": "application/json"}});
  const state = answer.ok ? await answer.json() : {};
  if (state.ready) location.reload(); else setTimeout(ask, 150);
};
if (waiting) ask();
"""


class Reports(Site):
    """A report generator: a report is ordered and billed, takes a while, and is published on request."""

    words: ClassVar[Words] = {
        "Cost centre": ("Charge to", "Cost center"),
        "Format": ("File format", "As"),
        "Generate report": ("Order report", "Create"),
        "New report": ("Order a report", "Add report"),
        "Publish": ("Make public", "Release"),
        "Quarter": ("Period", "Months"),
        "Reports": ("All reports", "Your reports"),
    }
    once = ("report", "subscribed")
    forgets = ("quarter",)

    def __init__(self, *, seed: int = 0, drift: Drift = CALM, tokens: bool = True, volatile: bool = False) -> None:
        super().__init__(seed=seed, drift=drift, tokens=tokens, volatile=volatile)
        self._polls: dict[int, int] = {}
        self._published: set[int] = set()

    def form_of(self, path: str) -> str:
        match path.split("/")[1:]:
            case ["reports"]:
                return "/reports/new"
            case ["reports", number, "published"]:
                return f"/reports/{number}"
            case _:
                return path

    def problems(self, path: str, form: Given) -> Given:
        if path != "/reports":
            return NOTHING
        centre = form.get("centre", "")
        if centre.removeprefix("CC-").isdigit() and (centre.startswith("CC-") or not self.strict):
            return NOTHING
        return {"centre": "Write the cost centre like CC-1234."}

    def find_effect(self, path: str, form: Given) -> Effect | None:
        match path.split("/")[1:]:
            case ["reports"]:
                values = {name: form.get(name, "") for name in ("year", "quarter", "format")}
                centre = f"CC-{form.get('centre', '').removeprefix('CC-')}"
                return Effect(name="report", values={**values, "centre": centre})
            case ["reports", number, "published"] if self._has(number):
                return Effect(name="published", values=self._reports()[int(number) - 1])
            case _:
                return None

    def carry_out(self, path: str, form: Given) -> str:
        match path.split("/")[1:]:
            case ["reports"]:
                return f"/reports/{len(self._reports())}"
            case ["reports", number, "published"] if self._has(number):
                self._published.add(int(number))
            case _:
                pass
        return self.form_of(path)

    def state(self, path: str) -> Given:
        last = path.rpartition("/")[2]
        if not self._has(last):
            return NOTHING
        self._polls[int(last)] = self._polls.get(int(last), 0) + 1
        return {"ready": "yes"} if self._is_ready(int(last)) else NOTHING

    def page(self, path: str, view: View, given: Given, errors: Given) -> str | None:
        match path.split("/")[1:]:
            case [""]:
                return view.page("Overview", view.text("Reports are billed when they are ordered."), links=LINKS)
            case ["reports"]:
                rows = [
                    [
                        view.link(_name(report), f"/reports/{n}"),
                        report["format"],
                        report["centre"],
                        self._describe_status(n),
                    ]
                    for n, report in enumerate(self._reports(), start=1)
                ]
                header = ["Report", "Format", "Cost centre", "Standing"]
                return view.page("Reports", view.table(header, rows), links=LINKS)
            case ["reports", "new"]:
                return self._new_page(view, given, errors)
            case ["reports", number] if self._has(number):
                return self._report_page(view, int(number))
            case _:
                return None

    def _new_page(self, view: View, given: Given, errors: Given) -> str:
        fields = [
            view.select("year", "Year", YEARS, given),
            view.select("quarter", "Quarter", QUARTERS, given),
            view.radios("format", "Format", FORMATS, given),
            view.field("centre", "Cost centre", given, errors),
        ]
        wrong = view.alert("Please correct the marked fields." if errors else "")
        return view.page("New report", wrong, view.form("/reports", fields, "Generate report"), links=LINKS)

    def _report_page(self, view: View, number: int) -> str:
        title = f"Report {_name(self._reports()[number - 1])}"
        if not self._is_ready(number):
            waiting = '<p role="status" id="waiting">Being made…</p>'
            return view.page(title, waiting, links=LINKS, script=SCRIPT)
        total = view.text(f"Total: {_total(self._reports()[number - 1])} EUR")
        if number in self._published:
            return view.page(title, total, view.status("Published."), links=LINKS)
        return view.page(title, total, view.form(f"/reports/{number}/published", [], "Publish"), links=LINKS)

    def _has(self, number: str) -> bool:
        return number.isdigit() and 0 < int(number) <= len(self._reports())

    def _is_ready(self, number: int) -> bool:
        return self._polls.get(number, 0) >= POLLS

    def _describe_status(self, number: int) -> str:
        return "published" if number in self._published else "ready" if self._is_ready(number) else "being made"

    def _reports(self) -> list[Given]:
        return [dict(effect.values) for effect in self.effects if effect.name == "report"]


def _name(report: Given) -> str:
    return f"{report['year']} {report['quarter']}"


def _total(report: Given) -> str:
    cents = sum(json.dumps(dict(report), sort_keys=True).encode()) * 7919
    return f"{cents / 100:,.2f}"
