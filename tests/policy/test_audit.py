"""Changes of the audit log are detected, except for those that are documented."""

import random
from dataclasses import replace

import pytest

from midcourse.domain.records.audit import START, AuditLog, AuditRow, Head, HumanInput
from midcourse.policy.audit import HUMAN_INPUT_KINDS, HUMAN_INPUTS, next_row, row_hash, verify_log

TAMPERINGS = 10_000


def chain(length: int, *, body: str = '{"kind":"guided","text":"%s"}') -> AuditLog:
    rows: list[AuditRow] = []
    head = START
    for n in range(1, length + 1):
        row = next_row("acme", head, f"run {n % 7}", n, body % n)
        head = Head(n=n, hash=row.hash)
        rows.append(row)
    return AuditLog(chain="acme", rows=tuple(rows))


def tampered(log: AuditLog, chance: random.Random) -> AuditLog:
    """One of the ways to change what was written, the last row's and all hashes included."""
    rows = list(log.rows)
    at = chance.randrange(len(rows))
    row = rows[at]
    match chance.randrange(7):
        case 0:
            text = list(row.body)
            text[chance.randrange(len(text))] += chance.choice("x 0")
            rows[at] = replace(row, body="".join(text))
        case 1:
            rows[at] = replace(row, run=row.run + " ")
        case 2:
            rows[at] = replace(row, seq=row.seq + chance.randint(1, 9))
        case 3:
            rows[at] = replace(row, hash=row.hash[::-1])
        case 4:
            del rows[at]
        case 5:
            changed = replace(row, body=row.body.replace("guided", "guarded"))
            before = rows[at - 1].hash if at else ""
            rows[at] = replace(changed, hash=row_hash("acme", changed, before))
        case _:
            rows.insert(at, replace(row, n=row.n, body="{}"))
    return replace(log, rows=tuple(rows))


def test_an_unchanged_chain_is_valid() -> None:
    log = chain(50)
    assert verify_log(log).problem == ""
    assert verify_log(log).head == Head(n=50, hash=log.rows[-1].hash)
    assert verify_log(AuditLog(chain="acme")).head == START


@pytest.mark.slow
def test_every_random_change_of_a_chain_is_detected() -> None:
    log = chain(20)
    head = verify_log(log).head
    chance = random.Random(22)
    assert all(verify_log(tampered(log, chance), through=head).problem for _ in range(TAMPERINGS))


def cut(log: AuditLog, length: int) -> AuditLog:
    return replace(log, rows=log.rows[:length])


def test_a_truncated_chain_is_detected_with_the_stored_head() -> None:
    log = chain(20)
    head = verify_log(log).head
    assert verify_log(cut(log, 15)).problem == ""
    assert verify_log(cut(log, 15), through=head).problem == "row 16 is missing: there were 20"
    assert verify_log(chain(25), through=head).problem == ""


def test_a_truncated_chain_is_detected_by_remaining_results_and_journals() -> None:
    log = chain(20)
    last = log.rows[-1]
    ended = replace(cut(log, 15), anchors=(START, Head(n=18, hash=log.rows[17].hash)))
    assert verify_log(ended).problem == "row 16 is missing: there were 18"
    known = replace(cut(log, 15), inputs=(HumanInput(run=last.run, seq=last.seq, body=last.body),))
    assert verify_log(known).problem == "event 20 of run run 6 is in no row"
    assert verify_log(replace(log, anchors=ended.anchors, inputs=known.inputs)).problem == ""


def test_a_row_that_was_appended_shows_where_journals_back_the_log() -> None:
    log = chain(3)
    inputs = tuple(HumanInput(run=row.run, seq=row.seq, body=row.body) for row in log.rows)
    forged = replace(log, rows=(*log.rows, next_row("acme", Head(n=3, hash=log.rows[-1].hash), "run 1", 9, "{}")))
    assert verify_log(replace(forged, inputs=inputs)).problem == ""
    assert verify_log(replace(forged, inputs=inputs, backed=True)).problem == "row 4 is in no journal"
    assert verify_log(replace(log, inputs=inputs, backed=True)).problem == ""


def test_a_rebuilt_chain_is_detected_with_the_stored_head() -> None:
    forged = chain(20, body='{"kind":"guarded","text":"%s"}')
    assert verify_log(forged).problem == ""
    assert verify_log(forged, through=verify_log(chain(20)).head).problem == "row 20 has changed since"
    assert verify_log(replace(forged, anchors=(verify_log(chain(20)).head,))).problem


def test_the_chain_of_another_tenant_is_refused() -> None:
    assert verify_log(replace(chain(3), chain="other")).problem


def test_human_input_kinds_are_those_of_the_events() -> None:
    assert tuple(event.__dataclass_fields__["kind"].default for event in HUMAN_INPUTS) == HUMAN_INPUT_KINDS
