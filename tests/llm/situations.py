"""Planning contexts for tests of prompts."""

from dataclasses import replace

from midcourse.domain.argument import Reference, Scalar
from midcourse.domain.budget import Cost
from midcourse.domain.expectation import Probe
from midcourse.domain.failure import FailedStep, Failure, Track
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.records.lesson import Lesson, Recalled, Untrusted
from midcourse.domain.reflection import Analysis, Fix, ReplanningContext
from midcourse.domain.skill import Catalogue, Parameter, ProbeSpec, Skill
from midcourse.domain.task import Task
from midcourse.llm.image import Image
from midcourse.policy.failure.reflection import explain_failure
from midcourse.policy.spending import UNLIMITED
from midcourse.ports.planner import PlanningContext
from midcourse.ports.reader import Picture
from midcourse.worlds.browser import Browser

TASK = Task(
    goal="Order one desk lamp to 1 Harbour Street",
    inputs=(("reference", "PO-1001"), ("quantity", 1)),
    output=(Parameter(name="order_number", description="as the shop says it"),),
    done_when=Probe(name="order_placed", arguments=(("reference", Reference(source="input", name="reference")),)),
    secrets=("password",),
    files=("terms.pdf",),
)
CATALOGUE = Catalogue(
    skills=(
        Skill(name="click", description="Click a zone."),
        Skill(name="fill", description="Write this into a field.", parameters=(Parameter(name="text"),)),
        Skill(name="place_order", description="Order it.", effect="irreversible", transition=True),
        Skill(
            name="press",
            parameters=(
                Parameter(name="key", choices=("Enter", "Escape")),
                Parameter(name="times", type="integer", required=False),
            ),
            on_zone=False,
        ),
    ),
    probes=(
        ProbeSpec(name="order_placed", description="Whether it is there.", parameters=(Parameter(name="reference"),)),
    ),
)


def make_screen(*zones: Zone, title: str = "Checkout", name: str = "o1", stale: bool = False) -> Observation:
    surface = Surface(title=title, address=f"https://shop.example/{title.lower()}", origin="https://shop.example")
    return Observation(id=name, surface=surface, zones=zones, fingerprint=f"f-{name}", stale=stale)


def form(address: str = "") -> tuple[Zone, ...]:
    return (
        *(Zone(id=f"nav{n}", role="link", label=f"Department {n}", bounds=(0, n, 9, 9)) for n in range(8)),
        Zone(id="z1", role="link", label="Catalogue"),
        Zone(id="z2", role="textbox", label="Address", state=(("text", address),)),
        Zone(id="z3", role="checkbox", label="As a gift", state=(("checked", False),)),
        Zone(id="z4", role="button", label="Place order", state=(("enabled", bool(address)), ("total", 49.0))),
    )


FIRST = PlanningContext(
    task=TASK,
    observation=make_screen(*form()),
    catalogue=CATALOGUE,
    left=Cost(calls=30, tokens=UNLIMITED, microusd=UNLIMITED),
)


def make_recovery(message: str, fix: str, failed: FailedStep | None = None) -> ReplanningContext:
    """Make the context of a plan after a failure, with a lesson of this text."""
    words, steps = Untrusted(text=message), Untrusted(text=fix)
    lesson = Lesson(
        key="00112233aabbccdd",
        signature="no_effect",
        said=words,
        root_cause=words,
        fix=steps,
        track=Track(fixed=3, not_fixed=1),
    )
    return ReplanningContext(
        failure=Failure(reason="no_effect"),
        analysis=Analysis(error_type="other", severity="HIGH", root_cause=""),
        fix=Fix(message=""),
        similar=(Recalled(lesson=lesson),),
        failed=failed,
    )


FAILED = FailedStep(
    version=1,
    index=2,
    skill="fill",
    target="Reference",
    arguments=(("text", Reference(source="input", name="reference")), ("times", 2)),
    reason="no_effect",
    detail="nothing changed",
)
EXPLAINED_BY_RULES = explain_failure(Failure(reason="no_effect", detail="nothing changed"), FAILED, (FAILED,))


