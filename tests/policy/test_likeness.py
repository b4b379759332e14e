"""Likeness: whether a request would repeat an earlier effect, by names and forms of its values."""

import random
import string
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midcourse.domain.approval import CommitSet, Source
from midcourse.domain.argument import Scalar
from midcourse.domain.plan import Target
from midcourse.policy.generated import is_volatile_name, looks_random
from midcourse.policy.likeness import differing_names, likeness_of

TARGET = Target(surface="Checkout", role="button", label="Order")
VOLATILE = (
    "csrf", "_csrf", "csrfmiddlewaretoken", "authenticity_token", "__RequestVerificationToken", "__VIEWSTATE",
    "javax.faces.ViewState", "form[_token]", "_wpnonce", "woocommerce-process-checkout-nonce", "idempotencyKey",
    "Idempotency-Key", "form_key", "form_build_id", "g-recaptcha-response", "timestamp", "wpEditToken", "1: csrf",
    "meta.csrfToken", "9f86d081884c7d659a2feaa0c55ad015",
)  # fmt: skip
BUSINESS = (
    "tokens", "token_type", "tokenCount", "promo_code", "sku", "order_number", "product_id", "variantId", "quantity",
    "announcement", "request_id", "session_id", "lines[0].item", "address2Line1Field", "key", "time", "date", "",
)  # fmt: skip


def of(values: list[tuple[str, Scalar]], sources: dict[str, Source] | None = None, query: str = "") -> CommitSet:
    address = f"POST https://shop.example/orders{query}"
    return CommitSet(address=address, values=tuple(values), sources=tuple((sources or {}).items()))


def difference(one: CommitSet, other: CommitSet) -> tuple[str, ...] | None:
    return differing_names(likeness_of("click", TARGET, one), likeness_of("click", TARGET, other))


@pytest.mark.parametrize("name", VOLATILE)
def test_values_with_volatile_names_are_ignored(name: str) -> None:
    assert is_volatile_name(name)
    assert difference(of([(name, "a"), ("sku", "1")]), of([(name, "b"), ("sku", "1")])) == ()


@pytest.mark.parametrize("name", BUSINESS)
def test_values_with_similar_names_count(name: str) -> None:
    assert not is_volatile_name(name)
    assert difference(of([(name, "a")]), of([(name, "b")])) is None


@pytest.mark.parametrize("name", VOLATILE)
def test_visible_values_count_whatever_their_name(name: str) -> None:
    shown: dict[str, Source] = {name: "shown"}
    assert difference(of([(name, "a")], shown), of([(name, "b")], shown)) is None


def test_of_a_hidden_value_only_the_form_can_tell() -> None:
    hidden: dict[str, Source] = {"k": "hidden", "sku": "hidden"}
    assert difference(of([("k", "a"), ("sku", "1")], hidden), of([("k", "b"), ("sku", "1")], hidden)) == ("k",)
    assert difference(of([("sku", "1")], hidden), of([("sku", "1"), ("k", "b")], hidden)) == ("k",)


def test_the_query_counts_but_for_tokens() -> None:
    assert difference(of([], query="?sku=1"), of([], query="?sku=2")) is None
    assert difference(of([], query="?sku=1&_token=a"), of([], query="?_token=b&sku=1")) == ()
    one, other = "8f14e45f-ceea-467a-9575-0123456789ab", "0cc175b9-c0f1-46b6-8317-c399e2697726"
    assert difference(of([], query=f"?cart={one}"), of([], query=f"?cart={other}")) == ("?cart",)
    assert difference(of([], query=";jsessionid=A?x=1"), of([], query=";jsessionid=B?x=1")) == ()


def test_another_address_or_method_is_another_effect() -> None:
    one = of([("sku", "1")])
    for address in (
        "POST https://shop.example/refunds",
        "PUT https://shop.example/orders",
        "POST https://other.example/orders",
    ):
        assert difference(one, CommitSet(address=address, values=one.values)) is None


def test_without_an_address_every_value_counts() -> None:
    one, other = CommitSet(values=(("token", "a"),)), CommitSet(values=(("token", "b"),))
    assert difference(one, other) is None
    assert difference(one, one) == ()


@pytest.mark.parametrize(
    "text",
    [
        "iPhone-15-Pro-Max",
        "SKU-2024-000123-AB",
        "ada@example.com",
        "2026-11-20T10:00:00",
        "INV-2026-11-0042",
        17,
        True,
        None,
    ],
)
def test_what_people_write_does_not_look_random(text: Scalar) -> None:
    assert not looks_random(text)


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**32))
def test_what_programs_make_up_looks_random(number: int, seed: int) -> None:
    assert looks_random(str(UUID(int=number)))
    chance = random.Random(seed)
    letters = string.ascii_letters + string.digits
    made = ["".join(chance.choice(letters) for _ in range(32)), f"{chance.getrandbits(256) | 1 << 255:064x}"]
    assert sum(map(looks_random, made)) >= 1


# --- forms of every kind

NAMES = st.text(string.ascii_lowercase + "_", min_size=1, max_size=8).filter(lambda name: not is_volatile_name(name))
VALUES = st.one_of(st.text(max_size=12), st.integers(), st.booleans())
FIELDS = st.dictionaries(NAMES, st.tuples(VALUES, st.sampled_from(["shown", "hidden", "made"])), max_size=8)


def form(fields: dict[str, tuple[Scalar, str]], fresh: str, chance: random.Random) -> CommitSet:
    """The form with these fields as it is served now: fresh values, in whatever order."""
    values = [(name, value) for name, (value, _) in fields.items()]
    values += [("csrf_token", fresh), ("_wpnonce", fresh[::-1]), ("clientRef", f"key {fresh}"), ("timestamp", fresh)]
    chance.shuffle(values)
    sources: dict[str, Source] = {"csrf_token": "hidden", "clientRef": "fresh"}
    for name, (_, source) in fields.items():
        if source == "shown":
            sources[name] = "shown"
        elif source == "hidden":
            sources[name] = "hidden"
    return of(values, sources)


@pytest.mark.slow
@settings(max_examples=300)
@given(FIELDS, st.text("0123456789abcdef", min_size=4), st.text("0123456789abcdef", min_size=4), st.randoms())
def test_neither_order_nor_fresh_values_make_a_new_effect(
    fields: dict[str, tuple[Scalar, str]], one: str, other: str, chance: random.Random
) -> None:
    assert difference(form(fields, one, chance), form(fields, other, chance)) == ()


@pytest.mark.slow
@settings(max_examples=300)
@given(FIELDS.filter(bool), VALUES, st.randoms(), st.data())
def test_a_changed_business_value_makes_a_new_effect(
    fields: dict[str, tuple[Scalar, str]], value: Scalar, chance: random.Random, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(fields)))
    was, source = fields[name]
    if (type(was), was) == (type(value), value):
        return
    changed = form({**fields, name: (value, source)}, "b", chance)
    found = difference(form(fields, "a", chance), changed)
    assert found == ((name,) if source == "hidden" else None)
