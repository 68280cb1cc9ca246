"""The seal of an index file: by it damage is seen before anything is read.

SQLite finds a page that is broken when it reads it, and does not find one whose text has changed.
So the file carries a checksum of all its bytes, where an application may keep a number of its own:
in the header, as ``user_version`` (https://www.sqlite.org/fileformat.html, section 1.3). To read
the file once takes about a second for each gigabyte.
"""

from __future__ import annotations

import zlib
from pathlib import Path

_AT, _ITS_BYTES = 60, 4
_HEADER = 100
_CHUNK = 1 << 20


def write_checksum(file: Path) -> None:
    """Put the checksum into a file that nobody else has open."""
    checksum, _ = _read(file)
    with file.open("r+b") as opened:
        opened.seek(_AT)
        opened.write(checksum)


def is_intact(file: Path) -> bool:
    """Whether a file is as it was when it was sealed; one that cannot be read is not."""
    try:
        checksum, sealed = _read(file)
    except OSError:
        return False
    return checksum == sealed


def _read(file: Path) -> tuple[bytes, bytes]:
    """The checksum of what is in a file, and the one that stands there."""
    with file.open("rb") as opened:
        header = opened.read(_HEADER)
        sealed = header[_AT : _AT + _ITS_BYTES]
        checksum = zlib.crc32(header[:_AT] + header[_AT + _ITS_BYTES :])
        while chunk := opened.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum.to_bytes(_ITS_BYTES, "big"), sealed
