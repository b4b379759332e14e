"""Functions that take their options as one object, and are called with its fields."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Options = TypeVar("Options")
R = TypeVar("R")


def takes(options: Callable[P, Options]) -> Callable[[Callable[[Options], R]], Callable[P, R]]:
    """Give a function of one object the fields of that object's class as parameters, so that they are declared only there.

    Inherited fields come last, as in `--help`: what a command has for itself is read first.
    """
    own = inspect.get_annotations(options)
    fields = sorted(inspect.signature(options).parameters.values(), key=lambda field: field.name not in own)

    def decorate(function: Callable[[Options], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(options(*args, **kwargs))

        returned = inspect.signature(function).return_annotation
        call.__dict__["__signature__"] = inspect.Signature(fields, return_annotation=returned)
        return call

    return decorate
