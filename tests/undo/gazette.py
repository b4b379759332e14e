"""Publishes and unpublishes pages of Wagtail by the forms of its administration. `GAZETTE` in the environment is its address."""

import os
import re
from html import unescape
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener, urlopen

from benchmarks.web_apps.wagtail.application import EDITOR, PASSWORD
from midcourse import guarded

FIELD = re.compile(r'<input type="(?:hidden|text)" name="([^"]+)"(?:[^>]*? value="([^"]*)")?')


def submit(path: str, **values: str) -> str:
    """Sign in, fill these values into the form at this path, and send it. Returns the address that Wagtail answers with."""
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    _send(opener, "/admin/login/", {"username": EDITOR, "password": PASSWORD})
    return _send(opener, path, values)


def _send(opener: OpenerDirector, path: str, values: dict[str, str]) -> str:
    with opener.open(os.environ["GAZETTE"] + path) as page:
        fields = {name: unescape(value) for name, value in FIELD.findall(page.read().decode())}
    with opener.open(os.environ["GAZETTE"] + path, urlencode(fields | values).encode()) as answer:
        return answer.url


def is_public(address: str) -> bool:
    """Whether a reader who has not signed in finds the page."""
    try:
        with urlopen(os.environ["GAZETTE"] + address):
            return True
    except HTTPError as error:
        if error.code == 404:
            return False
        raise


def unpublish(page: int) -> None:
    submit(f"/admin/pages/{page}/unpublish/")


@guarded(key="{page}", happened=is_public, undo="unpublish")
def publish(page: int, address: str) -> None:
    submit(f"/admin/pages/{page}/edit/", **{"action-publish": "action-publish"})
