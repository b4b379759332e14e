"""Which request carries the file of an approved upload and nothing else: each condition alone makes it one that is held."""

from dataclasses import dataclass, field

import pytest

from midcourse.domain.plan import Target
from midcourse.ports.world import Call
from midcourse.worlds.browser.egress.background import Background
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.upload import ApprovedFile

SITE = "https://shop.example"
CONTENT = b"boat;berth\nFram;B3\n"


@dataclass(frozen=True, kw_only=True)
class Sent:
    method: str = "PUT"
    url: str = f"{SITE}/put/7f3ac2"
    body: bytes = CONTENT
    fields: dict[str, str] = field(default_factory=dict[str, str])
    said: bytes = b'{"put": "/put/7f3ac2"}'
    redirected_from: str = ""

    def is_the_file(self) -> bool:
        background = Background()
        target = Target(surface="", role="", label="")
        typing = Call(command=1, skill="type", zone="z", target=target, arguments=(("text", "meet at noon"),))
        background.note_call(typing, f"{SITE}/")
        fields = {"origin": SITE, "content-type": "text/csv", "sec-fetch-mode": "cors", **self.fields}
        request = Request(
            method=self.method, url=self.url, fields=fields, body=self.body, redirected_from=self.redirected_from
        )
        file = ApprovedFile(name="list.csv", content=CONTENT, origin=SITE)
        return file.is_sent_by(request, [b"before", self.said], background)


CARRIES = {
    "the file": Sent(),
    "a POST": Sent(method="POST"),
    "a query that the server said": Sent(url=f"{SITE}/put?id=7", said=b'{"put": "https://shop.example/put?id=7"}'),
    "an address in a binary message": Sent(said=b"\x82\x12\x0d/put/7f3ac2\x1a\x03abc"),
    "a token that is a cookie": Sent(fields={"x-xsrftoken": "7f31", "cookie": "a=b; _xsrf=7f31"}),
}


@pytest.mark.parametrize("name", CARRIES)
def test_file_is_recognised(name: str) -> None:
    assert CARRIES[name].is_the_file()


MORE = {
    "another method": Sent(method="PATCH"),
    "a method in a header": Sent(fields={"x-http-method-override": "DELETE"}),
    "other bytes": Sent(body=CONTENT + b" "),
    "no bytes": Sent(body=b""),
    "another origin": Sent(url="https://other.example/put/7f3ac2", fields={"origin": "https://other.example"}),
    "a script of another origin": Sent(fields={"origin": "https://other.example"}),
    "a script of another site": Sent(fields={"sec-fetch-site": "cross-site"}),
    "a navigation": Sent(fields={"sec-fetch-mode": "navigate"}),
    "a redirect": Sent(redirected_from=f"PUT {SITE}/put/1"),
    "an address that the server did not say": Sent(url=f"{SITE}/publish"),
    "more than the server said": Sent(url=f"{SITE}/put/7f3ac2", said=b'{"put": "/put/7f3ac25"}'),
    "a part of a longer address": Sent(url=f"{SITE}/put", said=b'{"put": "/put/7f3ac2"}'),
    "a query of the page": Sent(url=f"{SITE}/put/7f3ac2?n=1"),
    "an address with what was typed": Sent(url=f"{SITE}/put/meet%20at%20noon", said=b'"/put/meet%20at%20noon"'),
    "a token that is no cookie": Sent(fields={"x-xsrftoken": "7f32", "cookie": "_xsrf=7f31"}),
    "a token with what was typed": Sent(fields={"x-xsrftoken": "meet at noon", "cookie": "_xsrf=meet at noon"}),
    "an unusual header": Sent(fields={"x-note": "1"}),
    "an unusual type": Sent(fields={"content-type": "text/noon"}),
}


@pytest.mark.parametrize("name", MORE)
def test_request_that_could_be_more_is_held(name: str) -> None:
    assert not MORE[name].is_the_file()
