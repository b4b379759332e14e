"""Extractor: a model reads the task's output from screens."""

from functools import lru_cache
from typing import Any

from pydantic import BaseModel, Field, create_model

from midcourse.domain.argument import Scalar
from midcourse.domain.replace import replace
from midcourse.domain.skill import Parameter
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import format_parameter, words_of_task
from midcourse.llm.prompt.quoting import quote, quote_block
from midcourse.llm.prompt.screen import render_screen, zone_line
from midcourse.llm.prompt.template import Prompt, template
from midcourse.ports.extractor import Extract, Wanted

ROLE = "extractor"

TYPES: dict[str, type[Scalar]] = {"string": str, "integer": int, "number": float, "boolean": bool, "json": str}


class ModelExtractor(ModelRole):
    async def extract(self, wanted: Wanted) -> Extract:
        shape = answer_type(wanted.fields)
        prompt = extractor_prompt(wanted, self.client.room(wanted.worst, shape))
        reply = await self.client.ask(prompt, shape, worst=wanted.worst, turn=wanted.turn)
        if isinstance(reply, Unanswered):
            return Extract(why=reply.detail, cost=reply.cost, model=reply.model, wait=reply.seconds_until_retry)
        values = reply.answer.model_dump()
        data = tuple((field.name, values[f"field_{n}"]) for n, field in enumerate(wanted.fields))
        return Extract(
            data=tuple((name, value) for name, value in data if value is not None), cost=reply.cost, model=reply.model
        )


@lru_cache(maxsize=64)
def answer_type(fields: tuple[Parameter, ...]) -> type[BaseModel]:
    """Build the type of the answer: the wanted fields, each optional. Fields are numbered, because a name may not be an identifier."""
    shape: dict[str, Any] = {
        f"field_{n}": (
            TYPES[field.type] | None,
            Field(default=None, alias=field.name, description=field.description or None),
        )
        for n, field in enumerate(fields)
    }
    return create_model("Values", **shape)


def extractor_prompt(wanted: Wanted, room: int) -> Prompt:
    """Build the prompt. The latest screen gets half of the room, each earlier one half of the rest without what later ones show."""
    words = f"{words_of_task(wanted.task)} {' '.join(f'{field.name} {field.description}' for field in wanted.fields)}"
    screens: list[str] = []
    listed: set[str] = set()
    for screen in wanted.screens:
        room //= 2
        new = tuple(zone for zone in screen.zones if zone_line(zone) not in listed)
        listed.update(map(zone_line, new))
        when = "An earlier screen, where it differs" if screens else "The latest screen"
        if new:
            screens.append(f"{when}:\n{render_screen(replace(screen, zones=new), (), words, room, 0).first}")
    return template(ROLE).fill(
        {
            "goal": quote(wanted.task.goal, longest=1000),
            "fields": quote_block("WANTED", map(format_parameter, wanted.fields)),
            "screens": "\n\n".join(screens),
        }
    )
