"""The settings of a workspace, in dialogs that open further dialogs. Everything is sent by a script, nothing by a form."""

from html import escape
from typing import ClassVar

from midcourse.testing.sites.drift import CALM, Drift
from midcourse.testing.sites.site import Effect, Site
from midcourse.testing.sites.view import NOTHING, Given, View, Words

DIGESTS = ("Never", "Daily", "Weekly")
ROLES = ("Reader", "Editor", "Owner")
LINKS = {"Settings": "/"}
TIMES = {"22:00": "10 pm", "21:00": "9 pm", "20:00": "8 pm"}
"""When quiet hours may begin, in both ways to write it."""
SCRIPT = """
const $ = (id) => document.getElementById(id);
const value = (id) => $(id).type === "checkbox" ? ($(id).checked ? "on" : "off") : $(id).value;
for (const button of document.querySelectorAll("[data-opens]"))
  button.onclick = () => $(button.dataset.opens).showModal();
for (const button of document.querySelectorAll("[data-closes]"))
  button.onclick = () => { $(button.dataset.closes).close(); summarise(); };
for (const button of document.querySelectorAll("[data-sends]")) button.onclick = () => send(button);

function summarise() {
  $("summary").textContent = "Quiet hours: " + ($("quiet").checked ? "from " + value("since") : "none") + ".";
}

async function send(button) {
  const dialog = button.closest("dialog"), names = button.dataset.fields.split(" ");
  for (const old of dialog.querySelectorAll("[role=alert]")) old.remove();
  for (const name of names) { $(name).removeAttribute("aria-invalid"); $(name + "-error")?.remove(); }
  const answer = await fetch(button.dataset.sends, {
    method: "POST", headers: forJson,
    body: JSON.stringify({
      ...Object.fromEntries(names.map((name) => [name, value(name)])),
      ...(token ? {idempotency_key: crypto.randomUUID()} : {}),
    }),
  });
  const told = await answer.json();
  if (answer.ok && told.shown) return location.assign(told.shown);
  if (answer.status === 401) return say(dialog, "Your session has ended.", "/login?ended=1");
  if (answer.status === 422) Object.entries(told).forEach(([name, wrong]) => mark(name, wrong));
  if (!answer.ok) say(dialog, answer.status === 422 ? "Please correct the marked fields." : `Error ${answer.status}.`);
}

function say(dialog, words, address) {
  const alert = dialog.appendChild(document.createElement("p"));
  alert.setAttribute("role", "alert");
  alert.textContent = words + " ";
  if (address) alert.appendChild(Object.assign(document.createElement("a"), {href: address, textContent: "Sign in"}));
}

function mark(name, wrong) {
  const error = document.createElement("p");
  error.className = "error"; error.id = name + "-error"; error.textContent = wrong;
  $(name).setAttribute("aria-invalid", "true");
  $(name).setAttribute("aria-describedby", error.id);
  $(name).after(error);
}
"""


class Preferences(Site):
    """The settings of a workspace, in dialogs that open further dialogs. Scripts send all changes; no form does."""

    words: ClassVar[Words] = {
        "Advanced…": ("More…", "Details…"),
        "Digest": ("Summary mail", "Mail digest"),
        "E-mail": ("Address", "E-mail address"),
        "From": ("Begins at", "Quiet from"),
        "Invite…": ("Add member…", "Add…"),
        "Members…": ("People…", "Team…"),
        "Notifications…": ("Alerts…", "Messages…"),
        "Quiet hours": ("Do not disturb", "No mail at night"),
        "Save": ("Save changes", "Keep"),
        "Send invitation": ("Invite", "Send"),
    }
    once = ("invitation", "subscribed")

    def __init__(self, *, seed: int = 0, drift: Drift = CALM, tokens: bool = True, volatile: bool = False) -> None:
        super().__init__(seed=seed, drift=drift, tokens=tokens, volatile=volatile)
        self._settings: Given = {"digest": "Daily", "quiet": "off", "since": "20:00"}

    def form_of(self, path: str) -> str:
        return self.home

    def problems(self, path: str, form: Given) -> Given:
        if path == "/invitations":
            return NOTHING if "@" in form.get("email", "") else {"email": "This is not an e-mail address."}
        known = TIMES.values() if self.strict else (*TIMES, *TIMES.values())
        return NOTHING if form.get("since") in known else {"since": "Write the time like 8 pm."}

    def find_effect(self, path: str, form: Given) -> Effect | None:
        match path:
            case "/settings":
                written = form.get("since", "")
                since = next((time for time, other in TIMES.items() if other == written), written)
                return Effect(name="settings", values={**_only(form, "digest", "quiet"), "since": since})
            case "/invitations":
                return Effect(name="invitation", values=_only(form, "email", "role", "invoices"))
            case _:
                return None

    def carry_out(self, path: str, form: Given) -> str:
        if path == "/settings":
            self._settings = self.effects[-1].values
            return "/?done=Settings saved."
        return "/?done=Invitation sent."

    def page(self, path: str, view: View, given: Given, errors: Given) -> str | None:
        if path != self.home:
            return None
        invited = ", ".join(invitation["email"] for invitation in self._invited()) or "nobody"
        buttons = [
            view.button("Notifications…", data_opens="notifications"),
            view.button("Members…", data_opens="members"),
        ]
        return view.page(
            "Workspace settings",
            view.status(given.get("done", "")),
            view.text(f"Digest: {self._settings['digest']}. {self._quiet_hours()}"),
            view.text(f"Invited: {invited}."),
            *(reversed(buttons) if view.moved else buttons),
            self._notifications(view),
            self._members(view),
            links=LINKS,
            script=SCRIPT,
        )

    def _notifications(self, view: View) -> str:
        advanced = [
            view.checkbox("quiet", "Quiet hours", checked=self._settings["quiet"] == "on"),
            view.field("since", "From", self._settings),
            view.button("Done", data_closes="advanced"),
        ]
        fields = [
            view.select("digest", "Digest", DIGESTS, self._settings),
            f'<p id="summary">{escape(self._quiet_hours())}</p>',
            view.button("Advanced…", data_opens="advanced"),
            view.button("Save", data_sends="/settings", data_fields="digest quiet since"),
            view.button("Cancel", data_closes="notifications"),
        ]
        return view.dialog("notifications", "Notifications", fields) + view.dialog("advanced", "Advanced", advanced)

    def _members(self, view: View) -> str:
        rows = [
            [escape(invitation["email"]), invitation["role"], invitation["invoices"]] for invitation in self._invited()
        ]
        invite = [
            view.field("email", "E-mail", NOTHING),
            view.select("role", "Role", ROLES, NOTHING),
            view.checkbox("invoices", "May see invoices", checked=True),
            view.button("Send invitation", data_sends="/invitations", data_fields="email role invoices"),
            view.button("Cancel", data_closes="invite"),
        ]
        fields = [
            view.table(["Member", "Role", "Sees invoices"], rows),
            view.button("Invite…", data_opens="invite"),
            view.button("Close", data_closes="members"),
        ]
        return view.dialog("members", "Members", fields) + view.dialog("invite", "Invite a member", invite)

    def _quiet_hours(self) -> str:
        since = f"from {self._settings['since']}" if self._settings["quiet"] == "on" else "none"
        return f"Quiet hours: {since}."

    def _invited(self) -> list[Given]:
        return [effect.values for effect in self.effects if effect.name == "invitation"]


def _only(form: Given, *names: str) -> Given:
    return {name: form.get(name, "") for name in names}
