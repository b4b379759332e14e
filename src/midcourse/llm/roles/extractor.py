"""Extractor: a model reads the task's output from screens."""

from typing import cast

from pydantic import model_validator

from midcourse.domain.argument import Scalar
from midcourse.domain.replace import replace
from midcourse.domain.skill import Parameter
from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import format_parameter, join_task_words
from midcourse.llm.prompt.quoting import quote, quote_block
from midcourse.llm.prompt.screen import format_zone, render_screen
from midcourse.llm.prompt.template import Prompt, load_template
from midcourse.llm.roles.named_values import Misfit, NamedValue, NamedValues, read_value
from midcourse.ports.extractor import Extract, Wanted

ROLE = "extractor"


class ValuesAnswer(Answer):
    """The same shape for every task: a provider limits how many fields of its own a schema may have."""

    values: NamedValues

    @model_validator(mode="before")
    @classmethod
    def _wrap(cls, value: object) -> object:
        """Accept the values without a list around them: `{"total": "49.00"}`."""
        if not isinstance(value, dict):
            return value
        given = cast(dict[str, object], value)
        return given if isinstance(given.get("values"), (list, dict)) else {"values": given}


class ModelExtractor(ModelRole):
    async def extract(self, wanted: Wanted) -> Extract:
        prompt = build_extractor_prompt(wanted, self.client.room(wanted.worst, ValuesAnswer))
        reply = await self.client.ask(prompt, ValuesAnswer, worst=wanted.worst, turn=wanted.turn)
        if isinstance(reply, Unanswered):
            return Extract(why=reply.detail, cost=reply.cost, model=reply.model, wait=reply.seconds_until_retry)
        fields = {field.name: field for field in wanted.fields}
        read = ((each.name, _read(each, fields[each.name])) for each in reply.answer.values if each.name in fields)
        return Extract(
            data=tuple((name, value) for name, value in read if value is not None), cost=reply.cost, model=reply.model
        )


def _read(given: NamedValue, field: Parameter) -> Scalar:
    """The value as the type of its field; None if there is none, or none that could be of this type."""
    try:
        return None if given.value is None else read_value(given.value, field)
    except Misfit:
        return None


def build_extractor_prompt(wanted: Wanted, room: int) -> Prompt:
    """Build the prompt. The latest screen gets half of the room, each earlier one half of the rest without what later ones show."""
    words = f"{join_task_words(wanted.task)} {' '.join(f'{field.name} {field.description}' for field in wanted.fields)}"
    screens: list[str] = []
    listed: set[str] = set()
    for screen in wanted.screens:
        room //= 2
        new = tuple(zone for zone in screen.zones if format_zone(zone) not in listed)
        listed.update(map(format_zone, new))
        when = "An earlier screen, where it differs" if screens else "The latest screen"
        if new:
            screens.append(f"{when}:\n{render_screen(replace(screen, zones=new), (), words, room, 0).first}")
    return load_template(ROLE).fill(
        {
            "goal": quote(wanted.task.goal, longest=1000),
            "fields": quote_block("WANTED", map(format_parameter, wanted.fields)),
            "screens": "\n\n".join(screens),
        }
    )
