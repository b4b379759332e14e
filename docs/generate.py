"""Writes the generated pages.

From the code: the state diagram, the settings, and the skills of the browser. From kept results: the page about scale, and
charts, and the tables about other systems. From the Helm chart: its values.

python docs/generate.py            write them
python docs/generate.py --check    fail if they are not current
"""

import sys
from pathlib import Path

from chart_page import chart_page
from plots import draw_agentdojo, draw_drift, draw_tau2
from scale_page import scale_page
from scale_plots import draw_measured_growth, draw_needs
from settings_tables import preset_names, presets, reference
from state_diagram import build_mermaid, build_table
from unit_costs import read_result

from benchmarks.peer_systems.summary import format_overall, format_parts
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.config.variables import Audience
from midcourse.domain.skill import Catalogue, Parameter, Skill
from midcourse.worlds.browser import Browser

DOCS = Path(__file__).parent

DIAGRAM = """# What a run waits for

Written by `python docs/generate.py` from the transition table in `director/decide.py`. A run is always in one phase. The table lists, for each
phase, the events that the run waits for in it, and the phases that each event can lead to. Left out: every phase can also lead to `Paused` and
`Ended`, and accepts pause, resume, cancel, guidance and late answers.

{table}
```mermaid
{diagram}```
"""

SETTINGS = """# Settings

Written by `python docs/generate.py`. You can give a setting in these places. If you give it in several, the first place in this list wins:

1. on the command line (`--set max_calls=10`);
2. in the environment;
3. in a `.env` file;
4. under `[settings]` in a task file.

In Python, `Agent(settings=…)` sets them for every run of the agent. If a `Task` has its own `limits` or `agreement`, these override the agent's.

A variable whose name is nearly that of a setting, such as `MIDCOURSE_MAX_CALS`, is ignored with a warning.

`midcourse settings` shows the settings of the first table with their current values. With `--all` it shows all settings.

{everyday}
## The preset of recovery

`recovery` gives values to these settings: {preset_names}.

If you also give one of these settings itself, on the command line, in the environment or in a task file, it overrides the preset, wherever you gave
the preset. `midcourse settings --all` shows the values in effect. The presets differ in:

{presets}
## Advanced

Most runs need none of these.

{advanced}
## Settings of a fleet

These settings are for [fleets](fleets.md): where durable runs are stored and driven. You give them in the same places, except in a task file.
Values that `midcourse up` left in the home come last.

{fleet}
## For benchmarks only

These settings switch off mechanisms that Midcourse relies on, to measure what each of them is worth. You do not need them in your own runs.

{benchmarks}"""

SKILLS = """# Skills of the browser

Written by `python docs/generate.py` from the skills of the [browser world](browser.md), which are in `worlds/browser/skills.py`. Use a skill without 'on a zone' with
`zone = "__global__"`. After a skill that usually changes the screen, Midcourse looks again and plans the rest.

If a skill of any class causes a request with an unsafe method, the browser holds this request until it is allowed. The step then becomes
irreversible, and the question shows [exactly that request](../design/0007-unsafe-requests-of-the-browser-need-approval.md).

A planning model is shown texts on the screen whole as long as they are few, otherwise their first 300 characters and their length. What `read` or another skill returns is
shown whole as long as there is [room](../design/0043-results-stay-whole-in-the-ledger.md), and `read_more`, which no world needs to have, shows the rest. Up to 200,000 characters are kept.

{skills}
## Probes

A probe checks in a hidden tab whether an effect happened. Use it as the `probe` of a step or in `done_when`.

{probes}"""


def skills_of(catalogue: Catalogue) -> str:
    rows = [
        "| skill | on a zone | arguments | class | changes the screen | undone by | what it does |",
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
    return "\n".join(["| probe | arguments | what it checks |", "|---|---|---|", *rows, ""])


def peers_page() -> str:
    """The page with its tables, each between `<!-- name -->` and `<!-- name end -->`, from the kept results."""
    page = (DOCS / "peers.md").read_text(encoding="utf-8")
    for prefix, result in (("", "peers"), ("magentic ", "peers_magentic"), ("pretix ", "peers_pretix")):
        data = read_result(result)
        tables = {"overall": format_overall(data)} | {
            part: format_parts(data[part]) for part in ("faults", "wagtail", "erring") if data[part]
        }
        for name, shown in tables.items():
            begin, end = f"<!-- {prefix}{name} -->\n", f"\n<!-- {prefix}{name} end -->"
            before, marker, rest = page.partition(begin)
            assert marker, f"docs/peers.md has no place for {prefix}{name}"
            page = before + begin + shown + end + rest.partition(end)[2]
    return page


def drawings() -> dict[str, str]:
    return {
        "agentdojo": draw_agentdojo(read_result("agentdojo")),
        "drift": draw_drift(read_result("drift")),
        "scale-growth": draw_measured_growth(),
        "scale-needs": draw_needs(),
        "tau2": draw_tau2(read_result("tau2_airline"), read_result("tau2_bfcl")),
    }


def pages() -> dict[Path, str]:
    browser = Browser("https://example.com").catalogue()
    return {
        DOCS / "browser-skills.md": SKILLS.format(skills=skills_of(browser), probes=probes_of(browser)),
        DOCS / "chart.md": chart_page(),
        DOCS / "peers.md": peers_page(),
        DOCS / "scale.md": scale_page(),
        **{DOCS / "img" / f"{name}.svg": drawing for name, drawing in drawings().items()},
        DOCS / "state-diagram.md": DIAGRAM.format(diagram=build_mermaid(), table=build_table()),
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
