"""A task file says what to do, and is told at once what is wrong with it."""

from pathlib import Path

import pytest

from midcourse.config.settings import Settings
from midcourse.config.task.file import PlannerSpec, TaskFile, WorldSpec, parse_task_file
from midcourse.config.toml_table import read_text
from midcourse.domain.argument import Reference
from midcourse.domain.expectation import (
    Check,
    Expectation,
    FingerprintChanged,
    Probe,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.failure import FailureRule
from midcourse.domain.observation import Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.planners import Once, Rule, ZonePattern

WHOLE = """
goal = "Order $input.quantity books"
key = "order-$input.reference"
secrets = ["shop_password"]
files = ["invoice.pdf"]

[inputs]
reference = "PO-1001"
quantity = 3

[output]
order_number = "string"
total = { type = "number", description = "With tax", required = false }
state = { choices = ["new", "paid"] }

[done_when]
probe = "order_placed"
arguments = { reference = "$input.reference" }
settles_after = 2

[world]
name = "shop"
process = true
options = { stock = 3, names = ["a", "b"] }
[[world.faults]]
kind = "stored_but_error"
skill = "place_order"

[planner]
name = "playbook"

[[planner.rules]]
on = "Login*"
when = { zone_appears = "field:Password" }
steps = [
    { zone = "field:Password", skill = "type_text", arguments = { text = "$secret.shop_password" }, once = true, says = "Log in" },
    { zone = "__global__", skill = "press_key", arguments = { key = "Enter" } },
    { zone = "__replan__" },
]

[[planner.rules]]
on = "Catalogue*"
final = true
[[planner.rules.steps]]
zone = "button:Place order"
skill = "place_order"
arguments = { reference = "$input.reference", count = 2, gift = false, price = 1.5, file = "$file.invoice.pdf" }
says = "Place the order"
expect = { surface_matches = "Order placed*" }
absent_when = { text_contains = "Your basket is as it was" }
probe = { name = "order_placed", arguments = { reference = "$input.reference" }, settles_after = 2.0 }
transition = true

[[planner.rules]]
on = "Order placed*"
done = true

[[planner.rules]]
impossible = "the shop is closed"

[settings]
approvals = "never"
max_calls = 12
"""

REFERENCE = Reference(source="input", name="reference")


def test_every_key_of_a_task_file_is_read():
    probe = Probe(name="order_placed", arguments=(("reference", REFERENCE),), settles_after=2.0)
    assert parse_task_file(WHOLE) == TaskFile(
        task=Task(
            goal="Order 3 books",
            world="shop",
            inputs=(("reference", "PO-1001"), ("quantity", 3)),
            output=(
                Parameter(name="order_number"),
                Parameter(name="total", type="number", description="With tax", required=False),
                Parameter(name="state", choices=("new", "paid")),
            ),
            done_when=probe,
            secrets=("shop_password",),
            files=("invoice.pdf",),
            key="order-PO-1001",
        ),
        world=WorldSpec(
            name="shop",
            process=True,
            options={"stock": 3, "names": ["a", "b"]},
            faults=({"kind": "stored_but_error", "skill": "place_order"},),
        ),
        planner=PlannerSpec(
            name="playbook",
            rules=(
                Rule(
                    on="Login*",
                    when=Expectation(checks=(ZoneAppears(role="field", label="Password"),)),
                    steps=(
                        Once(
                            zone="field:Password",
                            skill="type_text",
                            arguments=(("text", Reference(source="secret", name="shop_password")),),
                            says="Log in",
                        ),
                        Draft(zone=GLOBAL, skill="press_key", arguments=(("key", "Enter"),)),
                        Draft(zone=REPLAN),
                    ),
                ),
                Rule(
                    on="Catalogue*",
                    final=True,
                    steps=(
                        Draft(
                            zone="button:Place order",
                            skill="place_order",
                            arguments=(
                                ("reference", REFERENCE),
                                ("count", 2),
                                ("gift", False),
                                ("price", 1.5),
                                ("file", Reference(source="file", name="invoice.pdf")),
                            ),
                            says="Place the order",
                            expect=Expectation(checks=(SurfaceMatches(pattern="Order placed*"),)),
                            absent_when=Expectation(checks=(TextContains(text="Your basket is as it was"),)),
                            probe=probe,
                            transition=True,
                        ),
                    ),
                ),
                Rule(on="Order placed*", done=True),
                Rule(impossible="the shop is closed"),
            ),
        ),
        settings={"approvals": "never", "max_calls": 12},
    )


STEP = 'zone = "a", skill = "b"'


def write_task_file(
    *, top: str = "", done_when: str = "", step: str = STEP, rule: str = "", planner: str = "", rest: str = ""
) -> str:
    """A small file with one thing in it that is of interest."""
    rules = rule or f"steps = [{{ {step} }}]"
    return "\n".join(
        (
            'goal = "Go"\nsecrets = ["password"]',
            top,
            '[inputs]\nname = "Ada"\nodd = "a[*]:b"\nrow = "row:7"\nyes = true\nn = 7',
            f"[done_when]\n{done_when}" if done_when else "",
            '[world]\nname = "shop"',
            planner or f'[planner]\nname = "playbook"\n[[planner.rules]]\n{rules}',
            rest,
        )
    )


def expect_refusal(**parts: str) -> str:
    with pytest.raises(TaskInvalid) as caught:
        parse_task_file(write_task_file(**parts), "order.toml")
    return str(caught.value)


class TestExpectations:
    @pytest.mark.parametrize(
        ("written", "checks"),
        [
            ('zone_appears = "button:Save"', (ZoneAppears(role="button", label="Save"),)),
            ('zone_appears = ["Save", "*:Close"]', (ZoneAppears(label="Save"), ZoneAppears(label="Close"))),
            ('zone_gone = "Save as: PDF"', (ZoneGone(label="Save as: PDF"),)),
            ('text_contains = "504"', (TextContains(text="504"),)),
            ('surface_matches = "Order*"', (SurfaceMatches(pattern="Order*"),)),
            ("fingerprint_changed = true", (FingerprintChanged(),)),
            (
                'zone_has_state = { zone = "field:File name", state = "value", value = "x" }',
                (ZoneHasState(role="field", label="File name", state="value", value="x"),),
            ),
            (
                'zone_has_state = [{zone = "a", state = "on", value = true}, {zone = "b", state = "n", value = 2}]',
                (ZoneHasState(label="a", state="on", value=True), ZoneHasState(label="b", state="n", value=2)),
            ),
            (
                'text_contains = "x"\nzone_gone = "link:y"\nsurface_matches = "z"',
                (ZoneGone(role="link", label="y"), TextContains(text="x"), SurfaceMatches(pattern="z")),
            ),
            # an input's value is put in, and in a pattern it stands for itself
            ('text_contains = "Hello $input.name!"', (TextContains(text="Hello Ada!"),)),
            ('text_contains = "$input.odd"', (TextContains(text="a[*]:b"),)),
            ('surface_matches = "$input.odd*"', (SurfaceMatches(pattern="a[[][*]]:b*"),)),
            ('zone_appears = "$input.odd"', (ZoneAppears(label="a[[][*]]:b"),)),
            ('zone_appears = "row:$input.odd"', (ZoneAppears(role="row", label="a[[][*]]:b"),)),
            (
                'zone_has_state = { zone = "a", state = "n", value = "$input.n" }',
                (ZoneHasState(label="a", state="n", value=7),),
            ),
        ],
    )
    def test_every_check_is_read(self, written: str, checks: tuple[Check, ...]):
        assert parse_task_file(write_task_file(done_when=written)).task.done_when == Expectation(checks=checks)

    def test_an_expectation_in_words_is_read(self):
        assert parse_task_file(write_task_file(done_when='says = "it is done"')).task.done_when == Expectation(
            says="it is done"
        )

    def test_a_probe_is_read(self):
        assert parse_task_file(write_task_file(done_when='probe = "there"')).task.done_when == Probe(name="there")
        read = parse_task_file(write_task_file(step='zone = "a", skill = "b", probe = "there"'))
        assert read.planner.rules[0].steps[0].probe == Probe(name="there")

    def test_done_when_may_be_left_out(self):
        assert parse_task_file(write_task_file()).task.done_when is None

    @pytest.mark.parametrize(
        ("written", "complaint"),
        [
            ("# nothing", "order.toml: done_when: says nothing; give one of zone_appears, "),
            ("fingerprint_changed = false", "order.toml: done_when: says nothing"),
            ('zone_apears = "a"', "order.toml: done_when: no such key: 'zone_apears'; did you mean 'zone_appears'"),
            ('probe = "a"\nsays = "b"', "order.toml: done_when: is either a probe or checks, not both"),
            ('probe = "a"\nsettles_after = -1', "done_when.settles_after: has to be a number of seconds, not -1"),
            ('probe = "a"\nsettle_after = 1', "no such key: 'settle_after'; did you mean 'settles_after'"),
            ('text_contains = ""', "done_when.text_contains: is empty"),
            ("text_contains = 504", "done_when.text_contains: has to be text in quotes or a list of it, not 504"),
            ('zone_has_state = "a"', "done_when.zone_has_state: has to be a list of tables"),
            ('zone_has_state = { zone = "a", state = "b" }', "done_when.zone_has_state.value: is missing"),
            ('text_contains = "$secret.password"', "has to stand alone, and can only be an argument"),
            ('zone_has_state = { zone = "a", state = "b", value = "$secret.password" }', "can only be an argument"),
        ],
    )
    def test_an_invalid_expectation_is_refused_with_advice(self, written: str, complaint: str):
        assert complaint in expect_refusal(done_when=written)


class TestArguments:
    def parse_argument(self, written: str) -> object:
        read = parse_task_file(write_task_file(step=f'zone = "a", skill = "b", arguments = {{ x = {written} }}'))
        return dict(read.planner.rules[0].steps[0].arguments)["x"]

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ('"$input.name"', Reference(source="input", name="name")),
            ('"$secret.password"', Reference(source="secret", name="password")),
            ('"plain"', "plain"),
            ('""', ""),
            ('"$$input.name"', "$input.name"),
            ('"$$"', "$"),
            ('"$5 and 5$"', "$5 and 5$"),
            ('"To $input.name, $input.yes"', "To Ada, true"),
            ('"$$$input.name"', "$Ada"),
            ("7", 7),
            ("true", True),
        ],
    )
    def test_values_and_references_are_read(self, written: str, value: object):
        assert self.parse_argument(written) == value

    @pytest.mark.parametrize(
        ("written", "complaint"),
        [
            ('"$input.nam"', "planner.rules#1.steps#1.arguments.x: no such input: 'nam'; did you mean 'name'?"),
            ('"for $input.nam"', "no such input: 'nam'; did you mean 'name'?"),
            ('"$secret.passwort"', "no such secret: 'passwort'; did you mean 'password'?"),
            ('"$file.a.pdf"', "no such file: 'a.pdf'; there is none"),
            ('"my $secret.password"', "$secret.password has to stand alone"),
            ('"$inputs.name"', "$inputs.name means nothing; for a plain dollar sign write $$"),
            ('"$input"', "$input means nothing"),
            ("[1]", "has to be text, a number, true or false, not a list"),
            ("2026-01-31", "is a date or time; put it in quotes"),
            ("nan", "has to be a finite number"),
        ],
    )
    def test_an_invalid_reference_or_value_is_refused_with_advice(self, written: str, complaint: str):
        assert complaint in expect_refusal(step=f'zone = "a", skill = "b", arguments = {{ x = {written} }}')


