"""One task while another system carries it out: the same application, model server, commands and judge, in a folder of its own."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import ROOT
from benchmarks.peer_systems.node_packages import find_node, install_packages
from benchmarks.peer_systems.systems import SYSTEMS, System, find_chromium
from benchmarks.reading_mind.model_server import find_form
from benchmarks.reading_mind.session import ANSWERED, Json, Session, read_request

STEPS = 50
"""Calls of the model after which a system stops."""


@dataclass(frozen=True)
class Opponent:
    """A system of the comparison with one scripted model, whose environment is used here too."""

    system: System
    arm: str
    role: str
    """Of the requests that ask what to do next; browser-use has others, which read a page."""
    settings: str

    def install(self) -> Path:
        """Install its environment, and what it takes from npm, unless they are there."""
        if self.system.uses_node:
            install_packages(self.system.home)
        return self.system.find_python()

    @property
    def versions(self) -> dict[str, str]:
        packages = self.system.home / "package.json"
        more = json.loads(packages.read_text(encoding="utf-8"))["dependencies"] if self.system.uses_node else {}
        return {**self.system.read_versions(), **more}


OPPONENTS = {
    "browser-use": Opponent(
        system=SYSTEMS["browser-use"],
        arm="with_browser_use",
        role="agent_output",
        settings=f"Agent with its defaults, {STEPS} steps, sensitive_data, available_file_paths, its documentation's ask_human; no pictures, no judge",
    ),
    "playwright-mcp": Opponent(
        system=SYSTEMS["pydantic-ai"],
        arm="with_playwright_mcp",
        role="",
        settings=f"pydantic-ai's Agent with the server's tools as MCPToolset, {STEPS} requests, --secrets, --image-responses omit, --timeout-action 30000",
    ),
}


@dataclass(frozen=True)
class OpponentSession(Session):
    """The system's own program runs in the terminal; its end is what it says, and the effects are those in the application's records."""

    @property
    def name(self) -> str:
        return f"{self.task.id} --with {self.opponent_name}"

    @property
    def planner_roles(self) -> tuple[str, ...]:
        return (self.opponent.role,)

    @property
    def opponent(self) -> Opponent:
        return OPPONENTS[self.opponent_name]

    def _make_command(self) -> tuple[list[str], dict[str, str]]:
        system, files = self.opponent.system, self.folder / "files"
        files.mkdir(exist_ok=True)
        secrets_file = self.folder / "secrets.env"
        lines = [f'x_{name}="{value}"\n' for name, value in self.task.secrets.items()]
        secrets_file.write_text("".join(lines), encoding="utf-8")
        job = {
            "goal": self.task.goal,
            "url": self._known["url"] + self.task.at,
            "inputs": dict(self.task.inputs),
            "secrets": dict(self.task.secrets),
            "secrets_file": str(secrets_file),
            "files": [str(files / name) for name in self.task.files],
            "outputs": [output.partition(":")[0] for output in self.task.outputs],
            "folder": str(files),
            "model": self._known["model_url"],
            "chromium": find_chromium(),
            "steps": STEPS,
            **({"node": find_node(), "packages": str(install_packages(system.home))} if system.uses_node else {}),
        }
        (self.folder / "job.json").write_text(json.dumps(job, ensure_ascii=False), encoding="utf-8")
        words = [str(system.find_python()), "-m", f"{__package__}.{self.opponent.arm}", "job.json"]
        return words, {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}

    def stop(self) -> None:
        """End the system's program too, with its browser."""
        with suppress(FileNotFoundError, psutil.NoSuchProcess):
            program = psutil.Process(int((self.folder / "pid").read_text()))
            if program.cwd() == str(self.folder):
                for process in [*program.children(recursive=True), program]:
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
        super().stop()

    @staticmethod
    def _is_answered(question: Json) -> bool:
        return any(question["typed"])

    def _read_result(self) -> str:
        path = self.folder / "result.json"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _describe_run(self) -> Json:
        versions = ", ".join(f"{name} {version}" for name, version in self.opponent.versions.items())
        return {
            "with": self.opponent_name,
            "versions": versions,
            "settings": self.opponent.settings,
            "answered": ANSWERED,
        }

    def _fill(self, event: Json) -> Json:
        """Without what an earlier request began with too: these systems send all that happened with each request."""
        filled = super()._fill(event)
        if event["kind"] != "exchange":
            return filled
        base = self.folder / "calls" / event["call"]
        shown, earlier = base.with_suffix(".txt").read_text(encoding="utf-8"), self._find_earlier(base)
        if earlier is not None:
            like, same = earlier
            filled["begins_like"] = {"call": int(like.name), "lines": same}
            shown = "".join(shown.splitlines(keepends=True)[same:])
            if find_form(read_request(like)).get("schema", {}) == filled["schema"]:
                filled["schema"] = "as before"
        return {**filled, "asked": shown}
