"""Opens the place where a fleet stores screenshots, according to its settings."""

from pathlib import Path

from midcourse.config.extras import require_extras
from midcourse.config.fleet_settings import FleetSettings
from midcourse.ports.blobs import Blobs
from midcourse.store.blob_folder import BlobFolder
from midcourse.store.postgres import PostgresStore


def open_tenant_blobs(settings: FleetSettings, store: PostgresStore, home: Path) -> Blobs:
    """The blobs of the settings' tenant. Raises `TaskInvalid` if something that S3 needs is missing."""
    return blobs_outside(settings, home, settings.tenant) or store.blobs


def blobs_outside(settings: FleetSettings, home: Path, tenant: str) -> Blobs | None:
    """The blobs of a tenant. None: they are in the database."""
    kind, _, place = settings.blobs.partition(":")
    match kind:
        case "postgres":
            return None
        case "folder":
            return BlobFolder(place or home, tenant=tenant)
        case _:
            require_extras("blobs in S3", "s3")
            from midcourse.store.s3 import S3Blobs

            bucket, _, prefix = place.removeprefix("//").partition("/")
            return S3Blobs(bucket, prefix, tenant=tenant)
