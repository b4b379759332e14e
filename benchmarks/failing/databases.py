"""Causes in databases: two of them, each by its own client and through libraries."""

from failing.program import Try, alchemy, psql, psycopg, py, pysqlite, sh, sqlite


def everywhere(sql: str) -> tuple[Try, ...]:
    """By every client of both."""
    return psql(sql), psycopg(sql), alchemy(sql), sqlite(sql), pysqlite(sql)


READ_ONLY = "import sqlite3; sqlite3.connect('file:shop.db?mode=ro', uri=True).execute(\"INSERT INTO customers VALUES (9, 'x')\")"
LOCKED = (
    "import sqlite3; a = sqlite3.connect('busy.db', isolation_level=None); a.execute('CREATE TABLE IF NOT EXISTS t (n)'); "
    "a.execute('BEGIN EXCLUSIVE'); b = sqlite3.connect('busy.db', timeout=0); b.execute('SELECT * FROM t')"
)
HELD = "import sqlite3, subprocess; a = sqlite3.connect('busy.db', isolation_level=None); a.execute('BEGIN EXCLUSIVE'); subprocess.run({0!r}, shell=True)"

CAUSES: dict[str, tuple[Try, ...]] = {
    "table does not exist": everywhere("SELECT * FROM invoices"),
    "column does not exist": everywhere("SELECT colour FROM customers"),
    "value is taken": everywhere("INSERT INTO customers VALUES (1, 'Ada')"),
    "value is missing": everywhere("INSERT INTO customers VALUES (8, NULL)"),
    "refers to nothing": everywhere("INSERT INTO orders VALUES (7, 4711, 1)"),
    "value breaks a rule": everywhere("INSERT INTO orders VALUES (7, 1, -5)"),
    "table exists already": everywhere("CREATE TABLE customers (id integer)"),
    "ambiguous column": everywhere("SELECT id FROM customers, orders"),
    "too few values": everywhere("INSERT INTO customers (id, name) VALUES (9)"),
    "database may only be read": (
        py(READ_ONLY, "python sqlite3"),
        sqlite("INSERT INTO customers VALUES (9, 'x')", "-readonly shop.db"),
        psql("BEGIN READ ONLY; INSERT INTO customers VALUES (9, 'x')"),
        psycopg("BEGIN READ ONLY; INSERT INTO customers VALUES (9, 'x')"),
    ),
    "somebody else holds a lock": (
        py(LOCKED, "python sqlite3"),
        py(HELD.format("sqlite3 busy.db 'SELECT * FROM t'"), "sqlite3"),
        psql("SELECT pg_advisory_lock(1)", '"$DATABASE&options=-clock_timeout%3D200"'),
        sh("touch repo/.git/index.lock; git -C repo commit -qam x; rm repo/.git/index.lock", "git"),
        sh(
            "flock -n held.lock true || flock -n -E 9 held.lock true; $PYTHON -c \"import fcntl; a = open('held.lock', 'w'); "
            "fcntl.flock(a, 2); b = open('held.lock', 'w'); fcntl.flock(b, 6)\"",
            "python fcntl",
        ),
    ),
    "database does not exist": (
        psql("SELECT 1", '"${DATABASE/shop/nowhere}"'),
        py("import os, psycopg; psycopg.connect(os.environ['DATABASE'].replace('shop', 'nowhere'))", "psycopg"),
        sh('dropdb -h "$PGFOLDER" -U postgres nowhere', "dropdb"),
        sh('pg_dump "${DATABASE/shop/nowhere}"', "pg_dump"),
        py(
            "import sqlite3; sqlite3.connect('file:nowhere.db?mode=ro', uri=True).execute('SELECT 1')", "python sqlite3"
        ),
    ),
    "took too long": (
        psql("SET statement_timeout = 50; SELECT pg_sleep(2)"),
        psycopg("SET statement_timeout = 50; SELECT pg_sleep(2)"),
        py("import subprocess; subprocess.run(['sleep', '5'], timeout=0.1)", "python subprocess"),
        sh("timeout -v 0.1 sleep 5", "timeout"),
    ),
}
