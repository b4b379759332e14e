"""What each family of providers is sent, and what it may answer: the provider's own client with a server on loopback.

Only OpenAI's client and Bedrock's are locked for development: `just providers` makes an environment with all of them.

    python -m tests.providers.test_requests     # prints what is optional and ambiguous in each schema as it is sent
"""

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from midcourse.domain.argument import Reference
from midcourse.domain.budget import Cost
from midcourse.domain.expectation import Probe
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.skill import Catalogue, Parameter, ProbeSpec, Skill
from midcourse.domain.task import Task
from midcourse.llm.model_client import Answered, ModelClient
from midcourse.llm.prompt.schema import MOST_OPTIONAL, MOST_UNIONS, count_fields, find_obstacle
from midcourse.llm.prompt.template import Prompt
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.policy.plan.horizon import Scope, resolve
from midcourse.ports.planner import PlanningContext
from tests.llm.full_answers import FULL, answer_type, write_pairs
from tests.providers.families import FAMILIES, Family, Server, serve

OWN_ENVIRONMENT = Path(__file__).with_name("pytest.ini")
"""The configuration of the environment in which no client may be missing."""
WORST = Cost(calls=1, tokens=50_000)
PARAMETERS = (Parameter(name="to"), Parameter(name="copies", type="integer"), Parameter(name="urgent", type="boolean"))
LETTER = PlanningContext(
    task=Task(goal="Send the letter", inputs=(("recipient", "ada"),)),
    observation=Observation(
        id="o1", surface=Surface(title="Letter"), zones=(Zone(id="e7", role="button", label="Send"),), fingerprint="f"
    ),
    catalogue=Catalogue(
        skills=(Skill(name="send", parameters=PARAMETERS, effect="irreversible"),),
        probes=(ProbeSpec(name="was_sent", parameters=PARAMETERS),),
    ),
    worst=WORST,
)
THREE = (("to", Reference(source="input", name="recipient")), ("copies", 3), ("urgent", True))


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    found = FAMILIES[request.param]
    if request.config.inipath != OWN_ENVIRONMENT and not _is_installed(found.package):
        pytest.skip(f"needs {found.package}, which `just providers` installs")
    return found


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


@pytest.mark.slow
def test_every_role_may_give_its_fullest_answer(family: Family) -> None:
    """A provider that enforces the schema lets the model write no other answers than those that the schema admits."""
    with serve(family) as server:
        client = ModelClient([family.build(server.url)], answer_tokens=2000)
        replies = asyncio.run(_ask_all(client, server))
    assert len(server.bodies) == len(FULL)
    for (role, full), body, reply in zip(FULL.items(), server.bodies, replies, strict=True):
        schema = family.find_schema(body)
        Draft202012Validator(schema).validate(full)
        assert find_obstacle(schema) == "", role
        assert isinstance(reply, Answered), (role, reply)
        assert write_pairs(json.loads(reply.answer.model_dump_json(exclude_unset=True, by_alias=True))) == full


async def _ask_all(client: ModelClient, server: Server) -> list[object]:
    replies: list[object] = []
    for role, full in FULL.items():
        server.answer = (role, json.dumps(full))
        prompt = Prompt(role=role, version=1, instructions="Answer.", parts=("Now.",))
        replies.append(await client.ask(prompt, answer_type(role), worst=WORST))
    return replies


@pytest.mark.slow
def test_a_plan_with_three_arguments_is_admitted(family: Family) -> None:
    with serve(family) as server:
        server.answer = ("planner", json.dumps(FULL["planner"]))
        planner = ModelPlanner(ModelClient([family.build(server.url)], answer_tokens=2000))
        draft = asyncio.run(planner.plan(LETTER))
    scope = Scope(task=LETTER.task, observation=LETTER.observation, catalogue=LETTER.catalogue)
    resolved = resolve(draft.steps, draft.final, 1, scope)
    assert (draft.repairs, resolved.repairs) == ((), ())
    assert [(step.arguments, step.probe) for step in resolved.steps] == [
        (THREE, Probe(name="was_sent", arguments=THREE))
    ]


def print_counts() -> None:
    """Print the counts of each role as `optional fields/fields of several types`, for each family whose client is installed."""
    print(
        f"schemas as sent: optional fields (at most {MOST_OPTIONAL}) / fields of several types (at most {MOST_UNIONS})"
    )
    for name, family in FAMILIES.items():
        if not _is_installed(family.package):
            print(f"{name}: needs {family.package}")
            continue
        with serve(family) as server:
            asyncio.run(_ask_all(ModelClient([family.build(server.url)], answer_tokens=2000), server))
        counts = (count_fields(family.find_schema(body)) for body in server.bodies)
        print(f"{name}: " + ", ".join(f"{role} {n}/{m}" for role, (n, m) in zip(FULL, counts, strict=True)))


if __name__ == "__main__":
    print_counts()
