"""Every monitor that ships takes whatever it is shown."""

import asyncio

from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.monitor import ModelMonitor
from midcourse.ports.monitor import Monitor, Rules
from midcourse.testing import ScriptedMonitor
from midcourse.testing.conformance.monitor import CONTEXTS, NEW, MonitorConformance
from tests.llm.scripted import ScriptedModel


class TestRules(MonitorConformance):
    def make_monitor(self) -> Monitor:
        return Rules()


class TestScriptedMonitor(MonitorConformance):
    def make_monitor(self) -> Monitor:
        return ScriptedMonitor("", "It goes round")


class TestModelMonitor(MonitorConformance):
    def make_monitor(self) -> Monitor:
        return ModelMonitor(ModelClient([ScriptedModel([{"problem": "none"}] * 20).model], answer_tokens=500))


def test_the_script_is_followed_and_then_there_is_silence() -> None:
    monitor = ScriptedMonitor("one", "", "three")
    said = [asyncio.run(monitor.review(NEW)).advice for _ in range(4)]
    assert [one.says if one else "" for one in said] == ["one", "", "three", ""]
    assert monitor.contexts == [NEW] * 4


def test_rules_report_steps_without_progress() -> None:
    found = asyncio.run(Rules().review(CONTEXTS[2]))
    assert found.advice is not None
    assert found.advice.problem == "no_progress", "half of it failed, and nothing of it is new"
