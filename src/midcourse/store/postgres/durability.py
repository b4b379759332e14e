"""Checks whether PostgreSQL may lose commits that it has confirmed."""

from midcourse.store.postgres.database import Database

SETTINGS = b"""SELECT current_database(), current_setting('synchronous_commit'), current_setting('fsync'),
current_setting('synchronous_standby_names')"""


async def find_risk(database: Database) -> str:
    """Return why confirmed commits may be lost and the statement that changes it, or an empty string if the settings are safe.

    The settings are those of this connection, so a setting of the database, of the login or in the URL counts.
    """
    ((name, commit, flushes, standbys),) = await database.rows(SETTINGS, ())
    safe = f'type: ALTER DATABASE "{name}" SET synchronous_commit = on'
    if flushes == "off":
        return "fsync is off, so a crash may destroy the database; type: ALTER SYSTEM SET fsync = on, then reload the server"
    if commit == "off":
        return f"synchronous_commit is off, so a crash loses confirmed commits; {safe}"
    if commit == "local" and standbys:
        return f"synchronous_commit is local, so a fail-over to a standby loses confirmed commits; {safe}"
    return ""
