"""Writes the pages that are drawn from the code: the state diagram, the settings, and what can be done in a browser; the page about scale and charts from kept results; and the values of the Helm chart.

python docs/generate.py            write them
python docs/generate.py --check    fail if they are not current
"""

import sys
from pathlib import Path

from chart_page import chart_page
from plots import draw_agentdojo, draw_peers, read_result
from scale_page import scale_page

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.settings.audience import Audience
from midcourse.app.settings.reference import preset_names, presets, reference
from midcourse.app.settings.run import Settings
from midcourse.director.diagram import mermaid, table
from midcourse.domain.skill import Catalogue, Parameter, Skill
from midcourse.worlds.browser import Browser

DOCS = Path(__file__).parent

DIAGRAM = """# What a run waits for

Drawn from the transition table in `director/decide.py` by `python docs/generate.py`. Every phase can also lead to
`Paused` and `Ended`, and takes pause, resume, cancel, guidance and late answers; those arrows are left out.

{table}
```mermaid
{diagram}```
"""

SETTINGS = """# Settings

Written by `python docs/generate.py`. A setting can be given on the command line (`--set max_calls=10`), in the
environment, in a `.env` file, or under `[settings]` in a task file. What comes first in this list wins.
In Python, `Agent(settings=…)` has them for every run of the agent; a `Task` with `limits` or an `agreement` of its own overrides what it says.

A variable that nearly has the name of a setting, such as `MIDCOURSE_MAX_CALS`, is ignored with a warning.

`midcourse settings` shows the settings of this table with their values now, and `--all` all of them.

{everyday}
## The preset of recovery

`recovery` gives values to these settings: {preset_names}.

One of these that is given on its own, on the command line, in the environment or in a task file, overrides the preset, wherever that was given.
`midcourse settings --all` shows the values that hold. The presets differ in:

{presets}
## Advanced

Most runs need none of these.

{advanced}
## Of a fleet

Where durable runs are kept and driven ([fleets](fleets.md)). They are given in the same ways, but not in a task file; last comes
what `midcourse up` left in the home.

{fleet}
## For benchmarks only

They switch off what Midcourse relies on, to measure what it is worth. No run of yours needs them.

{benchmarks}"""

SKILLS = """# What can be done in a browser

Written by `python docs/generate.py` from the skills of the [browser world](browser.md). A skill without 'on a zone' is used with
`zone = "__global__"`. After one that usually changes the screen, a plan looks again and plans the rest.

Whatever its class, nothing that a skill causes leaves the browser with an unsafe method before it was allowed: then the step becomes
irreversible and shows [that very request](../design/0007-what-leaves-the-browser.md).

{skills}
## Probes

They check whether an effect happened, in a hidden tab: `probe` of a step, or `done_when`.

{probes}"""


def skills_of(catalogue: Catalogue) -> str:
    rows = [
        "| skill | on a zone | arguments | class | changes the screen | undone by | |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*rows, *map(_skill, catalogue.skills), ""])


def _skill(skill: Skill) -> str:
    undo = f"`{skill.undo}`" if skill.undo else ""
    cells = (_yes(skill.on_zone), _arguments(skill.parameters), f"`{skill.effect}`", _yes(skill.transition), undo)
    return f"| `{skill.name}` | {' | '.join(cells)} | {skill.description} |"


def _arguments(parameters: tuple[Parameter, ...]) -> str:
    return "; ".join(map(_argument, parameters))


def _argument(parameter: Parameter) -> str:
    choices = " or ".join(f"`{choice}`" for choice in parameter.choices)
    said = ", ".join(filter(None, ("" if parameter.required else "optional", choices or parameter.description)))
    return f"`{parameter.name}`{f' ({said})' if said else ''}".replace("|", r"\|")


def _yes(it_is: bool) -> str:
    return "yes" if it_is else ""


def probes_of(catalogue: Catalogue) -> str:
    rows = [f"| `{one.name}` | {_arguments(one.parameters)} | {one.description} |" for one in catalogue.probes]
    return "\n".join(["| probe | arguments | |", "|---|---|---|", *rows, ""])


def pages() -> dict[Path, str]:
    browser = Browser("https://example.com").catalogue()
    return {
        DOCS / "browser-skills.md": SKILLS.format(skills=skills_of(browser), probes=probes_of(browser)),
        DOCS / "chart.md": chart_page(),
        DOCS / "scale.md": scale_page(),
        DOCS / "img" / "peers.svg": draw_peers(read_result("peers")),
        DOCS / "img" / "agentdojo.svg": draw_agentdojo(read_result("agentdojo")),
        DOCS / "state-diagram.md": DIAGRAM.format(diagram=mermaid(), table=table()),
        DOCS / "settings.md": SETTINGS.format(
            everyday=reference(Settings, Audience.EVERYDAY),
            preset_names=preset_names(),
            presets=presets(),
            advanced=reference(Settings, Audience.ADVANCED),
            fleet=reference(FleetSettings),
            benchmarks=reference(Settings, Audience.BENCHMARKS),
        ),
    }


def main() -> int:
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} is not current: run python docs/generate.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(pages()[path], encoding="utf-8")
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
