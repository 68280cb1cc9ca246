"""File clean-up: deletes the bytes that no file has any more."""

from __future__ import annotations

from aitp_desk.desk.jobs.scheduler import ScheduleSkipped
from aitp_desk.model.errors import Unavailable
from aitp_desk.store.contents.base import FileContents

EVERY_SECONDS = 60
"""A deleted or erased file is in the bucket no longer than that, while the desk runs."""


async def delete_unneeded(contents: FileContents) -> int:
    """Delete the bytes that no file has; return the number of objects.

    Raises:
        ScheduleSkipped: some could not be deleted now.
        StoreBusy, StoreError: the store could not continue.
    """
    try:
        return await contents.delete_unneeded()
    except Unavailable as error:
        raise ScheduleSkipped(error.message) from error
