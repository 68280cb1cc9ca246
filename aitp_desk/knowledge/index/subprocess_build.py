"""Builds the indexes of a large site in a subprocess, and reports progress.

Thousands of pages take many seconds of Python. In a thread that would slow down all concurrent
replies, and its memory would never be returned.
"""

from __future__ import annotations

import pickle
import sqlite3
import sys
import time
from collections.abc import Iterable, Sequence
from typing import IO, cast

import structlog
from msgspec.structs import replace

from aitp_desk.knowledge.index.builder import IndexRequest, build_indexes
from aitp_desk.knowledge.sources.admission import ContentUnreadable
from aitp_desk.knowledge.sources.processes import start_process

LARGE_BYTES = 3 * 1024 * 1024
"""The index of more content is built in a subprocess."""
TELL_SECONDS = 5.0
"""How often the log reports progress."""

_PROGRAM = "aitp_desk.knowledge.index.subprocess_build"
_SAY_SECONDS = 1.0

_log = structlog.get_logger(__name__)


def is_large(wanted: Iterable[IndexRequest]) -> bool:
    """Return whether the indexes of this content should be built in a subprocess."""
    return sum(_sizes(wanted).values()) >= LARGE_BYTES


def build_in_subprocess(wanted: Sequence[IndexRequest]) -> None:
    """Run :func:`aitp_desk.knowledge.index.builder.build_indexes` in a subprocess.

    Raises:
        ContentUnreadable: the process ended without the indexes; the message says why.
    """
    folder = wanted[0].file.parent
    _log.info("content.indexing", files=len(_sizes(wanted)))
    told_at = time.monotonic()
    reason = ""
    with start_process(_PROGRAM) as process:
        given, said = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        try:
            with given:
                # content that several of them share is sent once
                pickle.dump([replace(one, file=one.file.absolute()) for one in wanted], given)
            for line in said:
                done, _, rest = line.decode().strip().partition(" ")
                if not done.isdigit():
                    reason = f"{done} {rest}"
                elif time.monotonic() - told_at >= TELL_SECONDS:
                    told_at = time.monotonic()
                    _log.info("content.indexing", pages=int(done), of=int(rest))
        except BrokenPipeError:  # it ended before it had read everything
            pass
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise ContentUnreadable(
            "The index of the content could not be built "
            f"({reason or 'its process was killed'}). Make sure that {folder} can "
            "be written, and that there is enough disk space and memory."
        )


def _sizes(wanted: Iterable[IndexRequest]) -> dict[str, int]:
    """Return each file's size in bytes by source. A file in several indexes counts once."""
    return {found.source: len(payload) for one in wanted for found, payload in one.raw.files}


def main() -> None:
    """Build the indexes that come in, and report progress, a line at a time."""
    wanted = pickle.load(sys.stdin.buffer)  # noqa: S301 -- from the desk itself
    said_at = time.monotonic()

    def say(done: int, of: int) -> None:
        nonlocal said_at
        if time.monotonic() - said_at >= _SAY_SECONDS:
            said_at = time.monotonic()
            print(done, of, flush=True)  # noqa: T201 -- to the desk

    try:
        try:
            build_indexes(wanted, say, keep=True)
        except (OSError, sqlite3.Error):  # the disk may have space for the indexes alone
            build_indexes(wanted, say)
    except Exception as error:  # noqa: BLE001 -- the desk tells it
        print(f"{type(error).__name__}: {' '.join(str(error).split())}")  # noqa: T201
        sys.exit(1)


if __name__ == "__main__":
    main()
