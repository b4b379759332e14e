"""How to call a program so that it fails, and what it has to say about it."""

import re
import shlex
from dataclasses import dataclass

SCRATCH = "/srv/job"
"""What stands for the folder of the moment, in every message that is kept."""
LONGEST = 400


OTHERS = {
    "absent": "report-2291",
    "frobnicate": "widgetise",
    "Frobnicate": "Widgetise",
    "nowhere": "harbour",
    "summarise": "collate",
    "total": "balance",
    "three": "seven",
    "shop.invalid": "depot-7.invalid",
    "invoices": "shipments",
    "colour": "weight",
    "4000000": "3999999",
    "nemo": "ahab",
    "2026-02-31": "2027-11-31",
    "4711": "9922",
    "9999999999": "8888888888",
}
_NAMES = re.compile("|".join(map(re.escape, OTHERS)))


@dataclass(frozen=True)
class Try:
    """`program` is who speaks; `command` a line for bash, in a folder that `workshop.py` has furnished."""

    program: str
    command: str

    @property
    def elsewhere(self) -> str:
        """The same with other names and numbers, as far as nobody has to make anything for them first."""
        return _NAMES.sub(lambda found: OTHERS[found[0]], self.command)


def sh(command: str, program: str = "") -> Try:
    return Try(program or command.split()[0], command)


def py(code: str, library: str = "") -> Try:
    return Try(library or "python", f"$PYTHON -c {shlex.quote(code)}")


def node(code: str) -> Try:
    return Try("node", f"node -e {shlex.quote(code)}")


def perl(code: str) -> Try:
    return Try("perl", f"perl -e {shlex.quote(code)}")


def ruby(code: str) -> Try:
    return Try("ruby", f"ruby -e {shlex.quote(code)}")


def php(code: str) -> Try:
    return Try("php", f"php -d display_errors=stderr -r {shlex.quote(code)}")


def lua(code: str) -> Try:
    return Try("lua", f"lua5.4 -e {shlex.quote(code)}")


def tcl(code: str) -> Try:
    return Try("tcl", f"printf %s {shlex.quote(code)} > t.tcl; tclsh t.tcl")


def java(body: str, flags: str = "") -> Try:
    source = f"import java.io.*; import java.net.*; import java.util.*; public class T {{ {body} }}"
    return Try("java", f"printf %s {shlex.quote(source)} > T.java; java {flags} T.java")


def main(statements: str, flags: str = "") -> Try:
    """Java's, with these statements in it."""
    return java(f"public static void main(String[] a) throws Exception {{ {statements} }}", flags)


def c(code: str, flags: str = "") -> Try:
    return Try("gcc", f"printf %s {shlex.quote(code)} > t.c; gcc {flags} t.c -o t.out && ./t.out")


def rust(code: str) -> Try:
    return Try("rust", f"printf %s {shlex.quote(code)} > t.rs; rustc -A warnings t.rs -o t.rust && ./t.rust")


def psql(sql: str, database: str = "$DATABASE") -> Try:
    return Try("psql", f"psql -X -q -v ON_ERROR_STOP=1 {database} -c {shlex.quote(sql)}")


def psycopg(sql: str) -> Try:
    code = f"import os, psycopg; psycopg.connect(os.environ['DATABASE'], autocommit=True).execute({sql!r})"
    return py(code, "psycopg")


def alchemy(sql: str) -> Try:
    code = "import os, sqlalchemy as s; e = s.create_engine(os.environ['DATABASE'].replace('postgresql', 'postgresql+psycopg', 1))\n"
    return py(code + f"with e.begin() as c: c.execute(s.text({sql!r}))", "sqlalchemy")


def sqlite(sql: str, file: str = "shop.db") -> Try:
    return Try("sqlite3", f"sqlite3 {file} {shlex.quote('PRAGMA foreign_keys = ON; ' + sql)}")


def pysqlite(sql: str, file: str = "shop.db") -> Try:
    code = f"import sqlite3; d = sqlite3.connect({file!r}); d.execute('PRAGMA foreign_keys = ON'); d.execute({sql!r})"
    return py(code, "python sqlite3")


def web(url: str, wait: int = 3000) -> Try:
    """A page that a browser does not get to see. Run by `browser.py`, all in one browser."""
    return Try("chromium", f"browser {url} {wait}")


# --- what was said

_THROWN = re.compile(
    r"(?:Uncaught )?(?:Exception in thread \S+ )?(?:Caused by: )?[\w.$]*(?:Error|Exception)\b.*|FATAL ERROR: .*"
)
_NOISE = re.compile(
    r"Note: |note: |.*: note: |\s*\d* \||\s*-->|\s*= |npm (ERR!|error) (A complete log|$)|usage:|Usage:|Try |See |hint:|Processing |"
    r"compilation terminated|error: aborting due|error: compilation failed|\d+ errors?|jq: \d|stack traceback|\s*\^|Looking in|"
    r"PHP |Stack trace|#\d|\s+thrown in|\s*at |\t|For more information|To see |collect2:|\s+from |LINE \d|Using CPython|Archive: |"
    r"Options:|or see the|Use |Options|import java|.*: In function|Execution of -e aborted|BEGIN failed|More details here|-e:\d+:in .*require'"
)


def gist(program: str, said: str, folder: str) -> str:
    """The message without its stack, and without the machine it came from."""
    lines = [line.rstrip() for line in said.replace(folder, SCRATCH).splitlines() if line.strip()]
    if any(line.startswith("Traceback") for line in lines):
        last = max((n for n, line in enumerate(lines) if line.startswith("  File ")), default=0)
        lines = [line for line in lines[last:] if not line.startswith(" ")]
    elif program == "node" or any("Exception in thread" in line for line in lines):
        thrown = [line for line in lines if _THROWN.fullmatch(line)]
        lines = thrown[:1] or lines
    elif program in ("tcl", "ruby"):
        lines = lines[:1]
    kept = [line for line in lines if not _NOISE.match(line)] or lines
    return "\n".join(kept[:3])[:LONGEST].strip()
