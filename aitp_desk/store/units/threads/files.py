"""Stores uploaded files within an allowance; owners or expiry delete them."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.conversation.file import File
from aitp_desk.model.errors import FileNotFound, Forbidden
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_file


def add_file(
    *, file: File, counted: str, parts: Sequence[bytes], max_files: int, max_bytes: int
) -> Work[None]:
    """Insert a file with its bytes, if its owner's allowance permits.

    Parameters:
        counted: against whose allowance it counts.
        parts: its bytes, in parts.
        max_files: maximum number of files of one allowance.
        max_bytes: maximum total size of these files, in bytes.

    Raises:
        Forbidden: the allowance is exhausted.
    """
    rows = yield "files_counted", {"counted": counted}
    files, size = rows[0]
    if files + 1 > max_files:
        raise Forbidden(
            (f"You have {files} files, which is the limit. Delete one first."), param="file"
        )
    if size + file.size > max_bytes:
        raise Forbidden(
            f"Your files have {size} bytes; the limit is {max_bytes}. Delete one first.",
            param="file",
        )
    yield (
        "add_file",
        {
            "id": file.id,
            "owner": file.owner,
            "counted": counted,
            "created_at": file.created_at,
            "expires_at": file.expires_at,
            "name": file.name,
            "purpose": file.purpose,
            "media_type": file.media_type,
            "size": file.size,
            "desk": file.desk,
        },
    )
    for n, part in enumerate(parts):
        yield "add_file_part", {"file_id": file.id, "n": n, "bytes": part}


def delete_file(*, file_id: str, owner: str | None, desk: str, now: int) -> Work[None]:
    """Delete a file and its bytes.

    Parameters:
        owner: who requests it; None for an anonymous caller.
        desk: the desk at which it is requested.

    Raises:
        FileNotFound: there is none, it has expired, or it is another principal's.
    """
    rows = yield "file", {"id": file_id, "now": now}
    file = read_file(rows[0]) if rows else None
    if file is None or file.desk != desk or file.owner not in (None, owner):
        raise FileNotFound("There is no file with this id.", param="file_id")
    yield "delete_file_parts", {"id": file_id}
    yield "delete_file", {"id": file_id}
