"""The database's address in the forms that clients need: `postgresql://user:password@host/database?sslmode=verify-full`.

libpq parses it, so that all of its parameters work: TLS, client certificates, several hosts, services, its `PG…` variables.
"""

import re
from urllib.parse import quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from midcourse.errors import TaskInvalid

CONNECT_SECONDS = 10
"""Seconds to wait for a server that does not answer, unless the URL sets another timeout."""
DRIVER = re.compile(r"^postgres(?:ql)?\+\w+(?=://)")
"""Matches the driver that SQLAlchemy names in the URL, which libpq does not understand."""
FORM = "postgresql://USER:PASSWORD@HOST/DATABASE, with special characters percent-encoded"
UNKNOWN = re.compile(r'^invalid (?:URI query parameter|connection option):? "(\w+)"')


def parse_address(url: str) -> dict[str, str]:
    """Return the parameters of libpq. Raise `TaskInvalid` if the URL cannot be read, without quoting it, since it may contain a password."""
    try:
        found = conninfo_to_dict(DRIVER.sub("postgresql", url))
    except psycopg.ProgrammingError as error:
        unknown = UNKNOWN.match(str(error))
        why = f"PostgreSQL has no parameter '{unknown[1]}'" if unknown else f"write it as {FORM}"
        raise TaskInvalid(f"the URL of the database cannot be read: {why}") from None
    given = {name: str(value) for name, value in found.items() if value is not None}
    return {"connect_timeout": str(CONNECT_SECONDS), **given}


def convert_for_libpq(url: str) -> str:
    return make_conninfo(**parse_address(url))


def label_address(url: str) -> str:
    """Return the URL as it may be shown, without password and keys: only where the database is and whether the connection is secured."""
    known = parse_address(url)
    hosts, ports = known.get("host", "").split(","), known.get("port", "").split(",")
    shown = {name: known[name] for name in ("service", "sslmode") if name in known}
    if hosts[0].startswith("/"):  # a folder with a socket
        place, shown = "", {"host": known["host"], **shown}
    else:
        pairs = zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=False)
        place = ",".join(f"{host}:{port}" if port else host for host, port in pairs)
    user = f"{quote(known['user'])}@" if "user" in known else ""
    asked = f"?{urlencode(shown)}" if shown else ""
    return f"postgresql://{user}{place}/{quote(known.get('dbname', ''))}{asked}"
