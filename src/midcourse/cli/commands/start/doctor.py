"""`midcourse doctor`: what works here, and what to type about what does not."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from rich.text import Text

from midcourse.app.doctor import Finding, Health, check_up
from midcourse.cli.overrides import settings_with
from midcourse.cli.session.local import logged_to
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal

WELL, ILL = 0, 1
STYLES: dict[Health, str] = {"good": "green", "absent": "yellow", "bad": "red"}


def doctor(overrides: Sequence[str], *, model: str, json: bool) -> int:
    settings = settings_with(overrides, "home")
    with logged_to(None):
        findings = asyncio.run(check_up(settings, model=model))
    ill = any(finding.health == "bad" for finding in findings)
    if json:
        print_object({"healthy": not ill, "findings": [asdict(finding) for finding in findings]})
        return ILL if ill else WELL
    where = terminal()
    for finding in findings:
        for line in _lines(finding, where.marks):
            where.console.print(line, soft_wrap=True)
    return ILL if ill else WELL


def _lines(finding: Finding, marks: Marks) -> list[Text]:
    sign = {"good": marks.done, "absent": marks.waiting, "bad": marks.failed}[finding.health]
    says = marks.clean(" ".join(finding.says.split()))
    head = Text.assemble((f"{sign} ", STYLES[finding.health]), (f"{finding.about:<12}", "bold"), f" {says}")
    command = marks.clean(finding.type_this)
    return [head, Text.assemble(" " * 15, ("type: ", "dim"), (command, "cyan"))] if command else [head]
