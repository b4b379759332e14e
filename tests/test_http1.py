"""HTTP heads are parsed in one unambiguous way or refused, and never repaired."""

import pytest

from midcourse.http1 import (
    Rejected,
    find_body,
    parse_chunk_size,
    parse_request,
    parse_response,
    write_request,
    write_response,
)

PLAIN = "POST /orders HTTP/1.1\r\nHost: shop.example"


def test_a_plain_request_is_read_with_its_fields_as_they_were_sent() -> None:
    head = parse_request(f"{PLAIN}\r\nCookie: a=b\r\nX-Name:  caf\xe9 \r\ncookie: c=d\r\n\r\n".encode("latin-1"))
    assert (head.method, head.target, head.version, head.length) == ("POST", "/orders", "1.1", 0)
    assert head.fields == (("Host", "shop.example"), ("Cookie", "a=b"), ("X-Name", "café"), ("cookie", "c=d"))
    assert (head.get("x-name"), head.named["cookie"]) == ("café", "a=b, c=d")


@pytest.mark.parametrize(
    ("field", "status"),
    [
        ("Content-Length: 1\r\nContent-Length: 2", 400),
        ("Content-Length: 1\r\nContent-Length: 1", 400),
        ("Content-Length: 1, 1", 400),
        ("Content-Length: +1", 400),
        ("Content-Length:", 400),
        ("Content-Length : 1", 400),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 1", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
        ("Content-Length: 9999999999999999", 413),
        ("Transfer-Encoding: gzip, chunked", 501),
        ("Transfer-Encoding: xchunked", 501),
        ("X: a\r\n folded", 400),
        ("X: a\r\n\tContent-Length: 1", 400),
        ("X: a\nContent-Length: 1", 400),
        ("X: a\rContent-Length: 1", 400),
        ("X: a\0b", 400),
        ("X\xa0: a", 400),
        ("no colon", 400),
        ("Host: other.example", 400),
    ],
)
def test_a_request_that_two_servers_could_read_differently_is_refused(field: str, status: int) -> None:
    with pytest.raises(Rejected) as rejected:
        parse_request(f"{PLAIN}\r\n{field}\r\n\r\n".encode("latin-1"))
    assert rejected.value.status == status


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("", 400),
        ("\r\nGET / HTTP/1.1", 400),
        ("GET  / HTTP/1.1", 400),
        ("GET / HTTP/1.1 ", 400),
        ("GET /\x7f HTTP/1.1", 400),
        ("G!T / HTTP/1.1", 400),
        ("GET / http/1.1", 400),
        ("GET / HTTP/2.0", 505),
        ("GET / HTTP/0.9", 505),
    ],
)
def test_a_line_that_is_not_a_request_is_refused(line: str, status: int) -> None:
    with pytest.raises(Rejected) as rejected:
        parse_request(f"{line}\r\nHost: x\r\n\r\n".encode("latin-1"))
    assert rejected.value.status == status


def test_a_request_without_a_host_is_refused() -> None:
    with pytest.raises(Rejected, match="Host"):
        parse_request(b"GET / HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize(
    ("fields", "closes"),
    [
        ("", False),
        ("Connection: Close\r\n", True),
        ("Connection: x, close\r\n", True),
        ("Connection: closed\r\n", False),
    ],
)
def test_closing_the_connection_is_detected(fields: str, closes: bool) -> None:
    assert parse_response(f"HTTP/1.1 200 OK\r\n{fields}Content-Length: 3\r\n\r\n".encode()).closes is closes
    assert parse_response(f"HTTP/1.0 200 OK\r\n{fields}Content-Length: 3\r\n\r\n".encode()).closes


@pytest.mark.parametrize("line", ["HTTP/1.1 100 Continue", "SSH-2.0-OpenSSH", "HTTP/1.1 20", "HTTP/1.1 099 x"])
def test_what_is_not_a_final_response_is_refused(line: str) -> None:
    with pytest.raises(Rejected):
        parse_response(f"{line}\r\nContent-Length: 0\r\n\r\n".encode())


@pytest.mark.parametrize(
    "line", [b"5;x=y\r\n", b"5 \r\n", b" 5\r\n", b"+5\r\n", b"-5\r\n", b"0x5\r\n", b"\r\n", b"5\n"]
)
def test_a_chunk_has_a_size_and_nothing_else(line: bytes) -> None:
    assert parse_chunk_size(b"1aF\r\n") == 0x1AF
    with pytest.raises(Rejected):
        parse_chunk_size(line)


def test_a_head_is_found_once_it_is_all_there_and_not_above_its_limit() -> None:
    whole = b"GET / HTTP/1.1\r\nHost: x\r\n\r\nbody"
    assert [find_body(whole[:end], 40) for end in (0, 20, 26)] == [None] * 3
    assert find_body(whole, 40) == len(whole) - 4
    with pytest.raises(Rejected) as rejected:
        find_body(b"x" * 40, 40)
    assert rejected.value.status == 431


def test_a_head_that_is_written_is_read_again_as_it_was() -> None:
    fields = (("Host", "shop.example"), ("X-Name", "café"), ("Content-Length", "3"))
    assert parse_request(write_request("POST", "/orders?a=b", fields)).fields == fields
    assert parse_response(write_response(409, fields[1:])).status == 409


@pytest.mark.parametrize(
    ("target", "value"), [("/a b", ""), ("/a\r\nX: y", ""), ("/", "a\r\nX: y"), ("/", "a\nb"), ("/", "a\0b")]
)
def test_nothing_is_written_that_would_be_read_as_more(target: str, value: str) -> None:
    with pytest.raises(Rejected):
        write_request("GET", target, [("Host", "x"), ("X", value)])
