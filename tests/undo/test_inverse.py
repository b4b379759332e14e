"""The inverse of an act: its arguments by name or as declared, and the reasons why there is none."""

import pytest

from midcourse import BaseWorld, Probe, Scene, Zone, probe, skill
from midcourse.domain.argument import Pairs
from midcourse.domain.plan import GLOBAL, Step, Target
from midcourse.domain.skill import Effect
from midcourse.errors import SkillInvalid
from midcourse.expect import Reference, Undo
from midcourse.policy.inverse import Certainty, Inverse, PastAct, find_inverse


class Orders(BaseWorld):
    def look(self) -> Scene:
        return Scene("Orders")

    @skill(effect="irreversible", undo="cancel", probe="exists")
    def order(self, reference: str, product: str) -> None: ...

    @skill(effect="irreversible", undo=Undo(skill="cancel", arguments={"reference": "PO-0"}))
    def order_first(self, product: str) -> None: ...

    @skill(effect="irreversible", undo="cancel")
    def order_unnamed(self, product: str) -> None: ...

    @skill(effect="irreversible")
    def cancel(self, reference: str, why: str = "") -> None: ...

    @skill(undo="uncheck")
    def check(self, zone: Zone) -> None: ...

    @skill(undo="check")
    def uncheck(self, zone: Zone) -> None: ...

    @probe
    def exists(self, reference: str) -> bool | None: ...


CATALOGUE = Orders().catalogue()


def act(
    name: str, arguments: Pairs = (), results: Pairs = (), happened: Certainty = "yes", effect: Effect = "irreversible"
) -> PastAct:
    target = Target(surface="Orders", role="", label="")
    step = Step(version=1, index=0, zone=GLOBAL, skill=name, arguments=arguments, target=target)
    return PastAct(number=1, command=7, step=step, effect=effect, happened=happened, results=results)


def test_arguments_come_before_results_of_the_same_name() -> None:
    found = find_inverse(act("order", (("reference", "PO-1"),), (("reference", "no"), ("why", "yes"))), CATALOGUE)
    assert isinstance(found, Inverse)
    assert dict(found.arguments) == {"reference": "PO-1", "why": "yes"}
    assert found.effect == Probe(name="exists", arguments={"reference": "PO-1"})
    assert found.undone == Probe(name="exists", arguments={"reference": "PO-1"}, negated=True)


def test_declared_arguments_come_first() -> None:
    found = find_inverse(act("order_first", (("reference", "PO-1"),)), CATALOGUE)
    assert isinstance(found, Inverse)
    assert (dict(found.arguments), found.undone) == ({"reference": "PO-0"}, None)


@pytest.mark.parametrize(
    ("past", "reason"),
    [
        (act("cancel"), "'cancel' names no undo"),
        (act("refund"), "the world has no skill 'refund' any more"),
        (act("order_unnamed"), "'cancel' needs 'reference', which 'order_unnamed' neither was given nor returned"),
        (act("order_unnamed", happened="perhaps"), "it may have happened, and there is no probe to find out"),
        (act("check", effect="set_state"), "'check' only sets a state of what is on the screen"),
    ],
)
def test_an_act_without_an_inverse_has_a_reason(past: PastAct, reason: str) -> None:
    assert find_inverse(past, CATALOGUE) == reason


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"number": 1}, "takes \\(path\\), and no 'number'"),
        ({"path": Reference(source="argument", name="source")}, "would need 'source', which trash does not take"),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(arguments: dict[str, int | Reference], message: str) -> None:
    class World(BaseWorld):
        @skill
        def restore(self, path: str) -> None: ...

    with pytest.raises(SkillInvalid, match=message):

        class Trash(World):
            @skill(undo=Undo(skill="restore", arguments=arguments))
            def trash(self, path: str) -> None: ...
