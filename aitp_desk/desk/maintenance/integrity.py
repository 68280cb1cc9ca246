"""Checks the integrity of stored data: it is unchanged, and it can be decrypted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import known_data_keys
from aitp_desk.auth.keys.master_key import KeyFileError
from aitp_desk.model.access.audit import ObjectKind
from aitp_desk.store.base import Reader, StoreError
from aitp_desk.store.contents.database import DatabaseContents
from aitp_desk.store.contents.transfer import verify_files
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.reads.audit_log import check_audit
from aitp_desk.store.reads.chains import check_chains


class IntegrityReport(msgspec.Struct, frozen=True):
    """The findings. Every problem is a sentence for the owner.

    Parameters:
        threads: number of threads with messages.
        messages: number of their messages, including deleted ones.
        folded: number of first turns that are stored in one row.
        files: number of files in the database.
        has_objects: whether there are files in a bucket, which are not read.
        audit_rows: number of rows of the audit log.
        data_keys: versions of the data keys that the master key opens.
    """

    threads: int = 0
    messages: int = 0
    folded: int = 0
    files: int = 0
    has_objects: bool = False
    audit_rows: int = 0
    data_keys: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()


async def check_integrity(
    reader: Reader, data: Path, environment: Mapping[str, str], told: Callable[[int], None]
) -> IntegrityReport:
    """Unwrap the data keys, and recompute the chains and the hashes of files.

    The chains are those of all threads and of the audit log.

    Parameters:
        data: the data folder with the key file.
        environment: may hold the master key instead.
        told: called from time to time with the number of messages checked.
    """
    problems: list[str] = []
    keys = None
    try:
        keys = await known_data_keys(reader, data, environment)
    except KeyFileError as error:
        problems.append(f"keys: {error}")
    names = derive_audit_keys(keys) if keys is not None else None
    found = IntegrityReport(data_keys=() if keys is None else tuple(sorted(keys.versions)))
    try:
        chains = await check_chains(
            reader,
            name=lambda id_: "a thread" if names is None else names.name(ObjectKind.THREAD, id_),
            told=told,
        )
        problems += [f"threads: {broken}" for broken in chains.broken]
        found = msgspec.structs.replace(
            found, threads=chains.threads, messages=chains.messages, folded=chains.folded
        )
        stored = await verify_files(
            reader, DatabaseContents(reader), lambda _files: None, only_held=True
        )
        problems += [f"files: {problem}" for problem in stored.problems]
        found = msgspec.structs.replace(
            found,
            files=stored.files,
            has_objects=bool(await file_reads.objects_after(reader, "", 1)),
        )
        if names is not None:
            checked = await check_audit(reader, names)
            found = msgspec.structs.replace(found, audit_rows=checked.head.n - checked.dropped)
            if checked.broken is not None:
                problems.append(f"audit log: row {checked.broken}: {checked.why}")
    except StoreError as error:
        problems.append(f"database: {error}")
    return msgspec.structs.replace(found, problems=tuple(problems))
