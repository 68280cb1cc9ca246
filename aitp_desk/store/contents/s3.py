"""The one client of S3 services, with bounds on time and retries.

It is `obstore <https://pypi.org/project/obstore/>`_, the Python form of the Rust crate
``object_store`` that Apache Arrow maintains. It is one typed wheel of 4 to 6 MB with
no dependency but typing-extensions, the same for every Python from 3.11 (abi3), for Linux (glibc
and musl, x86 and ARM) and macOS; it streams, retries, verifies TLS, and finds the credentials of a
machine's role.

``aiobotocore`` has no types, and brings four packages, of which botocore may be one of two or three
versions. ``minio`` is typed, takes threads as well, and brings urllib3 and two packages of
cryptography. The desk's own egress client refuses private addresses, where an owner's service
usually is; and signatures, temporary credentials and the quirks of services would be ours to
maintain.

Its calls that block are used, in threads of our own: those for asyncio end in threads of the
client, which may enter an interpreter that is exiting. In 75 trials that aborted 11 processes at
their end, and none of 50 with these.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import msgspec
import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from aitp_desk.config.rules.files import split_bucket
from aitp_desk.config.sections.files import S3
from aitp_desk.model.text import write_count
from aitp_desk.store.base import StoreError
from aitp_desk.store.contents.access_key import read_access_key
from aitp_desk.store.contents.faults import AccessRefused, BucketFault, ObjectMissing

if TYPE_CHECKING:
    from obstore import BytesStream
    from obstore.store import ClientConfig, S3Config

T = TypeVar("T")

MAX_REQUESTS = 32
"""The most requests at a time; a download makes one for each piece."""
SLICE_BYTES = 128 * 1024
"""The least bytes of a slice, but for the last one."""
MAX_RETRIES = 2
"""How often a request is repeated that failed on the way or by a fault of the service."""
DOWNLOAD_TIME = timedelta(hours=6)
"""The longest time of a download as a whole; each piece has its own limit."""


class ListedObject(msgspec.Struct, frozen=True):
    """An object of a listing."""

    key: str
    modified_at: datetime


class S3Bucket:
    """A bucket, below a prefix.

    Parameters:
        url: ``s3://BUCKET/PREFIX``, checked.
        folder: the site's folder.
        environment: may hold the access key.

    Attributes:
        seconds: the longest time of a request.

    Raises:
        StoreError: the access key or a certificate cannot be read.
    """

    def __init__(
        self, url: str, settings: S3, *, folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.seconds = settings.seconds
        self._url = url
        self._host = urlsplit(settings.endpoint).netloc
        self._threads = ThreadPoolExecutor(MAX_REQUESTS, "s3")
        client: ClientConfig = {
            "allow_http": settings.endpoint.startswith("http://"),
            "allow_invalid_certificates": False,
            "connect_timeout": timedelta(seconds=settings.connect_seconds),
            "read_timeout": timedelta(seconds=settings.seconds),
        }
        if settings.ca_file:
            client["root_certificate"] = _read_authority(folder / settings.ca_file)
        bucket, prefix = split_bucket(url)
        open_client = partial(
            S3Store,
            bucket,
            prefix=prefix or None,
            config=_configure(settings, folder, environment),
            retry_config={
                "max_retries": MAX_RETRIES,
                "retry_timeout": timedelta(seconds=settings.seconds),
            },
        )
        self._store = open_client(
            client_options={**client, "timeout": timedelta(seconds=settings.seconds)}
        )
        self._downloads = open_client(client_options={**client, "timeout": DOWNLOAD_TIME})

    @property
    def name(self) -> str:
        """The bucket and its server, for people."""
        return f"{self._url} at {self._host}" if self._host else self._url

    async def write(self, key: str, data: bytes) -> None:
        """Write an object; it is durable when this returns.

        Raises:
            BucketFault: it may not have been written.
        """
        try:
            await self._call(partial(obstore.put, self._store, key, data, use_multipart=False))
        except ObjectMissing:
            raise BucketFault(f"{self.name} does not exist.") from None

    async def read(self, key: str) -> AsyncGenerator[bytes, None]:
        """Open an object; its bytes are received as they are requested.

        Raises:
            ObjectMissing: there is none.
            BucketFault: it could not be read; also from the iterator.
        """
        found = await self._call(partial(obstore.get, self._downloads, key))
        return self._receive(found.stream(min_chunk_size=SLICE_BYTES))

    async def _receive(self, stream: BytesStream) -> AsyncGenerator[bytes, None]:
        while (piece := await self._call(partial(next, stream, None))) is not None:
            yield bytes(piece)

    async def measure(self, key: str) -> int:
        """Return the size of an object.

        Raises:
            ObjectMissing: there is none.
            BucketFault: it is not known.
        """
        return (await self._call(partial(obstore.head, self._store, key)))["size"]

    async def delete(self, key: str) -> None:
        """Delete an object; it need not exist.

        Raises:
            BucketFault: it may not have been deleted.
        """
        await self._call(partial(_delete, self._store, key))

    async def list_objects(self, folder: str) -> AsyncIterator[ListedObject]:
        """List the objects whose keys begin with a folder.

        Raises:
            BucketFault: they cannot be listed.
        """
        pages = obstore.list(self._store, folder.rstrip("/"))
        while (page := await self._call(partial(next, pages, None))) is not None:
            for one in page:
                yield ListedObject(one["path"], one["last_modified"])

    async def try_requests(self) -> None:
        """Write, measure, read and delete an object.

        Raises:
            BucketFault: one of these failed; the message says which.
        """
        key, data = f"check/{secrets.token_hex(16)}", secrets.token_bytes(1024)
        what = "written"
        try:
            await self.write(key, data)
            what = "measured"
            size = await self.measure(key)
            what = "read"
            found = b"".join([piece async for piece in await self.read(key)])
            what = "deleted"
            await self.delete(key)
        except BucketFault as fault:
            raise BucketFault(f"An object cannot be {what}: {fault}") from fault
        if size != len(data) or found != data:
            raise BucketFault(f"{self.name} returns other bytes than it was given.")

    async def _call(self, work: Callable[[], T]) -> T:
        """Make a request in a thread, within the time limit."""
        loop = asyncio.get_running_loop()
        try:
            with _faults_told(self.name):
                async with asyncio.timeout(self.seconds):
                    return await loop.run_in_executor(self._threads, work)
        except TimeoutError:
            raise BucketFault(
                f"{self.name} did not answer within {write_count(self.seconds, 'second')}."
            ) from None


def _delete(store: S3Store, key: str) -> None:
    try:
        obstore.delete(store, key)
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):  # it may come back with the object in it
            raise


@contextmanager
def _faults_told(name: str) -> Iterator[None]:
    """Replace the client's errors: their texts hold keys of objects."""
    try:
        yield
    except FileNotFoundError:
        raise ObjectMissing(f"{name} does not have the object, or does not exist.") from None
    except (PermissionDeniedError, UnauthenticatedError):
        raise AccessRefused(f"{name} refuses the access key (403).") from None
    except BaseError as error:
        is_answered = "Server returned" in str(error)
        why = "reports a fault" if is_answered else "does not answer"
        raise BucketFault(f"{name} {why}.") from None


def _configure(settings: S3, folder: Path, environment: Mapping[str, str]) -> S3Config:
    found: S3Config = {
        "region": settings.region,
        "virtual_hosted_style_request": not settings.path_style,
        # one request an object, which every service knows
        "disable_bulk_delete": True,
    }
    if settings.endpoint:
        found["endpoint"] = settings.endpoint.rstrip("/")
    if settings.encryption:
        found["server_side_encryption"] = settings.encryption
    if settings.kms_key:
        found["sse_kms_key_id"] = settings.kms_key
    if key := read_access_key(settings, folder, environment):
        found["access_key_id"] = key.id
        found["secret_access_key"] = key.secret
        if key.token:
            found["session_token"] = key.token
    return found


def _read_authority(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"files.s3.ca_file cannot be read: {error.strerror}.") from error
