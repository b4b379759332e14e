"""Berths of a harbour in Streamlit, by a script of ours."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.environments import install_environment
from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records
from benchmarks.reading_mind.apps.gradio import read_lines

LOCK = SITES.parent / "locks" / "streamlit.txt"


class Streamlit(Application):
    name = "streamlit"
    title = "Streamlit"
    version = "1.67.0"
    opens = "/_stcore/health"

    @classmethod
    def install(cls) -> None:
        install_environment(LOCK)

    @classmethod
    def furnish(cls, data: Path) -> None:
        (data / "bookings.jsonl").touch()

    def processes(self, url: str) -> Sequence[Process]:
        options = {
            "server.address": "127.0.0.1",
            "server.port": str(self.port),
            "server.headless": "true",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        script = SITES / "streamlit" / "berths.py"
        serve = [install_environment(LOCK) / "bin" / "python", "-m", "streamlit", "run", script, *words]
        return [Process(serve, self.folder, {"BERTHS_DATA": str(self.data)})]

    def records(self) -> Records:
        return read_lines(self.data / "bookings.jsonl", "booking")
