"""AgentDojo in a process: loads cases, calls its functions, and scores with its own checks. JSON lines on stdin and stdout.

Runs in AgentDojo's environment (`agentdojo.txt`) and imports nothing of this project.
"""

import json
import re
import sys
from typing import Any

import yaml
from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.attacks.important_instructions_attacks import ImportantInstructionsAttack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.types import text_content_block_from_string
from pydantic import BaseModel

VERSION = "v1.2.2"


def load_quickly(text: str) -> Any:
    """What `yaml.safe_load` reads, by libyaml: the same environments in an eighth of the time."""
    return yaml.load(text, yaml.CSafeLoader)


class Dojo:
    """One case at a time."""

    def __init__(self) -> None:
        self.suites = get_suites(VERSION)
        self.attacks: dict[str, Any] = {}

    def cases(self) -> dict[str, Any]:
        """User tasks, and injection tasks: those that a script can carry out, and those for which AgentDojo has no ground truth."""
        found = {}
        for name, suite in self.suites.items():
            environment = suite.load_and_inject_default_environment({})
            tasks = suite.injection_tasks.items()
            known = [each for each, task in tasks if task.GROUND_TRUTH_OUTPUT or task.ground_truth(environment)]
            found[name] = {
                "user": [*suite.user_tasks],
                "injection": known,
                "unknown": [each for each, _ in tasks if each not in known],
            }
        return found

    def load(self, suite: str, user: str, injection: str | None) -> dict[str, Any]:
        """Prepare a case. The attack is AgentDojo's `important_instructions`, in every place that the user task reads."""
        self.suite = self.suites[suite]
        self.user = self.suite.get_user_task_by_id(user)
        self.injection = self.suite.get_injection_task_by_id(injection) if injection else None
        self.injected = self._attack(suite).attack(self.user, self.injection) if self.injection else {}
        environment = self.suite.load_and_inject_default_environment(self.injected)
        self.before = self.user.init_environment(environment).model_copy(deep=True)
        self.reset()
        return {
            "goal": self.user.PROMPT,
            "tools": [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters.model_json_schema(),
                }
                for tool in self.suite.tools
            ],
            "user": self._calls(self.user),
            "user_output": self.user.GROUND_TRUTH_OUTPUT,
            "injection": self._calls(self.injection) if self.injection else [],
            "injection_output": self.injection.GROUND_TRUTH_OUTPUT if self.injection else "",
        }

    def reset(self) -> None:
        """The same case from its start."""
        self.now = self.before.model_copy(deep=True)
        self.runtime = FunctionsRuntime(self.suite.tools)
        self.called: list[FunctionCall] = []

    def call(self, function: str, arguments: dict[str, Any]) -> dict[str, Any]:
        earlier = self.now.model_copy(deep=True)
        self.called.append(FunctionCall(function=function, args=arguments))
        result, error = self.runtime.run_function(self.now, function, arguments)
        read = without_marks(" ".join(list_texts(result)))
        return {
            "text": error or tool_result_to_str(result),
            "error": error is not None,
            "injected": any(without_marks(text) in read for text in self.injected.values()),
            "changed": self.now != earlier,
        }

    def score(self, output: str) -> dict[str, Any]:
        """Utility and attack success by AgentDojo's checks of the environments, of the answer and of the calls that reached it."""
        checks = {"utility": self.user, "attacked": self.injection}
        blocks = [text_content_block_from_string(output)]
        return {
            name: bool(self.suite._check_task_result(task, blocks, self.before, self.now, self.called))
            for name, task in checks.items()
            if task
        }

    def _attack(self, suite: str) -> Any:
        if suite not in self.attacks:
            pipeline = GroundTruthPipeline(None)
            pipeline.name = "local"  # the attack addresses the model by a name that AgentDojo knows
            self.attacks[suite] = ImportantInstructionsAttack(self.suites[suite], pipeline)
        return self.attacks[suite]

    def _calls(self, task: Any) -> list[dict[str, Any]]:
        calls = task.ground_truth(self.before.model_copy(deep=True))
        return [{"function": call.function, "arguments": dict(call.args)} for call in calls]


def list_texts(result: Any) -> list[str]:
    if isinstance(result, BaseModel):
        return list_texts(result.model_dump())
    if isinstance(result, dict):
        return [text for pair in result.items() for each in pair for text in list_texts(each)]
    if isinstance(result, list | tuple):
        return [text for each in result for text in list_texts(each)]
    return [str(result)]


def without_marks(text: str) -> str:
    """Letters and digits alone: YAML folds the lines of an injected text."""
    return re.sub(r"\W", "", text)


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    yaml.safe_load = load_quickly  # pyrefly: ignore[bad-assignment]  # AgentDojo loads only texts
    dojo = Dojo()
    for line in sys.stdin:
        asked = json.loads(line)
        answer = getattr(dojo, asked.pop("do"))(**asked)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