@pytest.mark.parametrize(("written", "zone"), [("$input.odd", "a[[][*]]:b"), ("$input.row", ":row:7")])
def test_an_input_in_a_zone_pattern_stands_for_itself(written: str, zone: str):
    read = parse_task_file(write_task_file(step=f'zone = "{written}", skill = "b"'))
    assert read.planner.rules[0].steps[0].zone == zone
    pattern = ZonePattern.parse(zone)
    value = dict(read.task.inputs)[written.removeprefix("$input.")]
    assert pattern.fits(Zone(id="1", role="cell", label=str(value)))
    assert not pattern.fits(Zone(id="1", role="row", label="7"))


def test_the_planner_same_plan_is_read_with_its_steps():
    steps = 'steps = [{ zone = "x-$input.odd", skill = "c", arguments = { object = "red_cube" } }]'
    read = parse_task_file(write_task_file(planner=f'[planner]\nname = "same_plan"\nfinal = true\n{steps}'))
    draft = Draft(zone="x-a[*]:b", skill="c", arguments=(("object", "red_cube"),))
    assert read.planner == PlannerSpec(name="same_plan", steps=(draft,), final=True)


def test_a_planner_section_with_a_model_is_read():
    read = parse_task_file(
        write_task_file(planner='[planner]\nmodel = "openai:gpt-5"\nbase_url = "http://127.0.0.1:8080/v1"')
    )
    assert read.planner == PlannerSpec(name="model", model="openai:gpt-5", base_url="http://127.0.0.1:8080/v1")


