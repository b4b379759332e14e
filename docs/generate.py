"""Writes the pages that are drawn from the code: the state diagram and the settings.

python docs/generate.py            write them
python docs/generate.py --check    fail if they are not current
"""

import sys
from pathlib import Path

from midcourse.app.fleet_settings import FleetSettings
from midcourse.app.settings import reference
from midcourse.director.diagram import mermaid, table

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

{table}
## Of a fleet

Where durable runs are kept and driven ([fleets](fleets.md)). They are given in the same ways, but not in a task file; last comes
what `midcourse up` left in the home.

{fleet}"""


def pages() -> dict[Path, str]:
    return {
        DOCS / "state-diagram.md": DIAGRAM.format(diagram=mermaid(), table=table()),
        DOCS / "settings.md": SETTINGS.format(table=reference(), fleet=reference(FleetSettings)),
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
