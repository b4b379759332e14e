"""The SQL that reads runs and journals."""

MONTH = b"SELECT month FROM midcourse.runs WHERE id = %s"

STATE = b"""SELECT month, task, coalesce(runs.state, opening), runs.seq, drives.seq, drives.state, states.seq, states.body
FROM midcourse.runs LEFT JOIN midcourse.drives ON drives.run = runs.id
LEFT JOIN midcourse.states ON states.run = runs.id AND states.seq = drives.base WHERE runs.id = %s"""

CLAIMED_BY = b"SELECT epoch, holder, seq, messages FROM midcourse.drives WHERE run = %s"

ENTER_DRIVE = b"""INSERT INTO midcourse.drives (run) SELECT id FROM midcourse.runs WHERE id = %s
ON CONFLICT (tenant, run) DO NOTHING"""

HOLD_DRIVE = b"SELECT decided, resting FROM midcourse.drives WHERE run = %s FOR UPDATE"

MESSAGES = b"SELECT number, event FROM midcourse.inbox WHERE run = %s AND number > %s ORDER BY number"

UNREAD = b"""SELECT drives.run FROM midcourse.drives JOIN unnest(%s::text[], %s::int[]) AS known (run, number)
ON known.run = drives.run AND drives.messages > known.number"""

TO_WAKE = b"SELECT run, messages FROM midcourse.drives WHERE resting AND messages > decided LIMIT 1000"

TAKE_DUE = b"""UPDATE midcourse.drives SET wake_at = %(again_at)s WHERE run IN (
    SELECT run FROM midcourse.drives WHERE resting AND wake_at <= %(now)s ORDER BY wake_at LIMIT 1000 FOR UPDATE SKIP LOCKED
) RETURNING run, messages"""
"""Gives each run to one of the workers that ask at the same time, and gives it again later if it still rests then."""

JOB = b"SELECT month, task, job FROM midcourse.runs WHERE id = %s"

OPENING = b"SELECT opening, pruned_at FROM midcourse.runs WHERE id = %s"

LATEST_WITH_KEY = b"SELECT id FROM midcourse.runs WHERE key = %s AND key <> '' ORDER BY entered DESC LIMIT 1"

SUMMARIES = b"""SELECT id, goal, phase, final_reason, began_at, (results.body::json ->> 'verified')::bool, results.body::json ->> 'sending'
FROM midcourse.runs LEFT JOIN midcourse.results ON results.run = id"""

RUNS = SUMMARIES + b" ORDER BY entered DESC LIMIT %s"

RUNS_OF_STATUS = SUMMARIES + b" WHERE status = %s ORDER BY entered DESC LIMIT %s"

RUNS_NAMED = (
    SUMMARIES
    + b""" WHERE starts_with(id, %(name)s)
ORDER BY id = %(name)s DESC, entered DESC LIMIT %(limit)s"""
)

TURN = b"""SELECT event, commands FROM midcourse.journal WHERE run = %(run)s AND seq = %(seq)s
AND month = (SELECT month FROM midcourse.runs WHERE id = %(run)s)"""

EVENTS_ABOVE = b"""SELECT seq, event, commands FROM midcourse.journal WHERE run = %(run)s AND seq > %(seq)s
AND month = (SELECT month FROM midcourse.runs WHERE id = %(run)s) ORDER BY seq"""

OPEN_QUESTIONS = b"""SELECT body FROM midcourse.approvals JOIN midcourse.runs ON runs.id = approvals.run
WHERE approvals.open AND runs.status = 'asking' ORDER BY asked_at LIMIT %s"""

OPEN_QUESTION = b"""SELECT body FROM midcourse.approvals JOIN midcourse.runs ON runs.id = approvals.run
WHERE approvals.open AND runs.status = 'asking' AND approvals.run = %s"""

ASKED = b"SELECT run, question, shape, consequence FROM midcourse.asked WHERE run = %s ORDER BY question, place"

ANSWERED = b"""SELECT asked.run, question, shape, consequence, body FROM midcourse.asked JOIN midcourse.audit ON audit.run = asked.run
AND body::json ->> 'kind' = 'approval_decided' AND (body::json ->> 'question')::int = question
WHERE shape = %s ORDER BY n DESC LIMIT %s"""

AUDIT = b"SELECT n, run, seq, body, hash FROM midcourse.audit ORDER BY n"

AUDIT_HEAD = b"SELECT n, hash FROM midcourse.audit ORDER BY n DESC LIMIT 1"

ANCHORS = b"""SELECT head FROM (SELECT body::json ->> 'audit' AS head FROM midcourse.results) AS kept
WHERE head IS NOT NULL"""

HUMAN_INPUTS = b"SELECT run, seq, event FROM midcourse.journal WHERE kind = ANY (%s)"