def test_without_a_planner_section_the_planner_is_a_model():
    assert parse_task_file('goal = "x"\n[world]\nname = "x"').planner == PlannerSpec(name="model")


def test_a_planner_of_the_user_is_read_with_its_options():
    read = parse_task_file(
        write_task_file(planner='[planner]\nname = "mine.plans:make"\noptions = { model = "x", top = [1] }')
    )
    assert read.planner == PlannerSpec(name="mine.plans:make", options={"model": "x", "top": [1]})


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ({"top": 'gaol = "x"'}, "order.toml: no such key: 'gaol'; did you mean 'goal'?"),
        ({"top": 'files = "a"'}, 'order.toml: files: has to be a list of text, such as ["a", "b"], not \'a\''),
        ({"top": "key = 5"}, "order.toml: key: has to be text in quotes, not 5"),
        ({"top": "goal = "}, "order.toml: is not TOML, in which task files are written: "),
        ({"rest": "[output]\nx = 'text'"}, "order.toml: output.x: no such type: 'text'; there are boolean, integer"),
        (
            {"rest": "[output]\nx = { typ = 'string' }"},
            "order.toml: output.x: no such key: 'typ'; did you mean 'type'?",
        ),
        ({"rest": "[output]\nx = { choices = [1] }"}, "order.toml: output.x.choices: each has to be string"),
        (
            {"rest": "[settings]\nmax_cals = 1"},
            "order.toml: settings: no such setting: 'max_cals'; did you mean 'max_calls'",
        ),
        ({"rest": "[settings]\nmax_calls = [1]"}, "order.toml: settings.max_calls: has to be text, a number"),
        (
            {"planner": '[planner]\nname = "playbok"'},
            "planner.name: no such planner: 'playbok'; did you mean 'playbook'?",
        ),
        ({"planner": '[planner]\nname = "playbook"'}, "planner.rules: a playbook needs at least one rule"),
        ({"planner": '[planner]\nname = "same_plan"'}, "planner.steps: a plan needs at least one step"),
        ({"planner": '[planner]\nname = "a:b"\nrules = []'}, "planner: no such key: 'rules'; there are name, options"),
        ({"rule": 'on = "x"'}, "planner.rules#1: the rule on 'x' needs one of: steps, done, impossible"),
        ({"rule": 'done = "yes"'}, "planner.rules#1.done: has to be true or false, not 'yes'"),
        ({"rule": 'done = true\nwhen = { says = "x" }'}, "planner.rules#1.when: has to be checked on one screen alone"),
        ({"rule": "steps = [1]"}, "planner.rules#1.steps#1: has to be a table, not 1"),
        ({"step": 'zone = "a"'}, "planner.rules#1.steps#1.skill: is missing"),
        ({"step": 'skill = "a"'}, "planner.rules#1.steps#1.zone: is missing"),
        ({"step": 'zone = "a", skil = "a"'}, "planner.rules#1.steps#1: no such key: 'skil'; did you mean 'skill'?"),
        ({"step": 'zone = "a", skill = "a", once = true'}, "planner.rules#1.steps#1.once: needs 'says' beside it"),
        ({"step": 'zone = "__replan__", skill = "a"'}, "planner.rules#1.steps#1: no such key: 'skill'"),
    ],
)
def test_an_invalid_key_or_value_is_refused_with_advice(parts: dict[str, str], complaint: str):
    assert complaint in expect_refusal(**parts)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "f.toml: there is no [world]; add one with at least a name"),
        ('[world]\nname = "x"', "f.toml: goal: is missing"),
        ('goal = ""\n[world]\nname = "x"', "f.toml: goal: is empty"),
        ('goal = "x"\nworld = "shop"', "f.toml: world: has to be a table, not 'shop'"),
        ('goal = "x"\n[world]\nname = "x"\nfaults = { kind = "y" }', "world.faults: has to be a list of tables"),
        ('goal = "x"\n[inputs]\nday = 2026-01-31', "f.toml: inputs.day: is a date or time; put it in quotes"),
    ],
)
def test_a_missing_table_or_key_is_refused_by_name(text: str, complaint: str):
    with pytest.raises(TaskInvalid) as caught:
        parse_task_file(text, "f.toml")
    assert complaint in str(caught.value)


