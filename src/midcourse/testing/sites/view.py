"""View of one page: its HTML, its words, the place of its controls, and what covers it.

Text that is passed in is escaped; what these methods return is HTML.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

Given = Mapping[str, str]
"""Fields of a form by name: what they hold, or what is wrong with them."""
NOTHING: Given = {}
Words = Mapping[str, Sequence[str]]
"""Other labels of controls, by their usual label."""

STYLE = """
body { font: 16px/1.5 sans-serif; margin: 0; color: #223; background: #f4f5f8; }
nav { background: #223; padding: .6rem 2rem; } nav a, nav button { color: #fff; background: none; border: 0; margin-right: 1.2rem; }
main { background: #fff; max-width: 46rem; margin: 1.5rem auto; padding: 1rem 2rem 2rem; border-radius: .5rem; }
label, fieldset { display: block; margin: .6rem 0; } fieldset { border: 1px solid #ccd; } fieldset label { display: inline; }
input:not([type=checkbox], [type=radio]), select, textarea { display: block; width: 20rem; padding: .3rem; font: inherit; }
button { font: inherit; padding: .3rem .9rem; margin: .3rem .3rem .3rem 0; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .3rem; border-bottom: 1px solid #dde; }
[role=alert], .error { color: #a01; } [role=status] { color: #062; } [aria-invalid] { border: 2px solid #a01; }
.over { position: fixed; inset: 0; background: #223c; display: grid; place-items: center; } .over[hidden] { display: none; }
.over > div, dialog { background: #fff; padding: 1rem 2rem; border: 0; border-radius: .5rem; max-width: 26rem; }
"""

SCRIPT = """
const token = document.querySelector("meta[name=csrf-token]")?.content;
const forJson = {"Content-Type": "application/json", ...(token ? {"X-CSRF-Token": token} : {})};
const popup = document.getElementById("popup");
if (popup) {
  const modal = popup.tagName === "DIALOG";
  const close = () => modal ? popup.close() : popup.remove();
  const show = () => modal ? popup.showModal() : popup.hidden = false;
  popup.querySelector(".decline").onclick = close;
  popup.querySelector(".accept").onclick = () => fetch("/newsletter", {
    method: "POST", headers: forJson, body: JSON.stringify({page: location.pathname}),
  }).then(close);
  if (popup.dataset.on === "input") document.addEventListener("input", show, {once: true});
  else show();
}
"""


@dataclass(frozen=True, kw_only=True)
class Popup:
    """A pop-up that can be declined. Accepting it has an effect that the task does not want."""

    title: str
    text: str
    accept: str
    decline: str
    shape: Literal["dialog", "cover"] = "dialog"
    """A modal dialog, or a layer that covers the page."""
    on_input: bool = False


POPUPS = (
    Popup(title="Newsletter", text="Get 10 % off with our newsletter.", accept="Subscribe", decline="No thanks"),
    Popup(title="Cookies", text="We value your privacy.", accept="Accept all", decline="Reject all"),
    Popup(title="What's new", text="Have you seen our new design?", accept="Show me", decline="Close"),
    Popup(title="Survey", text="How do you like it here?", accept="Take part", decline="Maybe later"),
)


@dataclass(frozen=True, kw_only=True)
class View:
    words: Words = field(default_factory=dict[str, Sequence[str]])
    wording: int = 0
    """0 is the usual one."""
    moved: bool = False
    popup: Popup | None = None
    hidden: Given = field(default_factory=dict[str, str])
    """Hidden fields that are added to every form of the page."""
    token: str = ""
    """The CSRF token that the scripts of the page send in a header."""

    def say(self, usual: str) -> str:
        others = self.words.get(usual, ())
        return (usual, *others)[self.wording % (len(others) + 1)]

    # --- what can be read

    def heading(self, text: str) -> str:
        return f"<h2>{escape(text)}</h2>"

    def text(self, text: str) -> str:
        return f"<p>{escape(text)}</p>"

    def alert(self, text: str) -> str:
        return f'<p role="alert">{escape(text)}</p>' if text else ""

    def status(self, text: str) -> str:
        return f'<p role="status">{escape(text)}</p>' if text else ""

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        """The cells are HTML."""
        head = "".join(f"<th>{escape(title)}</th>" for title in header)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    # --- what can be acted on

    def link(self, usual: str, address: str) -> str:
        return f'<a href="{escape(address)}">{escape(self.say(usual))}</a>'

    def button(self, usual: str, **attributes: str) -> str:
        named = {name.replace("_", "-"): value for name, value in attributes.items()}
        return f"<button{_attributes({'type': 'button', **named})}>{escape(self.say(usual))}</button>"

    def field(self, name: str, usual: str, given: Given, errors: Given = NOTHING, *, type: str = "text") -> str:  # noqa: A002
        attributes = {"name": name, "id": name, "type": type, "value": given.get(name, "")}
        control = f"<input{_attributes({**attributes, **_error_attributes(name, errors)})}>"
        return self._add_label(name, usual, control, errors)

    def area(self, name: str, usual: str, given: Given, errors: Given = NOTHING) -> str:
        attributes = _attributes({"name": name, "id": name, "rows": "3", **_error_attributes(name, errors)})
        return self._add_label(name, usual, f"<textarea{attributes}>{escape(given.get(name, ''))}</textarea>", errors)

    def select(self, name: str, usual: str, options: Sequence[str], given: Given) -> str:
        chosen = given.get(name, options[0])
        items = "".join(f"<option{' selected' * (option == chosen)}>{escape(option)}</option>" for option in options)
        return self._add_label(name, usual, f'<select name="{name}" id="{name}">{items}</select>', NOTHING)

    def radios(self, name: str, usual: str, options: Sequence[str], given: Given) -> str:
        chosen = given.get(name, options[0])
        items = "".join(
            f'<label><input type="radio" name="{name}" value="{escape(option)}"{" checked" * (option == chosen)}> {escape(option)}</label> '
            for option in options
        )
        return f"<fieldset><legend>{escape(self.say(usual))}</legend>{items}</fieldset>"

    def checkbox(self, name: str, usual: str, *, checked: bool) -> str:
        control = f'<input type="checkbox" name="{name}" id="{name}"{" checked" * checked}>'
        return f'<label for="{name}">{control} {escape(self.say(usual))}</label>'

    def form(self, action: str, fields: Sequence[str], submit: str) -> str:
        button = self.button(submit, type="submit")
        content = [button, *reversed(fields)] if self.moved else [*fields, button]
        hidden = "".join(
            f"<input{_attributes({'type': 'hidden', 'name': name, 'value': value})}>"
            for name, value in self.hidden.items()
        )
        return f'<form method="post" action="{escape(action)}" novalidate>{hidden}{"".join(content)}</form>'

    def dialog(self, name: str, title: str, fields: Sequence[str]) -> str:
        content = "".join(reversed(fields) if self.moved else fields)
        return f'<dialog id="{name}" aria-label="{escape(title)}"><h2>{escape(title)}</h2>{content}</dialog>'

    def _add_label(self, name: str, usual: str, control: str, errors: Given) -> str:
        wrong = f'<p class="error" id="{name}-error">{escape(errors[name])}</p>' if name in errors else ""
        return f'<div><label for="{name}">{escape(self.say(usual))}</label>{control}{wrong}</div>'

    # --- the whole page

    def page(self, title: str, *content: str, links: Mapping[str, str] = NOTHING, script: str = "") -> str:
        token = f'<meta name="csrf-token" content="{escape(self.token)}">' if self.token else ""
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8">{token}<title>{escape(title)}</title>'
            f'<link rel="icon" href="data:,"><style>{STYLE}</style></head><body>{self._navigation(links)}'
            f"<main><h1>{escape(title)}</h1>{''.join(content)}</main>{self._popup()}"
            f"<script>{SCRIPT}{script}</script></body></html>"
        )

    def _navigation(self, links: Mapping[str, str]) -> str:
        items = "".join(self.link(usual, address) for usual, address in links.items())
        if not items or not self.moved:
            return f"<nav>{items}</nav>" if items else ""
        toggle = "this.nextElementSibling.hidden = !this.nextElementSibling.hidden"
        return f"<nav>{self.button('Menu', onclick=toggle)}<span hidden>{items}</span></nav>"

    def _popup(self) -> str:
        popup = self.popup
        if popup is None:
            return ""
        on = "input" if popup.on_input else "load"
        decline = f'<button type="button" class="decline">{escape(popup.decline)}</button>'
        accept = f'<button type="button" class="accept">{escape(popup.accept)}</button>'
        content = f"<p>{escape(popup.text)}</p>{accept}{decline}"
        if popup.shape == "dialog":
            return f'<dialog id="popup" data-on="{on}" aria-label="{escape(popup.title)}">{content}</dialog>'
        return f'<div id="popup" data-on="{on}" class="over" hidden><div>{content}</div></div>'


def _attributes(attributes: Given) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())


def _error_attributes(name: str, errors: Given) -> dict[str, str]:
    return {"aria-invalid": "true", "aria-describedby": f"{name}-error"} if name in errors else {}
