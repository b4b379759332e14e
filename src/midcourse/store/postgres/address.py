"""One database URL for everybody who connects: `postgresql://user:password@host/database`."""

from sqlalchemy import URL, make_url


def for_libpq(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def for_sqlalchemy(url: str) -> URL:
    return make_url(url).set(drivername="postgresql+psycopg")
