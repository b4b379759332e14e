"""pretix in a separate environment, on loopback, and what its database records."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.environments import CACHE, install_environment, make_once
from benchmarks.llm.decisions import CONCERT
from benchmarks.llm.pretix_decisions import CUSTOMER, SHOP
from benchmarks.web_apps.wagtail.application import find_free_port, has_answer

HERE = Path(__file__).parent
SITE = HERE / "site"
PASSWORD = "only-for-loopback-8"
TICKET = "Day ticket"
STARTS_WITHIN = 120.0


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The orders in the database."""

    orders: int
    """Orders of the customer's e-mail address, paid or pending, with exactly one ticket."""
    others: int
    """All other orders."""


class Application:
    """One shop with its own database: a copy of one that was made and furnished at first use."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        shutil.copytree(furnish(), self._data)
        self.address = ("127.0.0.1", find_free_port())

    @contextmanager
    def run(self, url: str) -> Generator[None]:
        """Run the shop for visitors who open it at this address."""
        host, port = self.address
        process = subprocess.Popen(
            [find_python(), "serve.py", str(port)],
            cwd=SITE,
            env=make_environment(self._data, url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + STARTS_WITHIN
            while not has_answer(f"http://{host}:{port}{SHOP}"):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("pretix did not start")
            yield
        finally:
            process.terminate()
            process.wait()

    def truth(self) -> Truth:
        with closing(sqlite3.connect(f"file:{self._data / 'db.sqlite3'}?mode=ro", uri=True)) as database:
            orders = database.execute(
                "SELECT o.email, count(p.id) FROM pretixbase_order o LEFT JOIN pretixbase_orderposition p "
                "ON p.order_id = o.id AND NOT p.canceled WHERE o.status IN ('n', 'p') GROUP BY o.id"
            ).fetchall()
        right = sum(order == (CUSTOMER, 1) for order in orders)
        return Truth(orders=right, others=len(orders) - right)


def furnish() -> Path:
    """Return the folder of data that every shop begins with."""
    folder = CACHE / f"pretix-data-{_digest()}"
    with make_once(folder) as missing:
        if missing:
            folder.mkdir()
            subprocess.run(
                [find_python(), "furnish.py", CUSTOMER, PASSWORD, TICKET, CONCERT],
                cwd=SITE,
                env=make_environment(folder, "http://127.0.0.1"),
                check=True,
            )
    return folder


def find_python() -> Path:
    return install_environment(HERE / "pretix.txt") / "bin" / "python"


def make_environment(data: Path, url: str) -> dict[str, str]:
    return {
        **os.environ,
        "DATA_DIR": str(data),
        "PRETIX_PRETIX_URL": url,
        "PRETIX_CONFIG_FILE": str(data / "none.cfg"),
        "DJANGO_SETTINGS_MODULE": "shop_settings",
        "PYTHONPYCACHEPREFIX": str(CACHE / "bytecode"),
    }


def _digest() -> str:
    """Return a digest of everything that the furnished database depends on."""
    digest = hashlib.blake2b("\n".join((CUSTOMER, PASSWORD, TICKET, CONCERT)).encode(), digest_size=6)
    for path in (HERE / "pretix.txt", SITE / "furnish.py", SITE / "shop_settings.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()
