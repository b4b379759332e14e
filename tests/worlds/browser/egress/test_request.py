"""Commit sets of requests: no value is missing, and different requests have different commit sets."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import HELD_FOR
from midcourse.worlds.browser.egress.outbox import OutgoingRequest, State
from midcourse.worlds.browser.egress.request import LONGEST, MAX_VALUES, Request, describe_file

FORM = "application/x-www-form-urlencoded"
URL = "https://shop.example/orders"


def commit(body: bytes, kind: str, **more: Any) -> CommitSet:
    given: dict[str, Any] = {"method": "POST", "url": URL, "fields": {"content-type": kind}, "body": body, **more}
    return Request(**given).commit


def values(body: bytes, kind: str) -> dict[str, object]:
    return dict(commit(body, kind).values)


def test_a_form_is_its_fields_in_order_and_none_is_lost() -> None:
    assert commit(b"item=tea+%26+milk&n=1&n=2&note=&token=%C3%A9", FORM + "; charset=UTF-8") == CommitSet(
        address=f"POST {URL}", values=(("item", "tea & milk"), ("n", "1"), ("n", "2"), ("note", ""), ("token", "é"))
    )


def test_malformed_form_is_shown_as_text() -> None:
    assert values(b"just text", FORM) == {"body": "just text"}
    assert values(b"a=%ff", FORM) == {"body": "a=%ff"}


def test_multipart_form_shows_its_files_by_their_content() -> None:
    body = (
        b'--X\r\nContent-Disposition: form-data; name="note"\r\n\r\none\r\ntwo\r\n'
        b'--X\r\nContent-Disposition: form-data; name="bill"; filename="b.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
        b"\x00--X not a boundary\r\n--X--\r\n"
    )
    bill = describe_file("b.pdf", "application/pdf", b"\x00--X not a boundary")
    assert values(body, "multipart/form-data; boundary=X") == {"note": "one\ntwo", "bill": bill}


PART = b'--X\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n'


@pytest.mark.parametrize(
    ("body", "boundaries"),
    [
        (PART + b"--X--\r\nand this", "boundary=X"),
        (PART + b"--X--\r\n--Y\r\nContent-Disposition: form-data; name=n\r\n\r\n9\r\n--Y--", "boundary=X; boundary=Y"),
        (b"and this\r\n" + PART + b"--X--", "boundary=X"),
        (PART.replace(b'"n"', b'"n"; more="this"') + b"--X--", "boundary=X"),
        (PART.replace(b'"n"', b'"n"\r\nContent-Transfer-Encoding: base64') + b"--X--", "boundary=X"),
        (PART.replace(b"--X", b"--X and this") + b"--X--", "boundary=X"),
        (b"and nothing else", "boundary=X"),
    ],
)
def test_a_multipart_form_with_more_in_it_than_its_values_is_shown_as_it_is(body: bytes, boundaries: str) -> None:
    assert list(values(body, f"multipart/form-data; {boundaries}")) == ["body"]


def test_json_is_flattened_whatever_its_content_type() -> None:
    body = b'{"lines": [{"item": "tea", "n": 2}], "gift": true, "to": {"name": null}, "tags": [], "extra": {}}'
    flat = {"lines[0].item": "tea", "lines[0].n": 2, "gift": True, "to.name": None, "tags[]": None, "extra{}": None}
    assert values(body, "application/json") == flat
    assert values(body, "text/plain;charset=UTF-8") == flat


@pytest.mark.parametrize("body", [b'{"n": 1, "n": 1000}', b'{"n": NaN}', b'{"n": 1e999}', b"[" * 100_000])
def test_json_that_two_readers_could_read_differently_is_shown_as_it_is(body: bytes) -> None:
    assert list(values(body, "application/json")) == ["body"]


def test_unreadable_body_is_bound_by_its_digest() -> None:
    assert values(b"\x00\x01", "application/x-protobuf") == {
        "body": describe_file("", "application/x-protobuf", b"\x00\x01")
    }
    assert values(b"\x00\x01", "application/x-protobuf") != values(b"\x00\x02", "application/x-protobuf")


def test_the_query_of_a_get_is_its_values_and_that_of_a_post_belongs_to_the_address() -> None:
    get = Request(method="GET", url=f"{URL}?id=3&all=#top")
    assert get.commit == CommitSet(address=f"GET {URL}", values=(("id", "3"), ("all", "")))
    assert commit(b"n=1", FORM, url=f"{URL}?id=3").address == f"POST {URL}?id=3"
    assert Request(method="GET", url=f"{URL}?").commit == CommitSet(address=f"GET {URL}")


@pytest.mark.parametrize("name", ["x-http-method-override", "x_http_method_override", "x-http_method"])
def test_a_method_in_disguise_is_shown(name: str) -> None:
    disguised = {"content-type": FORM, "x-method-override": "", name: "delete"}
    assert commit(b"n=1", FORM, fields=disguised).address == f"POST as DELETE {URL}"


def test_abridged_values_are_still_bound() -> None:
    long = "x" * 2 * LONGEST
    first, second = (commit(f"note={long}{end}".encode(), FORM) for end in "ab")
    assert first != second
    assert len(str(first.values[0][1])) < LONGEST + 100
    many = [{str(n): n for n in range(MAX_VALUES)} | {"last": last} for last in (1, 2)]
    shown = [commit(json.dumps(each).encode(), "application/json") for each in many]
    assert shown[0] != shown[1]
    assert len(shown[0].values) == MAX_VALUES + 1


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet="a.[]{}\\0", max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="a.[]{}\\0", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=2), JSON, max_size=2), st.dictionaries(st.text(max_size=2), JSON, max_size=2))
def test_different_objects_come_out_different(one: dict[str, Any], other: dict[str, Any]) -> None:
    def flat(value: dict[str, Any]) -> dict[str, str]:
        return {name: repr(each) for name, each in commit(json.dumps(value).encode(), "application/json").values}

    assert (flat(one) == flat(other)) == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=4))
def test_a_form_is_read_back_as_it_was_written(pairs: list[tuple[str, str]]) -> None:
    from urllib.parse import urlencode

    plain = [(name.replace("\r", "\n"), value.replace("\r", "\n")) for name, value in pairs]
    assert list(commit(urlencode(plain).encode(), FORM).values) == plain


@pytest.mark.parametrize(("held_for", "cause"), [("", ""), ("submit", "submit")])
def test_a_field_cannot_pass_a_request_of_the_page_off_as_one_of_the_run(held_for: str, cause: str) -> None:
    """Or no run could end on such a page, since none ends while its own request is held."""
    request = Request(method="POST", url=URL, fields={"content-type": FORM}, body=b"held_for=click")
    zone = OutgoingRequest(number=1, request=request, state=State.HELD).as_zone(request.commit, held_for)
    assert zone.get(HELD_FOR) == cause
    assert zone.state[-1] == (HELD_FOR, "click")
