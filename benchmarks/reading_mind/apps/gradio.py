"""A ledger of ours in Gradio, which is what its users see."""

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.environments import install_environment
from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records

LOCK = SITES.parent / "locks" / "gradio.txt"


class Gradio(Application):
    name = "gradio"
    title = "Gradio"
    version = "6.31.0"

    @classmethod
    def install(cls) -> None:
        install_environment(LOCK)

    @classmethod
    def furnish(cls, data: Path) -> None:
        (data / "claims.jsonl").touch()

    def processes(self, url: str) -> Sequence[Process]:
        environment = {
            "LEDGER_DATA": str(self.data),
            "LEDGER_PORT": str(self.port),
            "GRADIO_ANALYTICS_ENABLED": "False",
            "GRADIO_TEMP_DIR": str(self.folder / "uploads"),
            "HF_HUB_OFFLINE": "1",
        }
        return [
            Process(
                [install_environment(LOCK) / "bin" / "python", SITES / "gradio" / "ledger.py"], self.folder, environment
            )
        ]

    def records(self) -> Records:
        return read_lines(self.data / "claims.jsonl", "claim")


def read_lines(path: Path, kind: str) -> Records:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {f"{kind}/{number}": json.loads(line) for number, line in enumerate(lines)}
