"""Opens the contents that ``files.store`` names: the one place that knows the kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from aitp_desk.config.sections.files import DATABASE, Files
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.contents.base import FileContents
from aitp_desk.store.contents.database import DatabaseContents

if TYPE_CHECKING:
    from aitp_desk.store.contents.s3 import S3Bucket


def open_contents(
    files: Files,
    store: Store,
    *,
    folder: Path,
    environment: Mapping[str, str],
    clock: Callable[[], float],
) -> FileContents:
    """Return the contents of a store's files; nothing is requested yet.

    Parameters:
        folder: the site's folder.
        environment: may hold the access key of a service.
        clock: Unix seconds.

    Raises:
        StoreError: an extra is missing, or the access key cannot be read.
    """
    bucket = open_bucket(files, folder=folder, environment=environment)
    if bucket is None:
        return DatabaseContents(store)
    from aitp_desk.store.contents.bucket import BucketContents

    return BucketContents(store, bucket, clock)


def open_bucket(files: Files, *, folder: Path, environment: Mapping[str, str]) -> S3Bucket | None:
    """Return the bucket that ``files.store`` names; None if the database keeps files.

    Raises:
        StoreError: as :func:`open_contents`.
    """
    if files.store == DATABASE:
        return None
    if find_spec("obstore") is None:
        raise StoreError("files.store needs the extra s3: pip install 'aitp-desk[s3]'.")
    from aitp_desk.store.contents.s3 import S3Bucket

    return S3Bucket(files.store, files.s3, folder=folder, environment=environment)
