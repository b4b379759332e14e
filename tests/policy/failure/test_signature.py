"""Signatures of failures: the same failure of another object has the same signature."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.policy.failure.signature import LONGEST, lesson_key, normalise, signature_of, trigram_embedding

PAIRS = [
    ("Permission denied: '/srv/a/report-17.csv'", "permission denied: <name>"),
    (
        "cp: cannot create regular file '/root/x': Permission denied",
        "cp: cannot create regular file <name>: permission denied",
    ),
    ("open /etc/shadow: permission denied", "open <path>: permission denied"),
    ("open C:\\Users\\ada\\plan.txt: access denied", "open <path>: access denied"),
    ("tar: ../a/b.tar.gz: Cannot open", "tar: <path>: cannot open"),
    ("main.py:17: SyntaxError", "<path>:<n>: syntaxerror"),
    ("GET https://shop.example/orders?id=4711 failed", "get <url> failed"),
    ("see http://localhost:8080/x.", "see <url>."),
    ("connect to 127.0.0.1:5432 refused", "connect to <host> refused"),
    ("connect to [::1]:5432 refused", "connect to <host> refused"),
    ("connect to db.internal:5432 refused", "connect to <host> refused"),
    ("commit 3f2a9c1d8e not found", "commit <hex> not found"),
    ("at 0x7ffde3a0", "at <hex>"),
    ("request 550e8400-e29b-41d4-a716-446655440000 timed out", "request <id> timed out"),
    ("invoice INV-2024-0017 rejected", "invoice <id> rejected"),
    ("session Zk93hQ02bLx expired", "session <id> expired"),
    ("timed out after 30000ms", "timed out after <n>"),
    ("timed out after 2.5 seconds", "timed out after <n>"),
    ("at 2026-08-02T11:30:00Z the token expired", "at <time> the token expired"),
    ("2026-08-02 11:30:00.123 UTC [4242] FATAL:  sorry", "<time> [<n>] fatal: sorry"),
    ("11:30:05 lost it", "<time> lost it"),
    ("field “Name” is `required`", "field <name> is <name>"),
    ("fatal: couldn't find remote ref 'main'", "fatal: couldn't find remote ref <name>"),
    ("it can't be the user's fault", "it can't be the user's fault"),
    ("\x1b[31merror\x1b[0m: oops", "error: oops"),
    ("a\n  b\tc", "a b c"),
    # what says what it is, stays
    ("HTTP 404 for '/x'", "http 404 for <name>"),
    ("status 503", "status 503"),
    ("The requested URL returned error: 429", "the requested url returned error: 429"),
    ("[Errno 13] Permission denied", "[errno 13] permission denied"),
    ("exit code 128", "exit code 128"),
    ("error TS2304 and E0308", "error ts2304 and e0308"),
    ("requests.exceptions.ConnectionError", "requests.exceptions.connectionerror"),
    ("read/write error", "read/write error"),
]


@pytest.mark.parametrize(("message", "words"), PAIRS)
def test_normalisation_removes_particulars_and_keeps_words(message: str, words: str) -> None:
    assert normalise(message) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("row 17: amount 12.50 is too high", "row 4: amount 1,300 is too high"),
        ("cannot open '/a/b c.txt'", "cannot open '/x'"),
        ("no route to 10.0.0.7:22", "no route to 192.168.1.1:2222"),
    ],
)
def test_the_same_failure_of_something_else_has_the_same_signature(one: str, other: str) -> None:
    assert signature_of("failed", one) == signature_of("failed", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("cannot open 'a'", "cannot close 'a'"), ("HTTP 404", "HTTP 500"), ("no space left", "no such file")],
)
def test_another_failure_has_another_signature(one: str, other: str) -> None:
    assert signature_of("failed", one) != signature_of("failed", other)


def test_without_words_the_reason_is_the_signature() -> None:
    assert signature_of("busy", "  ") == "busy"
    assert signature_of("busy", "no") != signature_of("failed", "no")


@given(st.text(max_size=2000))
def test_it_is_short_and_normalising_again_changes_little(text: str) -> None:
    once = normalise(text)
    assert len(once) <= LONGEST
    assert "\n" not in once


def test_a_lesson_is_about_one_skill_on_one_thing_in_one_place() -> None:
    usual = ("https://shop.test", "click", "button", "Save", "failed: no")
    keys = {lesson_key(*usual)}
    for number in range(5):
        keys.add(lesson_key(*(word + "!" if n == number else word for n, word in enumerate(usual))))
    assert len(keys) == 6
    assert lesson_key("a", "click", "row", "Invoice 17", "x") == lesson_key("a", "click", "row", "Invoice 4711", "x")
    assert len(lesson_key(*usual)) == 16


def similarity(one: str, other: str) -> float:
    pairs = zip(trigram_embedding(one).values, trigram_embedding(other).values, strict=True)
    return sum(a * b for a, b in pairs)


def test_similar_texts_are_near_each_other() -> None:
    denied = "Permission denied: '/srv/a'"
    assert similarity(denied, "permission denied: '/home/b'") == pytest.approx(1.0)
    assert similarity(denied, "permission was denied") > 0.6
    assert similarity(denied, "no space left on device") < 0.3


@given(st.text(max_size=500))
def test_every_text_has_an_embedding_of_unit_length(text: str) -> None:
    values = trigram_embedding(text).values
    assert sum(value * value for value in values) == pytest.approx(1.0) or not any(values)
