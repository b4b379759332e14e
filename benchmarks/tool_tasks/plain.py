"""A plain loop: calls one tool after the other, and calls again after a time-out. If it is killed, it begins again.

With `checks`, it first asks the tool's probe, and makes no call whose effect it finds.
"""

import runpy
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CLIENT = runpy.run_path(str(FOLDER / "client.py"))
PROBES = runpy.run_path(str(FOLDER / "probes.py"))["PROBES"]
TRIES = 3


async def run(job: dict[str, Any]) -> dict[str, Any]:
    client = CLIENT["Client"](job["socket"])
    finished = [carry_out(client, call, PROBES if job["checks"] else {}) for call in job["calls"]]
    client.close()
    return {"finished": all(finished), "reason": ""}


def carry_out(client: Any, call: dict[str, Any], probes: dict[str, Any]) -> bool:
    """Whether the tool answered. A refusal is an answer."""
    for _ in range(TRIES):
        try:
            client.call_unless(probes.get(call["tool"]), **call)
        except CLIENT["Refused"]:
            return True
        except TimeoutError:
            continue
        return True
    return False
