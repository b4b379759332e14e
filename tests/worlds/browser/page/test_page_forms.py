"""Sources of the values of a request, and values that change with each load. Without a browser."""

from typing import Any, cast

import pytest

from midcourse.domain.approval import CommitSet, FieldWords
from midcourse.domain.argument import Pairs
from midcourse.worlds.browser.page.forms import (
    find_changed_values,
    find_form_page,
    find_generated_values,
    find_sources,
    find_words,
    is_now,
    read_page_forms,
)

NOW = 1_763_284_800.0  # 2025-11-16 09:20:00 UTC
UUID = "8f14e45f-ceea-467a-9575-0123456789ab"


def field(name: str, value: str, *, hidden: bool = True, form: int = 0, served: str | None = None) -> dict[str, Any]:
    action = "https://shop.example/orders?step=2"
    was = (value if served is None else served) if hidden else None
    kind = "hidden" if hidden else "text"
    return {
        "form": form,
        "action": action,
        "name": name,
        "hidden": hidden,
        "type": kind,
        "value": value,
        "served": was,
    }


def page(*fields: dict[str, Any], shown: tuple[str, ...] = (), words: tuple[dict[str, str], ...] = ()) -> Any:
    answer = {
        "url": "https://shop.example/cart",
        "language": "en",
        "fields": fields,
        "shown": shown,
        "typed": (),
        "words": words,
        "texts": ("", "", ""),
    }
    return read_page_forms([answer])


def commit(*values: tuple[str, str | int], query: str = "step=2") -> CommitSet:
    pairs: Pairs = tuple(values)
    return CommitSet(address=f"POST https://shop.example/orders?{query}", values=pairs)


def test_a_field_is_shown_or_hidden() -> None:
    here = page(field("note", "hi", hidden=False), field("sku", "A-7"))
    assert find_sources(commit(("note", "hi"), ("sku", "A-7")), here) == (("note", "shown"), ("sku", "hidden"))


def test_a_field_that_is_both_is_shown() -> None:
    here = page(field("gift", "0"), field("gift", "1", hidden=False))
    assert find_sources(commit(("gift", "0"), ("gift", "1")), here) == (("gift", "shown"),)


def test_what_the_page_says_of_a_value_is_found_unless_two_fields_say_different_things() -> None:
    high = {"name": "priority", "value": "3", "label": "Priority", "shows": "High", "how": "entered"}
    here = page(words=(high, {**high, "value": "4", "shows": "Low"}))
    sent = commit(("priority", "3"), ("note", "hi"))
    assert find_words(sent, here) == (FieldWords(**cast(Any, high)),)
    assert find_words(sent, page(words=(high, {**high, "shows": "Low"}))) == ()


def test_generated_value_without_a_field_is_fresh_unless_the_page_shows_it() -> None:
    assert find_generated_values(commit(("ref", UUID), ("size", "M"))) == [UUID]
    assert find_sources(commit(("ref", UUID), ("size", "M")), page()) == (("ref", "fresh"),)
    assert find_sources(commit(("ref", UUID)), page(shown=(UUID,))) == ()


def test_generated_value_in_the_query_is_fresh() -> None:
    assert find_sources(commit(query=f"key={UUID}"), page()) == (("?key", "fresh"),)


@pytest.mark.parametrize(
    "text", ["1763284790", "1763284790123", "2025-11-16T09:19:50Z", "2025-11-16 09:19:51", "2025-11-16T10:19:50+01:00"]
)
def test_current_time_is_recognised(text: str) -> None:
    assert is_now(text, NOW)


@pytest.mark.parametrize(
    "text", ["1700000000", "2025-11-16", "2025-11-16T15:00:00", "2025-11-20T10:00:01Z", "17", "A-7", ""]
)
def test_date_appointment_and_number_are_not_the_current_time(text: str) -> None:
    assert not is_now(text, NOW)


def test_value_that_differs_between_two_loads_changes_by_itself() -> None:
    sent = commit(("k", "a1"), ("sku", "A-7"))
    before = page(field("k", "a1"), field("sku", "A-7"))
    after = page(field("k", "b2"), field("sku", "A-7"))
    assert find_changed_values(sent, ("k", "sku"), before, after) == ("k",)
    assert find_form_page(sent, before) == "https://shop.example/cart"


def test_value_set_by_a_script_or_person_does_not_change_by_itself() -> None:
    before = page(field("day", "2025-12-24", served=""), field("k", "a"))
    after = page(field("day", ""), field("k", "b"))
    assert find_changed_values(commit(("day", "2025-12-24"), ("k", "a")), ("day", "k"), before, after) == ("k",)


def test_form_that_was_sent_is_compared_among_several_with_one_address() -> None:
    before = page(field("sku", "A"), field("k", "1"), field("sku", "B", form=1), field("k", "2", form=1))
    after = page(field("sku", "B"), field("k", "3"), field("sku", "A", form=1), field("k", "4", form=1))
    assert find_changed_values(commit(("sku", "B"), ("k", "2")), ("sku", "k"), before, after) == ("k",)


def test_without_the_same_form_it_is_unknown_which_values_changed() -> None:
    before = page(field("k", "a"))
    assert find_changed_values(commit(("k", "a")), ("k",), before, page()) is None
    assert find_changed_values(commit(("k", "a")), ("k",), page(), before) is None


def test_a_value_of_the_address_is_compared_by_the_forms_own() -> None:
    before, after = page(field("k", "a")), page(field("k", "a"))
    assert find_changed_values(commit(("k", "a")), ("?step",), before, after) == ()
