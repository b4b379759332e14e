"""Digests that identify calls, effects, consequences and plans."""

import json
from hashlib import blake2b

from midcourse.domain.approval import CommitSet, Consequence
from midcourse.domain.argument import Arguments, Pairs, Reference
from midcourse.domain.plan import PlannedStep, Target
from midcourse.policy.generated import is_visit_token

_TOKEN = {"from": "form", "name": "visit token"}


def call_digest(skill: str, target: Target, arguments: Arguments, *, within: str = "") -> str:
    """Identifies a call: the same skill on the same target with the same arguments. Defines 'tried before'.

    `within` is the dialog, row or group of the target: a button of a dialog is another control than the one of the same name that
    opened it. Effects are identified without it.
    """
    return digest_of("call", skill, _target(target), _arguments(arguments), *([within] if within else []))


def identity_digest(skill: str, target: Target, commit: CommitSet) -> str:
    """Identifies an irreversible effect: one Submit button sends twenty invoices, and the same invoice twice is one effect.

    A request with an address is identified by the address and its values, regardless of the button or page that sends it.
    """
    sender = [] if commit.address else [skill, _target(target)]
    return digest_of("identity", *sender, _commit(commit))


def consequence_digest(run_id: str, consequence: Consequence) -> str:
    """Identifies a consequence, by everything that an approval binds: all but tokens that are made for one visit.

    After a browser was closed while its run waited, the form has another anti-forgery token, and the approval is still for the
    same request (design/0013). Twice as long as the others: a page chooses what it would send, and must not be able to find a collision.
    """
    return digest_of(
        "consequence",
        run_id,
        consequence.skill,
        _arguments(consequence.arguments),
        consequence.effect,
        _target(consequence.target),
        consequence.origin,
        _commit(consequence.commit, any_token=True),
        # An approval for the whole run is for these words, too.
        *([consequence.commit.covers] if consequence.commit.covers else []),
        size=16,
    )


def guidance_digest(guidance: tuple[str, ...]) -> str:
    """Identifies guidance; empty for none."""
    return digest_of("guidance", *guidance) if guidance else ""


def results_digest(results: Pairs) -> str:
    """Identifies what a step brought back; empty for nothing."""
    return digest_of("results", results) if results else ""


def shape_digest(consequence: Consequence) -> str:
    """Identifies a kind of consequence: the same skill on the same target, to the same address, with the same names of values.

    Neither values nor the title of the page count, since a title often contains a value.
    """
    target, commit = consequence.target, consequence.commit
    return digest_of(
        "shape",
        consequence.skill,
        sorted(name for name, _ in consequence.arguments),
        consequence.effect,
        [target.role, target.label],
        consequence.origin,
        [commit.address, *sorted(name for name, _ in commit.values)],
        size=16,
    )


def plan_digest(fingerprint: str, steps: tuple[PlannedStep, ...]) -> str:
    """Identifies a plan: the same steps on the same screen. Defines 'planned before'."""
    return digest_of("plan", fingerprint, [[step.place, step.call] for step in steps])


def digest_of(*parts: object, size: int = 8) -> str:
    return blake2b(json.dumps(parts, separators=(",", ":")).encode(), digest_size=size).hexdigest()


def _target(target: Target) -> list[str]:
    return [target.surface, target.role, target.label]


def _commit(commit: CommitSet, *, any_token: bool = False) -> list[object]:
    """What would be sent. `any_token`: with any values of the tokens of this visit."""
    values: tuple[tuple[str, object], ...] = commit.values
    if any_token and commit.address:
        values = tuple((name, _TOKEN if is_visit_token(name, value) else value) for name, value in commit.values)
    return [commit.address, *_sort_pairs(values), *(["abridged"] if commit.abridged else [])]


def _arguments(arguments: Arguments) -> list[object]:
    return _sort_pairs(
        tuple(
            (name, {"from": value.source, "name": value.name} if isinstance(value, Reference) else value)
            for name, value in arguments
        )
    )


def _sort_pairs(pairs: tuple[tuple[str, object], ...]) -> list[object]:
    """The pairs sorted by name, since their order makes no difference."""
    return [list(pair) for pair in sorted(pairs, key=lambda pair: pair[0])]
