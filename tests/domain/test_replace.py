"""A changed copy is what `dataclasses` would have made, for every class that may be copied so."""

import dataclasses
import importlib
import inspect
import pkgutil
from typing import Any

import pytest

import midcourse.domain
from midcourse.domain.budget import Budget, Cost
from midcourse.domain.phases import Ended
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.perform import Ports

MODULES = [
    importlib.import_module(f"midcourse.domain.{m.name}") for m in pkgutil.iter_modules(midcourse.domain.__path__)
]
CLASSES = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
]


@pytest.mark.parametrize("kind", [*CLASSES, Ports], ids=lambda kind: kind.__name__)
def test_construction_only_turns_lists_into_tuples(kind: Any):
    if kind is not Task and hasattr(kind, "__post_init__"):  # a task also splits its bound secrets, once
        _, *does = inspect.getsource(kind.__post_init__).strip().splitlines()
        assert all(line.strip().startswith(("keep_named(self, ", "keep_several(self, ")) for line in does)
    assert not hasattr(kind, "__slots__")
    assert all(field.init for field in dataclasses.fields(kind))
    assert set(kind.__dataclass_fields__) == {field.name for field in dataclasses.fields(kind)}, "no InitVar"


def test_a_changed_copy_equals_that_of_dataclasses():
    run = Run(id="a", seq=3)
    changes = {"seq": 4, "budget": Budget(spent=Cost(calls=1)), "phase": Ended(reason="cancelled", detail="")}
    copy = replace(run, **changes)
    assert copy == dataclasses.replace(run, **changes)
    assert hash(copy) == hash(dataclasses.replace(run, **changes))
    assert repr(copy) == repr(dataclasses.replace(run, **changes))
    assert run == Run(id="a", seq=3)
    assert replace(copy, seq=3, budget=Budget(), phase=run.phase) == run


def test_a_copy_is_as_frozen_as_the_original():
    with pytest.raises(dataclasses.FrozenInstanceError):
        replace(Cost(), calls=1).calls = 2  # pyrefly: ignore[read-only]


def test_a_field_that_is_not_there_is_refused():
    with pytest.raises(TypeError, match="Cost has no field call"):
        replace(Cost(), call=1)
