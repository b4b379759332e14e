"""Exceptions of Midcourse. They report misuse. Failures of the world, a planner or a person are outcomes, not exceptions.

Only a guarded call, which has no other way to report its outcome, raises `CallUnfinished`. `NotSent` is raised by your code.

MidcourseError
├── TaskInvalid       a task, task file or setting that cannot be run as written
├── SkillInvalid      a skill or probe whose declaration is not valid
├── RunUnknown        no run of that name in this store
├── RunPruned         the records of the run were deleted; its result is still there
├── RunEnded          the run has ended; there is nothing left to resume
├── RunBusy           something else is driving this run
├── KeyTaken          an earlier run has this business key, and may have done what it stands for
├── CallUnfinished    a guarded function was called, and there is nothing to return
│   ├── Pending         it waits for a decision or is under way elsewhere, and the caller does not wait
│   ├── Rejected        the approver refused it; nothing was sent
│   ├── OutcomeUnknown  it may have happened, and nothing could decide it
│   └── AnswerLost      it happened, and what it returned was lost with the process that called it
├── NotSent           a skill or guarded function refused before it sent anything: your code raises it
├── NotForkable       a recorded run that cannot be brought to that point again
├── FleetUnavailable  a database, an engine or a package that durable runs need is not there
├── CassetteMiss      a recording of a model without an answer to this request
├── FormatUnknown     a stored run or journal of a format this version does not read
├── StoreUnusable     a database file that is damaged, full, locked or read-only
├── StoreRestored     a database that was copied, restored or has lost records: effects may be missing from it
└── ImpossibleEvent   an event that the director has no row for: a bug in Midcourse
"""


class MidcourseError(Exception):
    """The base class of all exceptions of Midcourse."""


class TaskInvalid(MidcourseError):
    """The task, its file or a setting cannot be run as written; the message says what to change."""


class OutputInvalid(MidcourseError):
    """The run has no output of the type that was asked for."""


class SkillInvalid(MidcourseError):
    """A world declares a skill or probe that is not valid; the message names it."""


class RunUnknown(MidcourseError):
    """No run of that name is stored here."""


class RunPruned(MidcourseError):
    """The records of this run were deleted because of their age; the message says when, and what is left."""


class RunEnded(MidcourseError):
    """The run has ended and cannot be resumed."""


class RunBusy(MidcourseError):
    """Another process, or a call that this one is made in, is driving this run right now; the message says which."""


class KeyTaken(MidcourseError):
    """An earlier run has this business key; the message says which, and what to look at."""


class CallUnfinished(MidcourseError):
    """A guarded function was called, and there is nothing to return. `run` is the id of its run."""

    def __init__(self, message: str, run: str) -> None:
        super().__init__(message)
        self.run = run


class Pending(CallUnfinished):
    """The call waits for a decision, or another process is in it; the same call again continues it or returns what that one returned."""


class Rejected(CallUnfinished):
    """The approver refused the call; nothing was sent."""


class OutcomeUnknown(CallUnfinished):
    """The effect may have happened, and nothing could decide it."""


class AnswerLost(CallUnfinished):
    """The effect happened, and what the function returned was lost."""


class NotSent(MidcourseError):
    """Your skill or guarded function raises it to say that it has sent nothing, so that no person is asked what happened.

    `reason` is a slug for the kind of failure, with `detail` in words, or just says why in words. Raise it only before the first
    effect. Catch it where you call something else that may raise it after your own first effect.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.raised_by: object = None
        """The world whose call said so of itself; each guarded call has its own. What made that call may have sent something before."""

    def __str__(self) -> str:
        return self.detail or self.reason

    def __reduce__(self) -> tuple[type["NotSent"], tuple[str, str]]:
        return type(self), (self.reason, self.detail)  # a function cannot always be sent to another process


class NotForkable(MidcourseError):
    """The world cannot be brought to that point of the recorded run; the message says why not."""


class FleetUnavailable(MidcourseError):
    """Durable runs need something that is not installed, not started or does not answer; the message says what."""


class CassetteMiss(MidcourseError):
    """A run that is replayed from a recording made a request that was not recorded; the message says what differs."""


class FormatUnknown(MidcourseError):
    """Something stored has a format number that this version cannot read."""


class StoreUnusable(MidcourseError):
    """A database file is damaged, full, locked or read-only; the message says which and what to do."""


class StoreRestored(MidcourseError):
    """The database was copied, restored or rolled back, so effects of a run may be missing from it."""


class ImpossibleEvent(MidcourseError):
    """The transition table has no row for an event in this phase. Only a bug in Midcourse can cause it."""


__all__ = sorted(name for name in globals() if not name.startswith("_"))
