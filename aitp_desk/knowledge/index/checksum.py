"""Seals an index file with a checksum, to detect damage before it is read.

SQLite notices a broken page when it reads it, but not a page whose text has changed. So the file
has a checksum of all its bytes in the header field for applications, ``user_version``
(https://www.sqlite.org/fileformat.html, section 1.3). Reading the file once takes about a second
for each gigabyte.
"""

from __future__ import annotations

import zlib
from pathlib import Path

_AT, _ITS_BYTES = 60, 4
_HEADER = 100
_CHUNK = 1 << 20


def write_checksum(file: Path) -> None:
    """Write the checksum into a file that no other process has open."""
    checksum, _ = _read(file)
    with file.open("r+b") as opened:
        opened.seek(_AT)
        opened.write(checksum)


def is_intact(file: Path) -> bool:
    """Return whether a file is unchanged since it was sealed; an unreadable one is not."""
    try:
        checksum, sealed = _read(file)
    except OSError:
        return False
    return checksum == sealed


def _read(file: Path) -> tuple[bytes, bytes]:
    """Return the computed checksum of a file, and the stored one."""
    with file.open("rb") as opened:
        header = opened.read(_HEADER)
        sealed = header[_AT : _AT + _ITS_BYTES]
        checksum = zlib.crc32(header[:_AT] + header[_AT + _ITS_BYTES :])
        while chunk := opened.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum.to_bytes(_ITS_BYTES, "big"), sealed
