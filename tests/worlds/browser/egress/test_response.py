"""Recorded responses, in any split of their bytes."""

import pytest

from midcourse.worlds.browser.egress.response import MAX_KEPT, RecordedResponse


def answer(*pieces: bytes) -> RecordedResponse:
    whole = RecordedResponse()
    for piece in pieces:
        whole.append(piece)
    return whole


def test_an_incomplete_response_has_no_status() -> None:
    assert not answer()
    assert (answer().status, answer().text, answer().redirect_target("http://x/")) == (None, "", "")
    assert answer(b"HTTP/1.1 4").status is None


def test_status_and_text_arrive_in_pieces() -> None:
    whole = answer(b"HTTP/1.1 42", b"2 No\r\nContent-Length: 5\r\n", b"\r\nfie", b"ld")
    assert (whole.status, whole.text) == (422, "field")


def test_chunks_are_put_together() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert answer(head, b"4\r\nfiel\r\n7;x=y\r\nd-error\r\n0\r\n\r\n").text == "field-error"
    assert answer(head, b"4\r\nfiel\r\n7\r\nd-er").text == "field-er"
    assert answer(head, b"nonsense").text == ""


def test_informational_response_is_skipped() -> None:
    assert answer(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n").status is None
    assert answer(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n\r\n").status == 201


@pytest.mark.parametrize(
    ("status", "location", "elsewhere"),
    [
        (307, "/new", "http://x/new"),
        (308, "https://y/new", "https://y/new"),
        (303, "/new", ""),
        (302, "/new", ""),
    ],
)
def test_only_307_and_308_repeat_the_request_elsewhere(status: int, location: str, elsewhere: str) -> None:
    whole = answer(f"HTTP/1.1 {status} x\r\nLocation: {location}\r\n\r\n".encode())
    assert whole.redirect_target("http://x/old") == elsewhere


def test_no_more_is_kept_than_evidence_needs() -> None:
    whole = answer(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 2 * MAX_KEPT, b"never read")
    assert len(whole.text) < MAX_KEPT
