"""Have the report of a quarter made, and publish it."""

from benchmarks.web_apps.clerk import DONE, Clerk, Either, Final, Screen, Value, form, plan_steps, press
from benchmarks.web_apps.reports_site import Reports
from benchmarks.web_apps.site import SiteApplication
from midcourse.domain.expectation import Expectation, SurfaceMatches, ZoneAppears
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.testing.sites import Effect

NAME = "2025 Q3"
FORM: dict[str, Value] = {
    "Year": "2025",
    "Quarter": "Q3",
    "Format": "CSV",
    "Cost centre": Either("0815", "CC-0815"),
}
GENERATE, PUBLISH = "Have the report made", "Publish the report"
BEING_MADE = Expectation(checks=(SurfaceMatches(pattern=f"Report {NAME}"),))
PUBLISHED = Expectation(checks=(ZoneAppears(role="status", label="Published."),))


class ReportsClerk(Clerk):
    words = Reports.words

    def work(self, screen: Screen) -> PlanDraft | None:
        generated = screen.has_done(GENERATE)
        match screen.title:
            case "Reports":
                mine = screen.find_zone("link", NAME)
                return press(screen, "link", NAME if mine else "New report") if mine or not generated else None
            case "New report" if not generated:
                final = Final(says=GENERATE, expect=BEING_MADE, probe=screen.make_probe("CC-0815", "/reports"))
                return form(screen, FORM, "Generate report", final=final)
            case title if title == f"Report {NAME}":
                return self._report(screen)
            case _:
                return press(screen, "link", "Reports")

    def _report(self, screen: Screen) -> PlanDraft | None:
        if screen.shows_text("Published.", "status"):
            return DONE
        if screen.shows_text("Being made", "status"):
            return plan_steps(
                Draft(zone=GLOBAL, skill="wait_for", arguments=(("text", "Total:"),), says="Wait for the report")
            )
        final = Final(says=PUBLISH, expect=PUBLISHED, probe=screen.make_probe("Published."))
        return press(screen, "button", "Publish", final=final)


VALUES = {"year": "2025", "quarter": "Q3", "format": "CSV", "centre": "CC-0815"}
REPORTS = SiteApplication(
    name="reports",
    site=Reports,
    clerk=ReportsClerk,
    task=Task(
        goal="Have the report for 2025 Q3 made as CSV for cost centre CC-0815, and publish it",
        inputs=tuple(VALUES.items()),
        done_when=Expectation(checks=(*BEING_MADE.checks, *PUBLISHED.checks)),
        secrets=("password",),
    ),
    wanted=(Effect(name="report", values=VALUES), Effect(name="published", values=VALUES)),
    rejects=("POST /reports",),
)
