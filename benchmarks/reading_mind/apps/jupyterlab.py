"""JupyterLab over a folder of files."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.environments import install_environment
from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records, read_files

LOCK = SITES.parent / "locks" / "jupyterlab.txt"
_SHIPS = ("Albatros", "Bora", "Cormoran", "Dolfin", "Estrella", "Fram", "Gunilla", "Hela")


class JupyterLab(Application):
    name = "jupyterlab"
    title = "JupyterLab"
    version = "4.6.6"
    opens = "/lab"

    @classmethod
    def install(cls) -> None:
        install_environment(LOCK)

    @classmethod
    def furnish(cls, data: Path) -> None:
        files = data / "files"
        (files / "reports").mkdir(parents=True)
        (files / "notes.md").write_text("# Notes\n\n- Paint the buoys\n- Order rope\n", encoding="utf-8")
        rows = "".join(f"{name},{11 + 7 * place % 19},{230 + 97 * place % 410}\n" for place, name in enumerate(_SHIPS))
        (files / "reports" / "tonnage.csv").write_text("ship,calls,tonnes\n" + rows, encoding="utf-8")
        for year in (2024, 2025):
            (files / "reports" / f"draft-{year}.txt").write_text(
                f"What is to be said about {year}.\n", encoding="utf-8"
            )

    def processes(self, url: str) -> Sequence[Process]:
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": str(self.port),
            "ServerApp.port_retries": "0",
            "ServerApp.open_browser": "False",
            "ServerApp.root_dir": str(self.data / "files"),
            "ServerApp.allow_root": "True",
            "ServerApp.password": "",
            "IdentityProvider.token": "",
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.news_url": "None",
        }
        own = {f"JUPYTER_{name}_DIR": str(self.folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
        words = [f"--{name}={value}" for name, value in options.items()]
        environment = {
            **own,
            "JUPYTERLAB_SETTINGS_DIR": str(self.folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.folder / "spaces"),
        }
        return [
            Process(
                [install_environment(LOCK) / "bin" / "python", "-m", "jupyterlab", *words], self.folder, environment
            )
        ]

    def records(self) -> Records:
        found = read_files(self.data / "files", "file")
        return {
            key: {**value, "path": key.removeprefix("file/")}
            for key, value in found.items()
            if ".ipynb_checkpoints" not in key
        }
