"""The database URL in the forms that clients need: `postgresql://user:password@host/database`."""

from sqlalchemy import URL, make_url

CONNECT_SECONDS = 10
"""How long to wait for a server that does not answer, unless the URL says otherwise."""


def for_libpq(url: str) -> str:
    return _patient(url).set(drivername="postgresql").render_as_string(hide_password=False)


def for_sqlalchemy(url: str) -> URL:
    return _patient(url).set(drivername="postgresql+psycopg")


def _patient(url: str) -> URL:
    parsed = make_url(url)
    if "connect_timeout" in parsed.query:
        return parsed
    return parsed.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
