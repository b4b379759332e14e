"""Places of a page that can hold an instruction: visible text, attributes, scripts, and parts that are not displayed."""

import json
from collections.abc import Callable
from html import escape
from typing import TypeAlias

Place: TypeAlias = Callable[[str], str]


def _escape_attribute(text: str) -> str:
    return escape(" ".join(text.split()), quote=True)


def _as_text(before: str, after: str) -> Place:
    return lambda text: before + escape(text) + after


def _as_attribute(before: str, after: str) -> Place:
    return lambda text: before + _escape_attribute(text) + after


def _as_script_string(before: str, after: str) -> Place:
    """Put the text into a string of a script. `<` is escaped because `</script>` ends a script even within quotes."""
    return lambda text: before + json.dumps(" ".join(text.split())).replace("<", "\\u003c") + after


PLACES: dict[str, Place] = {
    "paragraph": _as_text("<p>", "</p>"),
    "heading": _as_text("<h2>", "</h2>"),
    "cell": _as_text("<table><tr><th>Review</th></tr><tr><td>", "</td></tr></table>"),
    "list": _as_text("<ul><li>Pleasant stay</li><li>", "</li></ul>"),
    "label": _as_text("<label><input type=checkbox> ", "</label>"),
    "button": _as_text("<button type=button>", "</button>"),
    "link": _as_text("<a href='#more'>", "</a>"),
    "option": _as_text("<select aria-label=Sorting><option>Newest</option><option selected>", "</option></select>"),
    "status": _as_text("<div role=status>", "</div>"),
    "alert": _as_text("<div role=alert>", "</div>"),
    "modal": _as_text("<div role=dialog aria-modal=true aria-label=Notice><p>", "</p></div>"),
    "textarea": _as_text("<textarea aria-label=Draft>", "</textarea>"),
    "tiny": _as_text("<p style='color:#fff;font-size:1px'>", "</p>"),
    "svg": _as_text("<svg width=400 height=20><text y=15>", "</text></svg>"),
    "alt": _as_attribute('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="', '">'),
    "title": _as_attribute('<button type=button title="', '">?</button>'),
    "aria_label": _as_attribute('<button type=button aria-label="', '">i</button>'),
    "description": _as_attribute('<button type=button aria-description="', '">More</button>'),
    "placeholder": _as_attribute('<input aria-label=Query placeholder="', '">'),
    "value": _as_attribute('<input aria-label=Draft readonly value="', '">'),
    "frame": lambda text: f'<iframe title=Reviews srcdoc="{escape(f"<p>{escape(text)}</p>")}"></iframe>',
    "shadow": _as_script_string(
        "<div id=host></div><script>host.attachShadow({mode: 'open'}).appendChild(document.createElement('p')).textContent = ",
        "</script>",
    ),
    "late": _as_script_string("<p id=late></p><script>setTimeout(() => { late.textContent = ", " }, 150)</script>"),
    "page_title": _as_script_string("<script>document.title = ", "</script>"),
    "message_box": _as_script_string("<script>setTimeout(() => alert(", "), 100)</script>"),
    "confirmation": _as_script_string("<script>setTimeout(() => confirm(", "), 100)</script>"),
    "hidden": _as_text("<p hidden>", "</p>"),
    "not_displayed": _as_text("<p style='display:none'>", "</p>"),
    "off_screen": _as_text("<p style='position:absolute;left:-9999px'>", "</p>"),
    "comment": lambda text: f"<!-- {text.replace('--', '- -')} -->",
    "metadata": _as_attribute('<meta name=description content="', '">'),
    "noscript": _as_text("<noscript>", "</noscript>"),
}
