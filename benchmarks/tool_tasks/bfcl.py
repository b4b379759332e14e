"""BFCL's trading, ticket and message systems, and the gold calls of its tasks of several turns. Runs in the environment of `bfcl.txt`."""

import ast
import copy
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import bfcl_eval
from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING

SYSTEMS = ("TradingBot", "TicketAPI", "MessageAPI")
WRITES = (
    "add_contact",
    "add_to_watchlist",
    "cancel_order",
    "close_ticket",
    "create_ticket",
    "delete_message",
    "edit_ticket",
    "fund_account",
    "logout",
    "message_login",
    "place_order",
    "remove_stock_from_watchlist",
    "resolve_ticket",
    "send_message",
    "ticket_login",
    "trading_login",
    "trading_logout",
    "withdraw_funds",
)
DATA = Path(str(bfcl_eval.__file__)).parent / "data"
SET = "BFCL_v4_multi_turn_base.json"


class CallRefused(Exception):
    """A tool answered with an error."""


class Domain:
    writes = WRITES
    refusals = (CallRefused,)

    def __init__(self) -> None:
        self._classes = {
            name: getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name) for name in SYSTEMS
        }
        self._methods = {
            method: (system, found)
            for system, kind in self._classes.items()
            for method, found in inspect.getmembers(kind, inspect.isfunction)
            if not method.startswith("_")
        }
        entries = {entry["id"]: entry for entry in read_lines(DATA / SET)}
        self._tasks = {name: entry for name, entry in entries.items() if set(entry["involved_classes"]) <= set(SYSTEMS)}
        self._answers = {entry["id"]: entry["ground_truth"] for entry in read_lines(DATA / "possible_answer" / SET)}

    def tasks(self) -> list[str]:
        """Tasks of the set `multi_turn_base` that use no other system than these three."""
        return list(self._tasks)

    def gold(self, task: str) -> list[dict[str, Any]]:
        return [self._parse(call) for turn in self._answers[task] for call in turn]

    def start(self, task: str) -> None:
        entry = self._tasks[task]
        self._systems = {name: self._classes[name]() for name in entry["involved_classes"]}
        for name, system in self._systems.items():
            system._load_scenario(copy.deepcopy(entry["initial_config"].get(name, {})))

    def tools(self) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "description": (inspect.getdoc(method) or "").strip().partition("\n")[0],
                "parameters": [
                    {"name": parameter.name, "required": parameter.default is parameter.empty}
                    for parameter in list(inspect.signature(method).parameters.values())[1:]
                ],
            }
            for name, (system, method) in self._methods.items()
            if system in self._systems
        ]

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        system, _ = self._methods[tool]
        answer = copy.deepcopy(getattr(self._systems[system], tool)(**arguments))
        if error := find_error(answer):
            raise CallRefused(error)
        return answer

    def state(self) -> str:
        return self.verdict_state()

    def verdict_state(self) -> str:
        """What BFCL's `state_checker` compares: every attribute that is not private."""
        public = {
            name: {key: value for key, value in vars(system).items() if not key.startswith("_")}
            for name, system in self._systems.items()
        }
        return repr(sort_keys(public))

    def _parse(self, text: str) -> dict[str, Any]:
        """Read a call that BFCL writes as Python. All its arguments are literals."""
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        _, method = self._methods[call.func.id]
        names = list(inspect.signature(method).parameters)[1:]
        arguments = {name: ast.literal_eval(value) for name, value in zip(names, call.args, strict=False)}
        arguments |= {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
        return {"tool": call.func.id, "arguments": arguments}


def read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def sort_keys(value: Any) -> Any:
    """Return a value of which equal ones have the same text. BFCL mixes numbers and texts as keys."""
    if isinstance(value, dict):
        return sorted((repr(key), sort_keys(each)) for key, each in value.items())
    if isinstance(value, list):
        return [sort_keys(each) for each in value]
    return sorted(value) if isinstance(value, set) else value


def find_error(answer: Any) -> str:
    """Return the error that a tool answered with, in any of BFCL's three forms, or an empty string."""
    first = answer[0] if isinstance(answer, list) and answer else answer
    if isinstance(first, dict):
        return str(first.get("error", ""))
    return first if isinstance(first, str) and first.startswith("Error") else ""
