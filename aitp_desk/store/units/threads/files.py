"""Stores uploaded files within an allowance; owners or expiry delete them."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.conversation.file import File
from aitp_desk.model.errors import FileNotFound, Forbidden, Unavailable
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_file


def add_file(
    *, file: File, counted: str, parts: Sequence[bytes], max_files: int, max_bytes: int
) -> Work[None]:
    """Insert a file with its bytes, if its owner's allowance permits.

    Parameters:
        counted: against whose allowance it counts.
        parts: its bytes, in parts; none if they are in an object.
        max_files: maximum number of files of one allowance.
        max_bytes: maximum total size of these files, in bytes.

    Raises:
        Forbidden: the allowance is exhausted.
        Unavailable: its object was written so long ago that it is deleted.
    """
    yield from _check_object(file.object_key)
    ((files, size),) = yield "files_counted", {"counted": counted}
    check_allowance(files, size, file.size, max_files=max_files, max_bytes=max_bytes)
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
            "digest": file.sha256,
            "object_key": file.object_key,
        },
    )
    if file.object_key is not None:
        yield "keep_file_object", {"key": file.object_key}
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


def check_allowance(files: int, size: int, more: int, *, max_files: int, max_bytes: int) -> None:
    """Refuse a file that an allowance has no space for.

    Parameters:
        files, size: the number of files that count against it, and their bytes.
        more: the bytes of the new one.

    Raises:
        Forbidden: the allowance is exhausted.
    """
    if files + 1 > max_files:
        raise Forbidden(
            (f"You have {files} files, which is the limit. Delete one first."), param="file"
        )
    if size + more > max_bytes:
        raise Forbidden(
            f"Your files have {size} bytes; the limit is {max_bytes}. Delete one first.",
            param="file",
        )


def _check_object(key: str | None) -> Work[None]:
    """Refuse an object that is being deleted."""
    if key is None:
        return
    rows = yield "file_object", {"key": key}
    if not rows or not rows[0][0]:
        raise Unavailable("The file was not stored in time. Send it again.", retry_after=1)


def move_file(
    *,
    file: File,
    sha256: bytes,
    object_key: str | None,
    parts: Sequence[bytes],
    forgets: bool,
) -> Work[bool]:
    """Record that a file's bytes are in another place now; release the former one.

    Parameters:
        file: as it was read.
        object_key: the object that has the bytes; None if they are in ``parts``.
        forgets: whether a former object is another database's, and stays.

    Returns:
        Whether it was moved: False if it was deleted or moved meanwhile.

    Raises:
        Unavailable: as :func:`add_file`.
    """
    yield from _check_object(object_key)
    moved = yield (
        "move_file",
        {
            "id": file.id,
            "digest": sha256,
            "object_key": object_key,
            "moved_from": file.object_key or "",
        },
    )
    if not moved:
        return False
    if file.object_key is None:
        yield "delete_file_parts", {"id": file.id}
    else:
        yield "release_file_object", {"key": file.object_key}
        if forgets:
            yield "drop_file_object", {"key": file.object_key}
    if object_key is not None:
        yield "keep_file_object", {"key": object_key}
    for n, part in enumerate(parts):
        yield "add_file_part", {"file_id": file.id, "n": n, "bytes": part}
    return True


def begin_object(*, key: str, until: int) -> Work[None]:
    """Record an object before it is written.

    Parameters:
        until: Unix seconds after which it is deleted unless a file has it.
    """
    yield "add_file_object", {"key": key, "unneeded_at": until}


def release_abandoned(*, now: int) -> Work[None]:
    """Release objects whose file was not committed in time."""
    yield "release_abandoned_file_objects", {"now": now}


def drop_object(*, key: str) -> Work[None]:
    """Forget an object that was deleted."""
    yield "drop_file_object", {"key": key}


def forget_objects(*, keys: Sequence[str]) -> Work[None]:
    """Forget objects without deleting them: another database has them."""
    for key in keys:
        yield "release_file_object", {"key": key}
        yield "drop_file_object", {"key": key}
