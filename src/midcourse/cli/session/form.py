"""Asks for the values of a form at the terminal."""

from collections.abc import Mapping

from rich.text import Text

from midcourse.cli.session.prompt import Choice, Prompt
from midcourse.domain.argument import Scalar
from midcourse.domain.skill import Parameter
from midcourse.ports.approver import Form

FILL_IN = (
    Choice(key="f", label="[f]ill in", leads_to="what you type is sent to the server, and to no model"),
    Choice(key="d", label="[d]ecline", leads_to="the server gets nothing"),
)
OPENED = (
    Choice(key="o", label="[o]pened", leads_to="the server is told that you opened it"),
    Choice(key="d", label="[d]ecline", leads_to="the server gets nothing"),
)
YES, NO = ("y", "yes", "true"), ("n", "no", "false")


async def fill_in_form(form: Form, prompt: Prompt) -> Mapping[str, Scalar] | None:
    """Ask for each field and return the values that the user typed; None if the user declines."""
    clean = prompt.marks.clean
    prompt.print(Text(clean(f"{form.asker} asks you something, for its tool {form.skill}. It says:"), "bold magenta"))
    prompt.print(Text(f"  {clean(form.message)}"))
    if form.address:
        prompt.print(Text(f"  It wants you to open {clean(form.address)}"))
    if await prompt.choose(OPENED if form.address else FILL_IN) == "d":
        return None
    values = {field.name: await _ask_value(field, prompt) for field in form.fields}
    return {name: value for name, value in values.items() if value is not None}


async def _ask_value(field: Parameter, prompt: Prompt) -> Scalar:
    clean = prompt.marks.clean
    choices = f", one of {', '.join(map(str, field.choices))}" if field.choices else ""
    optional = "" if field.required else ", Enter for none"
    if field.description:
        prompt.print(Text(f"  {clean(field.description)}", "dim"))
    while True:
        typed = await prompt.line(clean(f"{field.name} ({field.type}{choices}{optional}): "))
        if not typed and not field.required:
            return None
        value = _parse_value(typed, field)
        if value is not None:
            return value
        prompt.print(Text("  that does not fit", "yellow"))


def _parse_value(typed: str, field: Parameter) -> Scalar:
    """Parse the text as the type of the field; None if it does not fit."""
    value: Scalar = typed or None
    try:
        if field.type == "integer":
            value = int(typed)
        elif field.type == "number":
            value = float(typed)
        elif field.type == "boolean":
            value = True if typed.lower() in YES else False if typed.lower() in NO else None
    except ValueError:
        return None
    return value if not field.choices or value in field.choices else None
