"""compose.yaml starts a fleet in which a run succeeds."""

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.deploy.deployment import ROOT, Deployment


class Compose(Deployment):
    """The services of compose.yaml."""

    def __init__(self, folder: Path, database: str, temporal: str) -> None:
        super().__init__(folder, database, temporal)
        shutil.copy(ROOT / "compose.yaml", folder)
        self.elsewhere = {
            "/run/secrets": str(folder / "deploy/secrets"),
            "/run/midcourse": str(folder),
            "/accounts.sql": str(folder / "deploy/accounts.sql"),
            "=browser.executable=/usr/lib/chromium/chromium-headless-shell": "=browser.executable=chromium",
            **self.elsewhere,
        }

    def service(self, name: str) -> tuple[list[str], dict[str, str]]:
        service = yaml.safe_load((self.folder / "compose.yaml").read_text())["services"][name]
        settings = {key: self.here(value) for key, value in service["environment"].items()}
        return [self.here(word) for word in service["command"]], {**os.environ, **settings}

    def here(self, text: str) -> str:
        return super().here(re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: self.variables[found[1]], text))


@pytest.mark.slow
def test_fleet_carries_out_a_run(tmp_path: Path, empty_database: str, temporal: str) -> None:
    Compose(tmp_path, empty_database, temporal).carry_out_a_run()


@pytest.mark.slow
def test_accounts_are_made_by_the_file_that_the_service_reads() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["accounts"]
    assert service["volumes"] == ["./deploy/accounts.sql:/accounts.sql:ro"]
    assert service["command"][-2:] == ["--file", "/accounts.sql"]
