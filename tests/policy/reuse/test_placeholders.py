"""Values are replaced by names of inputs, and names by the values of another run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.argument import Pairs
from midcourse.policy.reuse.placeholders import Placeholders, Unclear, occurs

ADA: Pairs = (("customer", "C-4711"), ("amount", 1250.5), ("size", "M"), ("express", True), ("note", ""))
BLANKS = Placeholders(ADA)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("Ticket of C-4711", "Ticket of {customer}"),
        ("C-4711, C-4711", "{customer}, {customer}"),
        ("AC-4711 and C-47110", "AC-4711 and C-47110"),
        ("1250.5 EUR", "{amount} EUR"),
        ("M", "{size}"),
        ("Size M", "Size M"),
        ("True", "True"),
        ("{customer} is not C-4711", "{{customer}} is not {customer}"),
        ("", ""),
    ],
)
def test_values_of_inputs_become_names(text: str, template: str):
    assert BLANKS.insert(text) == template
    assert BLANKS.fill(template) == text


def test_the_longest_value_that_fits_is_replaced():
    blanks = Placeholders((("first", "Ada"), ("whole", "Ada Lovelace")))
    assert blanks.insert("Ada Lovelace met Ada") == "{whole} met {first}"


def test_two_inputs_of_one_value_cannot_be_told_apart():
    blanks = Placeholders((("sender", "Ada"), ("receiver", "Ada")))
    with pytest.raises(Unclear, match="more than one input"):
        blanks.insert("Dear Ada")
    assert blanks.insert("Dear Eve") == "Dear Eve"


def test_wildcards_in_a_value_are_escaped():
    blanks, others = Placeholders((("name", "A*B"),)), Placeholders((("name", "C?D[e]"),))
    assert blanks.insert("Item A[*]B*", in_pattern=True) == "Item {name}*"
    assert others.fill("Item {name}*", in_pattern=True) == "Item C[?]D[[]e]*"


def test_a_name_alone_keeps_the_type_of_its_input():
    assert BLANKS.insert_in_value(1250.5) == "{amount}"
    assert Placeholders((("amount", 7),)).fill_in_value("{amount}") == 7
    assert Placeholders((("amount", 7),)).fill_in_value("{amount} EUR") == "7 EUR"
    assert BLANKS.insert_in_value(True) is True
    with pytest.raises(Unclear, match="written out"):
        BLANKS.insert_in_value("1250.5")


def test_what_is_no_input_cannot_be_filled_in():
    with pytest.raises(Unclear, match="no input 'nobody'"):
        BLANKS.fill("{nobody}")


@pytest.mark.parametrize("text", ["c-4711", "C 4711", "C4711", "1,250.50", "Size M", "XC-4711X"])
def test_short_values_and_other_spellings_are_ambiguous(text: str):
    assert not BLANKS.is_sure(text)


@pytest.mark.parametrize("text", ["Thank you", "Ticket of C-4711", "Medium", "1250.5 EUR"])
def test_other_values_are_unambiguous(text: str):
    assert BLANKS.is_sure(text)


VALUES = st.one_of(st.text(max_size=8), st.integers(), st.floats(allow_nan=False), st.booleans(), st.none())
INPUTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4).map(lambda found: tuple(found.items()))


@given(INPUTS, st.lists(st.text(max_size=6), max_size=6), st.data())
def test_a_text_filled_with_its_own_inputs_is_the_text(inputs: Pairs, parts: list[str], data: st.DataObject):
    values = [str(value) for _, value in inputs]
    text = "".join(data.draw(st.sampled_from([part, *values])) for part in parts)
    blanks = Placeholders(inputs)
    try:
        template, pattern = blanks.insert(text), blanks.insert(text, in_pattern=True)
    except Unclear:
        return
    assert blanks.fill(template) == text
    assert blanks.fill(pattern, in_pattern=True) == text


@given(INPUTS, VALUES)
def test_a_value_filled_with_its_own_inputs_is_the_value(inputs: Pairs, value: str | int | float | bool | None):
    blanks = Placeholders(inputs)
    try:
        template = blanks.insert_in_value(value)
    except Unclear:
        return
    found = blanks.fill_in_value(template)
    assert (type(found), found) == (type(value), value)


WORDS = st.text(alphabet="abcXYZ019-. ", min_size=3, max_size=9).filter(lambda text: text == text.strip() != "")


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, max_size=5), st.data())
def test_filled_with_other_inputs_no_old_value_is_left(old: list[str], around: list[str], data: st.DataObject):
    names = [f"i{number}" for number in range(len(old))]
    text = " ".join(data.draw(st.sampled_from([*old, *around])) for _ in range(4))
    new = tuple((name, f"<{name}>") for name in names)
    try:
        template = Placeholders(tuple(zip(names, old, strict=True))).insert(text)
    except Unclear:
        return
    assert not any(occurs(value, Placeholders(new).fill(template)) for value in old)
