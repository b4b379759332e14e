"""The HTML around the forms: navigation, clutter, and error pages of proxies."""

from collections.abc import Iterable, Mapping
from html import escape

NEWSLETTER = (
    "<form class=newsletter method=post action=/newsletter><label>Stay in touch <input type=email name=newsletter_email "
    "placeholder='you@example.org'></label> <button>Sign up</button></form>"
)


def lay_out(title: str, body: str, *, links: Mapping[str, str] | None = None, head: str = "", flash: str = "") -> str:
    """Return a page with a header, navigation, the body and a footer."""
    items = "".join(
        f"<li><a href='{where}'>{escape(text)}</a></li>" for text, where in (links or {"Home": "/"}).items()
    )
    shown = f"<div class='alert' role=status>{escape(flash)}</div>" if flash else ""
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(title)}</title>"
        "<meta name=viewport content='width=device-width'><style>body{font:15px sans-serif;max-width:60em;margin:1em auto}"
        f"label{{display:block;margin:.4em 0}}nav li{{display:inline;margin-right:1em}}</style>{head}</head><body>"
        f"<header><nav aria-label=Main><ul>{items}</ul></nav></header>{shown}<main><h1>{escape(title)}</h1>{body}</main>"
        f"<aside><h2>Did you know?</h2><p>Returns are free for 30 days.</p>{NEWSLETTER}</aside>"
        "<footer><a href=/imprint>Imprint</a> <a href=/privacy>Privacy</a> <small>All prices include VAT.</small></footer>"
        "</body></html>"
    )


def hide(**values: str) -> str:
    """Return hidden fields. Names with characters that Python does not allow are given with `hide_all`."""
    return hide_all(values)


def hide_all(values: Mapping[str, str]) -> str:
    return "".join(f"<input type=hidden name='{escape(k)}' value='{escape(v)}'>" for k, v in values.items())


def ask(label: str, name: str, value: str = "", *, kind: str = "text", more: str = "") -> str:
    """Return a field with a label that names it by id."""
    tag = name.replace(".", "_").replace("[", "_").replace("]", "_").replace("$", "_")
    return (
        f"<div class=field><label for='id_{tag}'>{escape(label)}</label>"
        f"<input type={kind} name='{escape(name)}' id='id_{tag}' value='{escape(value)}' {more}></div>"
    )


def wrap(label: str, name: str, value: str = "", *, kind: str = "text", more: str = "") -> str:
    """Return a field inside its label."""
    return f"<label>{escape(label)} <input type={kind} name='{escape(name)}' value='{escape(value)}' {more}></label>"


def choose(label: str, name: str, options: Iterable[str], chosen: str = "") -> str:
    items = "".join(f"<option{' selected' if one == chosen else ''}>{escape(one)}</option>" for one in options)
    tag = name.replace(".", "_").replace("[", "_").replace("]", "_").replace("$", "_")
    return (
        f"<div class=field><label for='id_{tag}'>{escape(label)}</label>"
        f"<select name='{escape(name)}' id='id_{tag}'>{items}</select></div>"
    )


def list_rows(rows: Iterable[str], empty: str = "You have no orders yet.") -> str:
    items = "".join(f"<tr><td>{escape(row)}</td><td>accepted</td></tr>" for row in rows)
    return (
        f"<table><thead><tr><th>Order</th><th>State</th></tr></thead><tbody>{items}</tbody></table>" if items else empty
    )


GATEWAY_TIMEOUT = (
    "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n"
    "<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>"
)
BAD_GATEWAY = (
    "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr></body></html>"
)