def test_an_unreadable_task_file_is_refused_with_its_path(tmp_path: Path):
    path = tmp_path / "order.toml"
    with pytest.raises(TaskInvalid, match=r"order\.toml: cannot be read: No such file"):
        read_text(path)
    path.write_bytes(b"goal = '\xff'")
    with pytest.raises(TaskInvalid, match=r"order\.toml: is not a text file in UTF-8"):
        read_text(path)
    path.write_text(WHOLE, encoding="utf-8")
    assert read_text(path) == WHOLE


def test_the_settings_of_a_file_are_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MIDCOURSE_MAX_CALLS", raising=False)
    read = parse_task_file(WHOLE)
    assert Settings.load(task=read.settings).limits().max_calls == 12
    assert Settings.load(task=read.settings, overrides={"max_calls": "4"}).limits().max_calls == 4


def test_other_inputs_take_the_place_of_those_in_the_file():
    inputs = (("quantity", 5), ("reference", "PO-7"))
    file = parse_task_file(WHOLE, inputs=inputs)
    assert file.task.inputs == (("reference", "PO-7"), ("quantity", 5))
    assert (file.task.goal, file.task.key) == ("Order 5 books", "order-PO-7")
    assert parse_task_file(WHOLE, inputs=(("quantity", 4),)).task.inputs == (("reference", "PO-1001"), ("quantity", 4))
    with pytest.raises(TaskInvalid, match=r"inputs: no such input: 'quantty'; did you mean 'quantity'\?"):
        parse_task_file(WHOLE, inputs=(("quantty", 5),))


