"""tau2's airline: its database, its tools, and the gold actions of its tasks. Runs in the environment of `tau2.txt`."""

import hashlib
import inspect
import json
from typing import Any

from inspect_ai.tool import ToolError
from inspect_evals.tau2.airline.AirlineAgentTools import AirlineAgentTools
from inspect_evals.tau2.airline.data_model import Flight, Reservation, User
from inspect_evals.tau2.utils import TAU2_DATA_DIR

FOLDER = TAU2_DATA_DIR / "domains" / "airline"
NOT_IN_THE_DATABASE = ("calculate", "transfer_to_human_agents")
"""Gold actions that tau2's own scorer skips."""
WRITES = (
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)
READS = (
    "get_flight_status",
    "get_reservation_details",
    "get_user_details",
    "list_all_airports",
    "search_direct_flight",
    "search_onestop_flight",
)


class Domain:
    writes = WRITES
    refusals = (ToolError,)

    def __init__(self) -> None:
        self._tools = AirlineAgentTools(instance="tasks")
        self._tools.initialize()
        self._kinds = {"flights": Flight, "users": User, "reservations": Reservation}
        self._before = {table: self._dump(table) for table in self._kinds}
        self._hashes: dict[str, str] = {}
        tasks = json.loads((FOLDER / "tasks.json").read_text(encoding="utf-8"))
        split = json.loads((FOLDER / "split_tasks.json").read_text(encoding="utf-8"))["base"]
        self._tasks = {task["id"]: task for task in tasks if task["id"] in split}

    def tasks(self) -> list[str]:
        return list(self._tasks)

    def gold(self, task: str) -> list[dict[str, Any]]:
        actions = self._tasks[task]["evaluation_criteria"]["actions"] or []
        return [
            {"tool": action["name"], "arguments": action["arguments"]}
            for action in actions
            if action["name"] not in NOT_IN_THE_DATABASE
        ]

    def start(self, task: str) -> None:
        """Restore the rows that changed: reading the whole database takes seconds."""
        for table, before in self._before.items():
            rows, now = getattr(self._tools.db, table), self._dump(table)
            for key in now.keys() - before.keys():
                del rows[key]
            for key, text in before.items():
                if now[key] != text:
                    rows[key] = self._kinds[table].model_validate_json(text)

    def _dump(self, table: str) -> dict[str, str]:
        return {key: row.model_dump_json() for key, row in getattr(self._tools.db, table).items()}

    def tools(self) -> list[dict[str, Any]]:
        return [describe(getattr(AirlineAgentTools, name)) for name in (*READS, *WRITES)]

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        answer = getattr(self._tools, tool)(**arguments)
        try:
            return json.loads(answer)
        except ValueError:
            return answer

    def state(self) -> str:
        """A digest of the whole database."""
        return hashlib.sha256(self._tools.db.model_dump_json().encode()).hexdigest()

    def verdict_state(self) -> str:
        """What tau2's scorer compares. It takes long, and many cases end with the same database."""
        state = self.state()
        if state not in self._hashes:
            self._hashes[state] = self._tools.db.get_hash()
        return self._hashes[state]


def describe(method: Any) -> dict[str, Any]:
    given = list(inspect.signature(method).parameters.values())[1:]
    return {
        "name": method.__name__,
        "description": (inspect.getdoc(method) or "").partition("\n")[0],
        "parameters": [
            {"name": parameter.name, "required": parameter.default is parameter.empty} for parameter in given
        ],
    }
