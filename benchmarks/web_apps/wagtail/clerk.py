"""Publishes an article in Wagtail's own editor, by rules over what is on the screen and nothing else."""

from dataclasses import dataclass

from benchmarks.web_apps.clerk import DONE, Clerk, Screen, click, form, plan_steps, press
from midcourse.domain.argument import Reference
from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches, ZoneAppears
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.ports.planner import PlanDraft

TITLE, SUMMARY = "Harbour opens", "The new harbour opens on Monday"
SECTION, RELATED = "Reports", "Reports of 2025"
PARENT = "Gazette"
EDITOR = "editor"
PUBLISH = "Publish the article"
LISTED = Expectation(checks=(SurfaceMatches(pattern=f"Exploring: {PARENT}*"), ZoneAppears(role="link", label=TITLE)))
CHOOSER = "Choose a page"
NOTICE = "Got it"


@dataclass(frozen=True)
class WagtailClerk(Clerk):
    url: str
    public: str
    """The public page, readable without signing in."""

    def work(self, screen: Screen) -> PlanDraft | None:
        match screen.title.removesuffix(" - Wagtail"):
            case "Sign in":
                password = Reference(source="secret", name="password")
                values = {"Username *": EDITOR}
                return form(screen, values, "Sign in", secret=("Password *", password)) or _wait("Username")
            case "Dashboard":
                return self._list()
            case title if title == f"Exploring: {PARENT}":
                return self._listing(screen)
            case title if title.startswith(("New: Article", "Editing Article")):
                return self._editor(screen)
            case _:
                return self._list()

    def _handle_interruptions(self, screen: Screen) -> PlanDraft | None:
        if notice := screen.find_zone("button", NOTICE):
            return plan_steps(click(notice, "Close the notice"))
        return self._list() if screen.has_failed else None

    def _list(self) -> PlanDraft:
        return plan_steps(
            Draft(zone=GLOBAL, skill="navigate", arguments=(("url", self.url),), says="Open the list of pages")
        )

    def _listing(self, screen: Screen) -> PlanDraft | None:
        if screen.find_zone("link", TITLE):
            return DONE
        if screen.has_done(PUBLISH):
            return self._list()
        return press(screen, "link", "Add child page") or _wait("Add child page")

    def _editor(self, screen: Screen) -> PlanDraft | None:
        if screen.has_done(PUBLISH):
            return self._list()
        actions = screen.find_zone("button", "More actions")
        if actions is None:
            return _wait("More actions")
        if screen.shows_text(RELATED, "text"):
            fading = screen.dialog or actions.get("covered")
            return _wait("More actions") if fading else self._publish(screen)
        if screen.dialog:
            return self._chooser(screen)
        return form(screen, {"Title *": TITLE, "Summary *": SUMMARY}, CHOOSER) or _wait("Explore")

    def _chooser(self, screen: Screen) -> PlanDraft | None:
        """Down the tree, level by level, until the page is there."""
        return (
            press(screen, "link", RELATED)
            or press(screen, "link", "Explore", within=SECTION)
            or press(screen, "link", "Explore", within=PARENT)
            or _wait("Explore")
        )

    def _publish(self, screen: Screen) -> PlanDraft | None:
        button = screen.find_zone("button", "Publish")
        if button is None:
            return form(screen, {"Title *": TITLE, "Summary *": SUMMARY}, "More actions")
        shown = Probe(name="page_shows", arguments=(("url", self.public), ("text", TITLE)))
        return plan_steps(Draft(zone=button.id, skill="click", says=PUBLISH, expect=LISTED, probe=shown))


def _wait(text: str) -> PlanDraft:
    return plan_steps(Draft(zone=GLOBAL, skill="wait_for", arguments=(("text", text),), says=f"Wait for '{text}'"))
