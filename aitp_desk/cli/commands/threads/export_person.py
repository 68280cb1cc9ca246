"""``aitp-desk export-person``: everything stored about a person, in a ZIP archive."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import click

from aitp_desk.cli.arguments import data_folder, fail, mistakes_told, overrides, site_folder
from aitp_desk.cli.commands.threads.erase import (
    NO_THREAD,
    person_actor,
    person_thread,
    read_person,
)
from aitp_desk.cli.data import open_store
from aitp_desk.model.text import write_count
from aitp_desk.model.timestamps import write_timestamp

if TYPE_CHECKING:
    from aitp_desk.config import Config
    from aitp_desk.desk.maintenance.personal_data import PersonalRecord
    from aitp_desk.model.conversation.file import File
    from aitp_desk.store.contents.base import FileContents
    from aitp_desk.store.reads.privacy.erasure import Person

_UNSAFE = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 100
_KINDS = {
    "message": "messages that the person wrote",
    "reply": "replies of the desk that the person could read",
    "file": "uploaded files; their bytes are below files/",
    "thread": "threads that the person opened, with metadata and summary",
    "participation": "how the person took part in threads",
    "session": "sessions, with the question that waits",
    "run": "requests to the agent",
    "step": "steps of the agent for these requests",
    "tool_results": "requests to which the person submitted results of tools",
    "call": "calls of actions, with arguments, results and payments",
    "sealed_value": "sealed values, without the values",
    "ticket": "tickets for operators, with contact and answer",
    "note": "notes of operators about the person's threads",
    "record": "records of capabilities: payments, requests, consents, operations",
    "task_turn": "A2A tasks",
    "push_address": "addresses for push notifications",
    "feedback": "ratings of replies",
    "idempotency_key": "idempotency keys of requests",
    "job": "background jobs",
    "grant": "threads that are shared with the person",
    "conversation": "conversations on platforms, with the person's address there",
    "button": "what the buttons of these conversations stand for",
    "bytes": "received messages and the state of conversations with partners",
    "audit_entry": "what the audit log has recorded of the person",
}
_NOT_INCLUDED = (
    "Not included: messages of other people, values that are sealed, keys and secrets, backups,\n"
    "and what was sent to a model's provider or another service.\n"
)


@click.command()
@site_folder
@person_actor
@person_thread
@click.option(
    "--to",
    "to",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The new ZIP archive, readable only by you.",
)
@data_folder
@overrides
def export_person(
    folder: Path,
    actor: str | None,
    thread_id: str | None,
    to: Path,
    data: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Write what FOLDER's desk stores about a person: what 'aitp-desk erase' finds of theirs.

    The desk may be running. The archive has index.txt, a file of JSON lines for each thread, and
    the uploaded files. An existing file is not overwritten.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        person = read_person(actor, thread_id)
        config = load_config(folder, overrides, data=data)
        try:
            with _new_archive(to) as archive:
                counts = asyncio.run(_export(config, person, archive))
        except FileExistsError:
            fail([f"{to} exists already. Name a new file."])
        except OSError as error:
            fail([f"--to: {to} cannot be written: {error.strerror}."])
    if thread_id is not None and not counts:
        click.echo(NO_THREAD.format(id=thread_id), err=True)
    click.echo(f"Wrote {write_count(counts.total(), 'record')} about {_whose(person)} to {to}.")


@contextmanager
def _new_archive(to: Path) -> Iterator[ZipFile]:
    """Open a new archive for its owner only; it is deleted where it cannot be completed."""
    opened = os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(opened, "w+b") as out, ZipFile(out, "w", ZIP_DEFLATED) as archive:
            yield archive
    except BaseException:
        to.unlink(missing_ok=True)
        raise


async def _export(config: Config, person: Person, archive: ZipFile) -> Counter[str]:
    from aitp_desk.desk.maintenance.personal_data import collect_records
    from aitp_desk.store.contents.kinds import open_contents

    async with open_store(config.data, config.store) as store:
        contents = open_contents(
            config.files, store, folder=config.folder, environment=os.environ, clock=time.time
        )
        counts, unread = await _write_records(archive, collect_records(store, person), contents)
    archive.writestr("index.txt", _index(config.site.url, person, counts, unread))
    return counts


async def _write_records(
    archive: ZipFile, records: AsyncIterator[PersonalRecord], contents: FileContents
) -> tuple[Counter[str], list[str]]:
    """Write records and files; return how many of a kind, and the unread files."""
    counts: Counter[str] = Counter()
    unread: list[str] = []
    record = await anext(records, None)
    while record is not None:
        section = record.thread_id
        files: list[File] = []
        with archive.open(_entry(_section(section)), "w", force_zip64=True) as lines:
            while record is not None and record.thread_id == section:
                counts[record.kind] += 1
                if record.file is not None:
                    files.append(record.file)
                lines.write(_line(record))
                record = await anext(records, None)
        unread += [file.id for file in files if not await _write_file(archive, contents, file)]
    return counts, unread


async def _write_file(archive: ZipFile, contents: FileContents, file: File) -> bool:
    """Write the bytes of a file; return whether they could be read."""
    from aitp_desk.model.errors import Unavailable

    with archive.open(_entry(_path(file)), "w", force_zip64=True) as out:
        try:
            async with aclosing(await contents.open_slices(file)) as slices:
                async for piece in slices:
                    out.write(piece)
        except Unavailable:
            return False
    return True


def _entry(name: str) -> ZipInfo:
    """Return the entry of a file, with the time of now; `ZipFile.open` would date it 1980."""
    entry = ZipInfo(name, time.localtime()[:6])
    entry.compress_type = ZIP_DEFLATED
    return entry


def _section(thread_id: str | None) -> str:
    return "other.jsonl" if thread_id is None else f"threads/{thread_id}.jsonl"


def _path(file: File) -> str:
    return f"files/{file.id}-{_UNSAFE.sub('_', file.name)[-_LONGEST_NAME:]}"


def _line(record: PersonalRecord) -> bytes:
    import msgspec

    told: dict[str, Any] = {"kind": record.kind}
    for name, value in record.values.items():
        if value is None:
            continue
        is_time = name == "at" or name.endswith("_at")
        told[name] = write_timestamp(value) if is_time else value
    if record.file is not None:
        told["path"] = _path(record.file)
    return msgspec.json.encode(told) + b"\n"


def _index(site: str, person: Person, counts: Counter[str], unread: list[str]) -> str:
    lines = [
        f"What the desk of {site} stores about {_whose(person)}",
        f"Written {write_timestamp(int(time.time()))}",
        "",
        "threads/ID.jsonl has the records of a thread, a JSON object a line; other.jsonl has those",
        "that belong to no thread.",
        "",
        *(f"{counts[kind]:>8}  {kind:<16}{what}" for kind, what in _KINDS.items() if counts[kind]),
        "",
        *(f"The bytes of the file {id_} could not be read." for id_ in unread),
    ]
    return "\n".join(lines) + "\n" + _NOT_INCLUDED


def _whose(person: Person) -> str:
    where = "" if person.thread_id is None else f" on {person.thread_id}"
    return f"{person.id or 'all visitors'}{where}"
