"""Keeps the bytes of files as objects of a bucket, under random keys.

Each object has a row in the database before it is written and until it is deleted:

1. a row is committed that names the key, and until when it is being written;
2. the object is written;
3. the file's row is committed, and with it that the object has a file;
4. when the file's row is deleted, in whatever way, a trigger marks the object as unneeded;
5. the object is deleted, and then its row.

So ``kill -9`` between any two steps loses no file whose row was committed, and leaves no object
without a row: what was not committed in time is deleted. The third step refuses an object whose
deletion has begun. Objects of others in the same bucket are never listed or touched.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from aitp_desk.model.conversation.file import File
from aitp_desk.model.errors import Unavailable
from aitp_desk.store.base import Store
from aitp_desk.store.contents.base import Placement, make_unavailable, verify_slices
from aitp_desk.store.contents.database import DatabaseContents
from aitp_desk.store.contents.faults import AccessRefused, BucketFault, ObjectMissing
from aitp_desk.store.contents.s3 import S3Bucket
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.units.threads.files import begin_object, drop_object, release_abandoned

FOLDER = "files/"
"""What the keys of files begin with, below the prefix."""
PROBE = "probe"
"""The key of the empty object that probes look for."""
WRITING_SECONDS = 60 * 60
"""How long after its request's deadline an object without a file is kept."""
AT_ONCE = 100
MAX_FAILURES = 3
"""After how many failures in a row the deletion of objects pauses."""


class BucketContents:
    """Keeps new files in a bucket, and reads older ones from the database, too.

    Parameters:
        clock: Unix seconds.
    """

    cleans_up = True

    def __init__(self, store: Store, bucket: S3Bucket, clock: Callable[[], float]) -> None:
        self._store = store
        self._bucket = bucket
        self._clock = clock
        self._database = DatabaseContents(store)

    @property
    def name(self) -> str:
        """The bucket and its server."""
        return self._bucket.name

    def holds(self, file: File) -> bool:
        """Return whether the bucket has a file's bytes."""
        return file.object_key is not None

    async def place(self, data: bytes) -> Placement:
        """Write an object for the bytes of a file.

        Raises:
            Unavailable: the bucket did not take it.
            StoreBusy, StoreError: the database did not take its row.
        """
        key = f"{FOLDER}{secrets.token_hex(16)}"
        digest = await asyncio.to_thread(sha256, data)
        until = int(self._clock()) + self._bucket.seconds + WRITING_SECONDS
        await self._store.run(begin_object, key=key, until=until)
        try:
            await self._bucket.write(key, data)
        except BucketFault as fault:
            raise make_unavailable(fault) from fault
        return Placement(digest.digest(), object_key=key)

    async def open_slices(self, file: File) -> AsyncGenerator[bytes, None]:
        """Open the bytes of a file.

        Raises:
            Unavailable: the bucket cannot be read, or does not have them.
        """
        if file.object_key is None:
            return await self._database.open_slices(file)
        try:
            slices = await self._bucket.read(file.object_key)
        except BucketFault as fault:
            raise make_unavailable(fault) from fault
        return verify_slices(file, _tell_faults(slices), lambda _size: False)

    async def delete_unneeded(self) -> int:
        """Delete objects that no file has, and then their rows.

        Raises:
            Unavailable: some could not be deleted; they are tried again with the next call.
        """
        await self._store.run(release_abandoned, now=int(self._clock()))
        deleted, after, in_a_row, last = 0, "", 0, None
        while keys := await file_reads.unneeded_objects(self._store, after, AT_ONCE):
            for key in keys:
                try:
                    await self._bucket.delete(key)
                except BucketFault as fault:
                    in_a_row, last = in_a_row + 1, fault
                    if in_a_row == MAX_FAILURES:
                        raise Unavailable(str(fault)) from fault
                else:
                    await self._store.run(drop_object, key=key)
                    in_a_row, deleted = 0, deleted + 1
            after = keys[-1]
        if last is not None:
            raise Unavailable(str(last)) from last
        return deleted

    async def count_unknown(self) -> int:
        """Count the objects that the database does not name, except new ones.

        Raises:
            Unavailable: they cannot be listed; the message is for operators.
        """
        before = datetime.now(UTC) - timedelta(seconds=self._bucket.seconds + WRITING_SECONDS)
        try:
            listed = {
                one.key
                async for one in self._bucket.list_objects(FOLDER)
                if one.modified_at < before
            }
        except BucketFault as fault:
            raise Unavailable(str(fault)) from fault
        after = ""
        while keys := await file_reads.objects_after(self._store, after, AT_ONCE):
            listed.difference_update(keys)
            after = keys[-1]
        return len(listed)

    async def probe(self) -> str:
        """Look for an empty object, and write it if there is none."""
        try:
            try:
                await self._bucket.measure(PROBE)
            except (AccessRefused, ObjectMissing):  # it needs another right to see what is absent
                await self._bucket.write(PROBE, b"")
        except BucketFault as fault:
            return str(fault)
        return ""


async def _tell_faults(slices: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(slices):
            async for piece in slices:
                yield piece
    except BucketFault as fault:
        raise make_unavailable(fault) from fault
