"""pretix with two events."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.environments import install_environment
from benchmarks.llm.pretix_decisions import SHOP
from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records, read_rows
from benchmarks.web_apps.pretix import application as pretix


class Pretix(Application):
    name = "pretix"
    title = "pretix"
    version = "2026.8.0"
    opens = SHOP

    @classmethod
    def install(cls) -> None:
        install_environment(pretix.HERE / "pretix.txt")

    @classmethod
    def furnish(cls, data: Path) -> None:
        shutil.copytree(pretix.furnish(), data, dirs_exist_ok=True)
        environment = {**pretix.make_environment(data, "http://127.0.0.1"), "PYTHONPATH": str(pretix.SITE)}
        subprocess.run(
            [pretix.find_python(), SITES / "pretix" / "furnish_more.py"], cwd=pretix.SITE, env=environment, check=True
        )

    def processes(self, url: str) -> Sequence[Process]:
        return [
            Process(
                [pretix.find_python(), "serve.py", str(self.port)], pretix.SITE, pretix.make_environment(self.data, url)
            )
        ]

    def records(self) -> Records:
        orders = (
            "SELECT o.id, o.email, o.status, printf('%.2f', o.total) AS total, e.slug AS event, "
            "(SELECT group_concat(iif(json_valid(i.name), json_extract(i.name, '$.en'), i.name), ', ') FROM pretixbase_orderposition p JOIN pretixbase_item i "
            "ON i.id = p.item_id WHERE p.order_id = o.id AND NOT p.canceled) AS tickets, "
            "(SELECT count(*) FROM pretixbase_orderposition p WHERE p.order_id = o.id AND NOT p.canceled) AS places "
            "FROM pretixbase_order o JOIN pretixbase_event e ON e.id = o.event_id"
        )
        return read_rows(self.data / "db.sqlite3", "order", orders)
