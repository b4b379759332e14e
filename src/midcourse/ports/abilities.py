"""Optional abilities of a port, as protocols, and the check whether an object offers one."""

from functools import cache
from inspect import get_annotations
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Ability = TypeVar("Ability")


def offers(port: object, ability: type[Ability]) -> "TypeIs[Ability]":
    """Whether the object has every member of this protocol, itself or through `__getattr__`.

    It replaces `isinstance`, which from Python 3.12 on does not see members that a wrapper delegates: then a wrapped store would
    not be claimed, and a wrapped world would not learn the turn for which it acts.
    """
    return all(hasattr(port, name) for name in _names(ability))


@cache
def _names(ability: type) -> frozenset[str]:
    declared = (name for base in ability.__mro__ for name in get_annotations(base))
    return frozenset(name for name in (*dir(ability), *declared) if not name.startswith("_"))
