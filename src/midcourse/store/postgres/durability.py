"""What PostgreSQL has to guarantee: a commit that it has confirmed is not lost."""

from midcourse.store.postgres.database import Database

SETTINGS = b"""SELECT current_database(), current_setting('synchronous_commit'), current_setting('fsync'),
current_setting('synchronous_standby_names')"""


async def find_risk(database: Database) -> str:
    """Why confirmed commits may be lost, with the statement that changes it; empty if the settings are safe.

    They are those of this connection, so a setting of the database, of the login or in the URL counts.
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
