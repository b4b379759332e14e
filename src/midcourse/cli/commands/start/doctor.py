"""`midcourse doctor`: checks this installation, and prints the command that fixes each problem."""

import asyncio
from dataclasses import asdict

import typer

from midcourse.cli.options import Home, Json, Model, load_settings, teach
from midcourse.cli.session.local import log_to
from midcourse.doctor import Health, check_setup
from midcourse.terminal.output import print_object, terminal

WELL, ILL = 0, 1
STYLES: dict[Health, str] = {"good": "green", "absent": "yellow", "bad": "red"}


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse doctor", "what works here, and what to type to fix the rest"),
        ("midcourse doctor --model openai:gpt-5", "whether this model can be reached, without cost"),
        ("midcourse doctor --json | jq -r '.findings[].type_this'", "for programs"),
    ),
)
def doctor(model: Model = "", set_: Home = None, json: Json = False) -> int:
    """Check Chromium, keys, model, disk, permissions and fleet, and print the command that fixes each problem.

    Something that is only absent, such as a fleet, is not a problem.

    Exit codes: 0 everything that is there works, 1 something does not, 2 misuse.
    """
    settings = load_settings(set_, "home")
    with log_to(None):
        findings = asyncio.run(check_setup(settings, model=model))
    ill = any(finding.health == "bad" for finding in findings)
    if json:
        print_object({"healthy": not ill, "findings": [asdict(finding) for finding in findings]})
        return ILL if ill else WELL
    where = terminal()
    for finding in findings:
        sign = {"good": where.marks.done, "absent": where.marks.waiting, "bad": where.marks.failed}[finding.health]
        says = " ".join(finding.says.split())
        where.say((f"{sign} ", STYLES[finding.health]), (f"{finding.about:<12}", "bold"), f" {says}")
        if finding.type_this:
            where.say(" " * 15, ("type: ", "dim"), (finding.type_this, "cyan"))
    return ILL if ill else WELL