def test_inputs_are_put_into_the_options_of_worlds_and_planners():
    text = """
goal = "Go"
[inputs]
seed = 7
name = "Ada"
[world]
name = "shop"
options = { seed = "$input.seed", list = ["a $input.name", 3], deep = { who = "$input.name", price = "5 $$" } }
[[world.faults]]
kind = "popup"
nth = "$input.seed"
[planner]
name = "my.planners:Mine"
options = { seed = "$input.seed" }
"""
    file = parse_task_file(text)
    assert file.world.options == {"seed": 7, "list": ["a Ada", 3], "deep": {"who": "Ada", "price": "5 $"}}
    assert file.world.faults == ({"kind": "popup", "nth": 7},)
    assert file.planner.options == {"seed": 7}
    with pytest.raises(TaskInvalid, match=r"world\.options\.deep\.who: no such input: 'nam'"):
        parse_task_file(text.replace('who = "$input.name"', 'who = "$input.nam"'))
    with pytest.raises(TaskInvalid, match=r"world\.options\.seed: no such secret"):
        parse_task_file(text.replace('options = { seed = "$input.seed", l', 'options = { seed = "$secret.s", l'))


def test_steps_that_depend_on_others():
    text = """
    goal = "x"
    [world]
    name = "shop"
    [planner]
    name = "same_plan"
    steps = [
        { zone = "__global__", skill = "read_order", gives = ["order_number"] },
        { zone = "__global__", skill = "fill", needs = "order_number", arguments = { text = "$result.order_number" } },
    ]
    """
    first, second = parse_task_file(text).planner.steps
    assert first.gives == second.needs == ("order_number",)
    assert second.arguments == (("text", Reference(source="result", name="order_number")),)


def test_rules_about_failures_are_a_setting_with_tables_of_its_own():
    text = """
    goal = "x"
    [world]
    name = "shop"
    [planner]
    name = "same_plan"
    steps = [{ zone = "a", skill = "a" }]
    [[failures]]
    reason = "sap_*"
    severity = "MEDIUM"
    [[failures]]
    message = "no licence"
    nature = "structural"
    """
    limits = Settings.load(task=parse_task_file(text).settings).limits()
    assert limits.failures == (
        FailureRule(reason="sap_*", severity="MEDIUM"),
        FailureRule(message="no licence", nature="structural"),
    )
    with pytest.raises(TaskInvalid, match="severty"):
        Settings.load(task=parse_task_file(text.replace("severity", "severty")).settings)
