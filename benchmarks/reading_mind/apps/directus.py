"""Directus 11 from npm, on SQLite, with a collection of products."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.request import Request, urlopen

from benchmarks.harness.environments import CACHE, make_once
from benchmarks.reading_mind.apps.application import Application, Process, Records, read_rows

USER, PASSWORD = "ada@example.org", "only-for-loopback-14"
PACKAGES = {"directus": "11.17.4", "sqlite3": "5.1.7"}
FOLDER = CACHE / f"directus-{PACKAGES['directus']}"
PRODUCTS = (
    ("Brass lantern", 44.0, 12), ("Oak bucket", 18.5, 0), ("Tarred rope, 20 m", 27.9, 40), ("Signal flags", 63.0, 0),
    ("Deck brush", 9.9, 25), ("Ship's bell", 119.0, 3), ("Sextant", 389.0, 0), ("Cork fender", 14.2, 61),
)  # fmt: skip


class Directus(Application):
    name = "directus"
    title = "Directus"
    version = "11.17.4"
    opens = "/server/ping"

    @classmethod
    def install(cls) -> None:
        with make_once(FOLDER) as missing:
            if missing:
                FOLDER.mkdir()
                (FOLDER / "package.json").write_text(json.dumps({"private": True, "dependencies": PACKAGES}))
                subprocess.run(
                    ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], cwd=FOLDER, check=True
                )
                # npm 11.19 asks before it runs what builds native parts; older ones ran it above.
                subprocess.run(["npm", "install-scripts", "approve", "--all"], cwd=FOLDER, check=False)
                subprocess.run(["npm", "rebuild", "sqlite3", "isolated-vm", "argon2"], cwd=FOLDER, check=False)

    @classmethod
    def furnish(cls, data: Path) -> None:
        bootstrap = [*_PROGRAM, "bootstrap"]
        subprocess.run(bootstrap, cwd=data, env={**os.environ, **_environment(data, 0, "http://127.0.0.1")}, check=True)
        application = cls(data)
        (data / "data").symlink_to(".")
        url = f"http://127.0.0.1:{application.port}"
        with application.run(url):
            session = _call(f"{url}/auth/login", {"email": USER, "password": PASSWORD})["data"]["access_token"]
            fields = [
                {
                    "field": "id",
                    "type": "integer",
                    "schema": {"is_primary_key": True, "has_auto_increment": True},
                    "meta": {"hidden": True},
                },
                {"field": "name", "type": "string", "schema": {}, "meta": {"interface": "input", "required": True}},
                {"field": "price", "type": "float", "schema": {}, "meta": {"interface": "input"}},
                {"field": "stock", "type": "integer", "schema": {}, "meta": {"interface": "input"}},
            ]
            _call(
                f"{url}/collections",
                {"collection": "products", "schema": {}, "meta": {"icon": "sell"}, "fields": fields},
                session,
            )
            for name, price, stock in PRODUCTS:
                _call(f"{url}/items/products", {"name": name, "price": price, "stock": stock}, session)
        (data / "data").unlink()

    def processes(self, url: str) -> Sequence[Process]:
        return [Process([*_PROGRAM, "start"], self.data, _environment(self.data, self.port, url))]

    def records(self) -> Records:
        database = self.data / "directus.sqlite3"
        return {
            **read_rows(database, "product", "SELECT id, name, price, stock FROM products"),
            **read_rows(database, "role", "SELECT id, name, description FROM directus_roles"),
            **read_rows(database, "policy", "SELECT id, name FROM directus_policies"),
            **read_rows(database, "user", "SELECT id, email, first_name, status, role FROM directus_users"),
            **read_rows(database, "file", "SELECT id, title, filename_download, filesize FROM directus_files"),
        }


_PROGRAM = ("node", FOLDER / "node_modules" / "directus" / "cli.js")


def _environment(data: Path, port: int, url: str) -> dict[str, str]:
    return {
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "PUBLIC_URL": url,
        "KEY": "only-for-loopback",
        "SECRET": "only-for-loopback-and-long-enough-for-it",
        "DB_CLIENT": "sqlite3",
        "DB_FILENAME": str(data / "directus.sqlite3"),
        "ADMIN_EMAIL": USER,
        "ADMIN_PASSWORD": PASSWORD,
        "STORAGE_LOCAL_ROOT": str(data / "uploads"),
        "EXTENSIONS_PATH": str(data / "extensions"),
        "TELEMETRY": "false",
        "LOG_LEVEL": "warn",
        "CACHE_ENABLED": "false",
    }


def _call(url: str, body: Mapping[str, object], session: str = "") -> dict[str, dict[str, str]]:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {session}"} if session else {})}
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=60) as answer:
        return json.loads(answer.read() or b"{}")
