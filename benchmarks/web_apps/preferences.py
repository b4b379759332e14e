"""Change the notifications in their nested dialogs, and invite a member."""

from benchmarks.web_apps.clerk import DONE, Clerk, Either, Final, Screen, form, press
from benchmarks.web_apps.preferences_site import Preferences
from benchmarks.web_apps.site import SiteApplication
from midcourse.domain.expectation import Expectation, ZoneAppears
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.testing.sites import Effect

EMAIL = "eve@example.org"
SINCE = Either("22:00", "10 pm")
SAVE, INVITE = "Save the notifications", "Send the invitation"
SAVED = Expectation(checks=(ZoneAppears(role="status", label="Settings saved."),))
INVITED = Expectation(checks=(ZoneAppears(role="status", label="Invitation sent."),))
NOTIFICATIONS, MEMBERS = "Digest: Weekly. Quiet hours: from 22:00.", f"Invited: {EMAIL}."


class PreferencesClerk(Clerk):
    words = Preferences.words
    dialogs = ("Notifications", "Advanced", "Members", "Invite a member")

    def work(self, screen: Screen) -> PlanDraft | None:
        if screen.find_zone("link", "Sign in"):
            return press(screen, "link", "Sign in")
        match screen.dialog:
            case "Advanced":
                return form(screen, {"Quiet hours": True, "From": SINCE}, "Done")
            case "Notifications" if screen.has_done(SAVE):
                return press(screen, "button", "Cancel")
            case "Notifications":
                return self._notifications(screen)
            case "Members":
                return press(screen, "button", "Close" if screen.has_done(INVITE) else "Invite…")
            case "Invite a member" if screen.has_done(INVITE):
                return press(screen, "button", "Cancel")
            case "Invite a member":
                values = {"E-mail": EMAIL, "Role": "Editor", "May see invoices": False}
                final = Final(says=INVITE, expect=INVITED, probe=screen.make_probe(MEMBERS, "/"))
                return form(screen, values, "Send invitation", final=final)
            case _:
                return self._main(screen)

    def _notifications(self, screen: Screen) -> PlanDraft | None:
        objected = screen.shows_text("Please correct", "alert")
        times = (SINCE.other,) if objected else (SINCE.usual, SINCE.other)
        if not any(screen.shows_text(f"Quiet hours: from {time}.", "text") for time in times):
            return press(screen, "button", "Advanced…")
        final = Final(says=SAVE, expect=SAVED, probe=screen.make_probe(NOTIFICATIONS, "/"))
        return form(screen, {"Digest": "Weekly"}, "Save", final=final)

    def _main(self, screen: Screen) -> PlanDraft | None:
        saved, invited = screen.shows_text(NOTIFICATIONS, "text"), screen.shows_text(MEMBERS, "text")
        if saved and invited:
            return DONE
        if not saved and not screen.has_done(SAVE):
            return press(screen, "button", "Notifications…")
        if saved and not screen.has_done(INVITE):
            return press(screen, "button", "Members…")
        return press(screen, "link", "Settings")


PREFERENCES = SiteApplication(
    name="settings",
    site=Preferences,
    clerk=PreferencesClerk,
    task=Task(
        goal=f"Set the digest to weekly and quiet hours from 22:00, and invite {EMAIL} as Editor who does not see invoices",
        inputs=(("digest", "Weekly"), ("since", "22:00"), ("email", EMAIL), ("role", "Editor")),
        done_when=Expectation(
            checks=(ZoneAppears(role="text", label=NOTIFICATIONS), ZoneAppears(role="text", label=MEMBERS))
        ),
        secrets=("password",),
    ),
    wanted=(
        Effect(name="settings", values={"digest": "Weekly", "quiet": "on", "since": "22:00"}),
        Effect(name="invitation", values={"email": EMAIL, "role": "Editor", "invoices": "off"}),
    ),
    rejects=("POST /settings", "POST /invitations"),
)