REPLAN = replace(
    FIRST,
    observation=make_screen(
        *form("1 Harbour Street")[1:],
        Zone(id="z9", role="alert", label="Say when\nit may come"),
        name="o7",
        stale=True,
    ),
    earlier=(FIRST.observation,),
    completed=(
        CompletedStep(
            version=1,
            index=0,
            skill="fill",
            target="Address",
            arguments=(("text", "1 Harbour Street"),),
            says="fill Address",
        ),
        CompletedStep(
            version=1,
            index=1,
            skill="place_order",
            target="Place order",
            says="Order it",
            irreversible=True,
            doubtful=True,
        ),
    ),
    planned=(1,),
    attempts=(FAILED,),
    recovery=replace(
        make_recovery("the field did not take it", "select combobox 'Delivery'", FAILED),
        failure=Failure(reason="no_effect", detail="nothing changed"),
        analysis=EXPLAINED_BY_RULES.analysis,
        fix=EXPLAINED_BY_RULES.fix,
    ),
    results=(("order_number", "A-17"),),
    cause="error",
    why="fill failed: no_effect — nothing changed",
    guidance=("Take the cheapest delivery",),
    repairs=("step 3 (click) dropped: zone 'z12' is not visible",),
    refused="step 1 was done before: Order it",
    left=Cost(calls=3, tokens=12_000, microusd=150_000),
    wrap_up=True,
)

MANY = tuple(
    Zone(id=f"r{n}", role=("link", "text", "button")[n % 3], label=f"Row {n}: {'Desk lamp' if n == 700 else 'Chair'}")
    for n in range(1000)
)
CROWDED = replace(FIRST, observation=make_screen(*MANY, title="Catalogue"))


PAGE = "https://shop.example"


def page(*zones: Zone, **states: Scalar) -> Observation:
    """Make an observation of a browser, with the zone that represents the whole page."""
    whole = Zone(id="page", role="page", label="Orders", state=tuple(({"status": 200, "tabs": 1} | states).items()))
    surface = Surface(title="Orders", address=f"{PAGE}/orders", origin=PAGE)
    return Observation(id="o1", surface=surface, zones=(whole, *zones), fingerprint="o1")


def row(n: int, *, is_seen: bool = True, covered: bool = False) -> tuple[Zone, ...]:
    hidden: tuple[tuple[str, Scalar], ...] = (*((("seen", False),) * (not is_seen)), *((("covered", True),) * covered))
    return (
        Zone(id=f"e{3 * n}", role="link", label=f"Order {n}", state=(("href", f"{PAGE}/orders/{n}"), *hidden)),
        Zone(id=f"e{3 * n + 1}", role="textbox", label="Quantity", state=(("value", "1"), *hidden)),
        Zone(id=f"e{3 * n + 2}", role="button", label="Remove", state=hidden),
    )


def rows(count: int, visible: range) -> tuple[Zone, ...]:
    return tuple(zone for n in range(count) for zone in row(n, is_seen=n in visible))


BROWSER = replace(
    FIRST,
    task=Task(goal="Remove order 150"),
    catalogue=Browser(f"{PAGE}/orders").catalogue(),
    observation=page(*rows(200, range(10, 20))),
)
BEHIND_DIALOG = replace(
    BROWSER,
    observation=page(
        *(zone for n in range(4) for zone in row(n, covered=True)),
        Zone(id="e90", role="dialog", label="Cookies"),
        Zone(id="e91", role="button", label="Reject all", state=(("within", "Cookies"),)),
        Zone(id="request1", role="request", label=f"POST {PAGE}/orders", state=(("address", "1 Harbour Street"),)),
        Zone(id="tab2", role="tab", label="Help", state=(("href", f"{PAGE}/help"),)),
        status=504,
        tabs=2,
    ),
)

PICTURE = (
    Picture(
        png=b"",
        surface=FIRST.observation.surface,
        size=(640, 360),
        goal=FIRST.task.goal,
        known=(
            Zone(id="e1", role="button", label="Place order", bounds=(20, 300, 120, 30)),
            Zone(id="e2", role="clickable", label="", bounds=(600, 10, 24, 24)),
        ),
    ),
    Image(png=b"", width=1280, height=720, original=(1280, 720)),
)
"""A picture with two pixels for each of the screen, and what is sent of it."""
