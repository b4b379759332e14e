"""Conformance suite for extractors: inputs that each must accept, and the shape of its answers.

    class TestMine(ExtractorConformance):
        def make_extractor(self) -> Extractor:
            return MyExtractor()

Whether the values are right is another question: values that no screen shows are dropped later.
"""

import asyncio
from dataclasses import replace

from midcourse.codec import decode, encode
from midcourse.domain.skill import Parameter
from midcourse.ports.extractor import Extract, Extractor, Wanted
from midcourse.testing.conformance.planner import TASK, seen, zones

FIELDS = (
    Parameter(name="order_number", description="as the shop says it"),
    Parameter(name="total", type="number"),
    Parameter(name="items", type="integer", required=False),
    Parameter(name="express", type="boolean", required=False),
    Parameter(name="state", choices=("sent", "on its way")),
)
WANTED = Wanted(task=TASK, fields=FIELDS, screens=(seen("Thank you", *zones(7)), seen("Checkout", *zones(5))))


class ExtractorConformance:
    """Tests that every extractor must pass. Subclass it as `Test…` and define `make_extractor`."""

    def make_extractor(self) -> Extractor:
        raise NotImplementedError("a conformance suite needs to know what to test")

    def test_fields_of_every_type(self) -> None:
        self._answers(WANTED)

    def test_a_field_with_a_name_that_is_no_name(self) -> None:
        odd = (
            Parameter(name="order no. (new)"),
            Parameter(name="class"),
            Parameter(name="_x"),
            Parameter(name="model_config"),
        )
        self._answers(replace(WANTED, fields=odd))

    def test_a_run_that_saw_nothing(self) -> None:
        self._answers(replace(WANTED, screens=()))

    def test_screens_with_very_much_on_them(self) -> None:
        self._answers(replace(WANTED, screens=(seen("One", *zones(2000)), seen("Two", *zones(2000)))))

    def _answers(self, wanted: Wanted) -> None:
        extractor = self.make_extractor()

        async def ask() -> Extract:
            return await extractor.extract(wanted)

        check_extract(asyncio.run(ask()))


def check_extract(extract: object) -> None:
    """Check that this is a valid answer."""
    assert isinstance(extract, Extract), f"an extractor returns an Extract, not {extract!r}"
    assert min(extract.cost.calls, extract.cost.tokens, extract.cost.microusd) >= 0, "no call gives money back"
    assert extract.wait is None or not extract.data, "a wait is only for a model that could not be reached"
    assert decode(Extract, encode(extract)) == extract, "what was found survives being stored"
