"""Makes `messages.json`: runs every program into every cause and writes down what it had to say.

    python benchmarks/failing/collect.py             as root, on Debian 12 with: gcc make cmake default-jdk-headless rustc nodejs
                                                     npm perl ruby php-cli lua5.4 tcl gawk jq bc sqlite3 git curl wget openssl
                                                     openssh-client gnupg zip unzip xz-utils netcat-openbsd libxml2-utils
                                                     postgresql-client chromium

What fails to fail, or says nothing, is listed and left out.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from failing import data, databases, files, languages, network, tools
from failing.browser import visit
from failing.program import Try, gist
from failing.strangers import STRANGERS
from failing.workshop import SQL, run, workshop

PYTHON = "/usr/bin/python3"
"""Not ours: programs run as somebody who may not be let into our folders."""
OURS = ("rust", "uv", "psql", "psycopg", "sqlalchemy", "pg_dump", "dropdb")
"""Programs that are installed for ourselves only, or whose server is."""
MESSAGES = Path(__file__).parent / "messages.json"
CAUSES = files.CAUSES | network.CAUSES | languages.CAUSES | data.CAUSES | databases.CAUSES | tools.CAUSES


def collect(folder: Path, database: str) -> dict[str, object]:
    import psycopg

    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("CREATE DATABASE shop")
    shop = database.replace("/postgres?", "/shop?")
    with psycopg.connect(shop) as owner:
        owner.execute(SQL.encode())
    with psycopg.connect(shop, autocommit=True) as holder, workshop(folder) as env:
        holder.execute("SELECT pg_advisory_lock(1)")
        env |= {
            "DATABASE": shop,
            "PGFOLDER": database.partition("host=")[2].replace("%2F", "/"),
            "PYTHON": PYTHON,
            "PYTHONPATH": next(path for path in sys.path if path.endswith("site-packages")),
        }
        known = {cause: _all(tries, folder, env) for cause, tries in CAUSES.items()}
        return {"causes": known, "strangers": _all(STRANGERS, folder, env, twice=False)}


def _all(tries: tuple[Try, ...], folder: Path, env: dict[str, str], *, twice: bool = True) -> list[dict[str, str]]:
    """What each had to say, and what it said of other names the next time."""
    first = _said(tries, [one.command for one in tries], folder, env)
    again = _said(tries, [one.elsewhere for one in tries], folder, env) if twice else first
    return [
        {"program": one.program, "message": message} | ({"again": other} if twice else {})
        for one, message, other in zip(tries, first, again, strict=True)
        if message and other
    ]


def _said(tries: tuple[Try, ...], commands: list[str], folder: Path, env: dict[str, str]) -> list[str]:
    pages = [command for one, command in zip(tries, commands, strict=True) if one.program == "chromium"]
    seen = dict(zip(pages, visit(pages, env), strict=True)) if pages else {}
    messages: list[str] = []
    for one, command in zip(tries, commands, strict=True):
        said = seen[command] if command in seen else run(command, folder, env, ourselves=one.program in OURS)
        message = _anonymous(gist(one.program, said.replace(env["PGFOLDER"], "/run/postgresql"), str(folder)))
        print(f"{one.program:18} {message!r}"[:180] if message else f"NOTHING {one.program}: {command}", flush=True)
        messages.append(message)
    return messages


def _anonymous(message: str) -> str:
    for ours, theirs in ((sys.prefix, "/usr"), (str(Path.home()), "/home/ann"), (os.uname().nodename, "machine")):
        message = message.replace(ours, theirs)
    return message


def main() -> None:
    from midcourse.store.postgres import development

    with tempfile.TemporaryDirectory() as server, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        try:
            found = collect(Path(folder), development.start(Path(server) / "postgres"))
        finally:
            development.remove(Path(server) / "postgres")
    MESSAGES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
