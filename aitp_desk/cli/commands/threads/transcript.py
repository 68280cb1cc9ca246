"""``aitp-desk transcript``: a thread's messages with a proof, verifiable without the desk."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import click

from aitp_desk.cli.arguments import (
    DASHED_ARGUMENTS,
    data_folder,
    fail,
    mistakes_told,
    overrides,
    site_folder,
)
from aitp_desk.cli.data import desk_data, desk_store, make_local_auditor, require_keys, run_in_store
from aitp_desk.model.text import write_count
from aitp_desk.model.timestamps import write_timestamp

if TYPE_CHECKING:
    from aitp_desk.auth.keys.transcript_keys import PublishedKey
    from aitp_desk.auth.keys.transcripts import TranscriptCheck
    from aitp_desk.desk.threads.transcripts import Transcript
    from aitp_desk.model.conversation.transcript import Document
    from aitp_desk.store.base import Store

UNDECIDED = 2
"""The exit code if a transcript cannot be verified."""
MAX_KEYS_BYTES = 256 * 1024
FETCH_SECONDS = 20.0
_HEAD = re.compile(r"([0-9]{1,15}):([A-Za-z0-9_-]{43})", re.ASCII)


@click.group()
def transcript() -> None:
    """Export and verify signed transcripts of threads."""


@transcript.command()
@site_folder
@click.argument("thread_id", metavar="THREAD")
@click.option(
    "--to",
    "to",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write, readable only by you.",
)
@click.option("--seq", type=click.IntRange(0), help="The last message; by default the newest.")
@data_folder
@overrides
def export(
    folder: Path,
    thread_id: str,
    to: Path,
    seq: int | None,
    data: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Write the signed transcript of a thread of FOLDER's desk.

    The desk may be running. The file allows its holder to read the thread, and to continue it if
    it has no owner.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        config = load_config(folder, overrides, data=data)
        keys = require_keys(config.data, config.store)

        async def write(store: Store) -> Transcript:
            from aitp_desk.auth.keys.transcript_keys import TranscriptKeys
            from aitp_desk.desk.threads.transcripts import make_transcript
            from aitp_desk.store.reads import threads as reads

            kept = await reads.thread(store, thread_id)
            if kept is None:
                fail(["There is no thread with this id."])
            if seq is not None and seq > kept.last_seq:
                fail([f"--seq is too large: the newest message has number {kept.last_seq}."])
            made = await make_transcript(
                store,
                TranscriptKeys(keys),
                kept,
                actors=kept.thread.actors,
                seq=kept.last_seq if seq is None else seq,
                site=config.site.url,
                now=int(time.time()),
            )
            await _write(made, to)
            return made

        try:
            head = run_in_store(config.data, config.store, write).statement.head
        except OSError as error:
            fail([f"--to: {to} cannot be written: {error.strerror}."])
    click.echo(f"Wrote {write_count(head.seq, 'message')} to {to}.")
    click.echo(f"head {head.seq}:{head.link}")


@transcript.command()
@click.argument(
    "file", type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
)
@click.option(
    "--keys",
    "source",
    metavar="FILE|URL",
    help="The site's published keys; by default they are fetched from the site named in the file.",
)
@click.option("--head", metavar="SEQ:LINK", help="A head of the thread that you noted earlier.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def verify(file: Path, source: str | None, head: str | None, *, as_json: bool) -> None:
    """Check that a transcript is unchanged since its site signed it.

    FILE - is the standard input. With --keys FILE no network is used. Exit code 0 if it is
    unchanged, 1 if it was changed, 2 if it cannot be verified: no transcript or no keys.
    """
    from aitp_desk.auth.keys.transcripts import check_transcript, link_at, read_transcript
    from aitp_desk.model.conversation.transcript import KEYS_PATH
    from aitp_desk.model.errors import InvalidRequest

    noted = None if head is None else _HEAD.fullmatch(head)
    if head is not None and noted is None:
        _undecided("--head: must be NUMBER:LINK, as 'aitp-desk transcript' prints it.")
    try:
        body = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        document = read_transcript(body)
    except OSError as error:
        _undecided(f"{file} cannot be read: {error.strerror}.")
    except InvalidRequest as error:
        _undecided(f"{file} is not an unchanged transcript. {error.message}")
    asked = source or f"{document.statement.head.site}{KEYS_PATH}"
    checked = check_transcript(document, _keys_of(asked))
    wrong = list(checked.wrong)
    if noted is not None and link_at(document, int(noted[1])) != noted[2]:
        wrong.append("The head that you noted does not match these messages.")
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode(_summary(checked, wrong, asked)).decode())
    else:
        _tell(checked, wrong, asked)
    sys.exit(1 if wrong else 0)


@transcript.command(context_settings=DASHED_ARGUMENTS)
@desk_data
@desk_store
@click.argument("key")
def withdraw_key(data: Path, url: str, key: str) -> None:
    """Mark KEY, the id (kid) of a former key, as compromised.

    Create another key first, with 'aitp-desk keys rotate-data'. KEY stays published, but
    transcripts signed only with it no longer verify; those that others countersigned still do.
    """
    with mistakes_told():
        from aitp_desk.auth.keys.transcript_keys import TranscriptKeys
        from aitp_desk.store.units.privacy.transcripts import withdraw_transcript_key

        known, now = require_keys(data, url), int(time.time())

        async def note(store: Store) -> None:
            await TranscriptKeys(known).list_published(store, now)
            await store.run(withdraw_transcript_key, id_=key, now=now, by=make_local_auditor(known))

        run_in_store(data, url, note)
    click.echo(
        f"Withdrew the key {key}. Export the transcripts again that you still need as proof."
    )


async def _write(made: Transcript, to: Path) -> None:
    with _in_place_of(to) as out:
        async for piece in made.pieces():
            out.write(piece)


@contextmanager
def _in_place_of(to: Path) -> Iterator[IO[bytes]]:
    """Open a private file that replaces an earlier one when it is complete."""
    import os

    if to.exists() and not to.is_file():  # a pipe or a device
        with to.open("wb") as out:
            yield out
        return
    place = to.resolve()
    new = place.with_name(f"{place.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            yield out
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)


def _keys_of(source: str) -> Sequence[PublishedKey]:
    """Read published keys from a file or an address; exit where that fails."""
    from aitp_desk.auth.keys.transcript_keys import read_keys
    from aitp_desk.egress import EgressError
    from aitp_desk.model.errors import InvalidRequest

    is_address = source.startswith(("https://", "http://"))
    try:
        body = asyncio.run(_fetch(source)) if is_address else Path(source).read_bytes()
        return read_keys(body)
    except OSError as error:
        _undecided(f"The keys cannot be read from {_plain(source)}: {error.strerror}.")
    except (EgressError, InvalidRequest) as error:
        _undecided(f"The keys cannot be read from {_plain(source)}: {error}")


async def _fetch(url: str) -> bytes:
    """Fetch an address; a loopback one only if that was requested."""
    from aitp_desk.egress import Egress, EgressError
    from aitp_desk.model.web_address import is_loopback, web_address

    address = web_address(url)
    is_own = address is not None and is_loopback(address.hostname or "")
    async with Egress(allow_loopback=is_own) as egress:
        answer = await egress.fetch(url, max_bytes=MAX_KEYS_BYTES, seconds=FETCH_SECONDS)
    if answer.status != 200:
        raise EgressError(f"the response has status {answer.status}.")
    return answer.body


def _tell(checked: TranscriptCheck, wrong: Sequence[str], asked: str) -> None:
    document = checked.document
    statement = document.statement
    if wrong:
        click.echo("This transcript differs from the one that the site signed:", err=True)
        for what in wrong:
            click.echo(f"- {what}", err=True)
        return
    erased = f", of which {checked.erased} erased" if checked.erased else ""
    messages = write_count(len(document.messages), "message")
    click.echo(f"Unchanged: {messages}{erased}, as signed by the site.")
    click.echo(f"site    {_plain(statement.head.site)}, with its keys from {_plain(asked)}")
    click.echo(
        f"thread  {_plain(statement.head.thread)}, of {write_timestamp(statement.opened_at)}"
    )
    click.echo(f"actors  {', '.join(map(_plain, statement.actors))}")
    click.echo(f"signed  {write_timestamp(statement.time)}")
    for key, one in zip(checked.signers, statement.countersignatures, strict=True):
        told = f"up to message {one.seq} by the key {key}"
        moved = "" if one.site == statement.head.site else f", as of {_plain(one.site)}"
        by = f"brought by {_plain(one.actor)} at {write_timestamp(one.time)}"
        click.echo(f"        {told}{moved}, {by}")
    click.echo(f"head    {_head(document)}")


def _summary(checked: TranscriptCheck, wrong: Sequence[str], asked: str) -> dict[str, Any]:
    document = checked.document
    statement = document.statement
    signed = () if checked.wrong else statement.countersignatures
    return {
        "whole": not wrong,
        "wrong": wrong,
        "site": statement.head.site,
        "keys": asked,
        "thread": statement.head.thread,
        "opened_at": statement.opened_at,
        "actors": statement.actors,
        "signed_at": statement.time,
        "messages": len(document.messages),
        "erased": checked.erased,
        "head": _head(document),
        "countersignatures": [
            {"key": key, "site": one.site, "seq": one.seq, "actor": one.actor, "time": one.time}
            for key, one in zip(checked.signers, signed, strict=False)
        ],
    }


def _head(document: Document) -> str:
    head = document.statement.head
    return f"{head.seq}:{head.link}"


def _plain(text: str) -> str:
    """Escape control characters of an untrusted file for output on a terminal."""
    return text if text.isprintable() else ascii(text)


def _undecided(line: str) -> NoReturn:
    click.echo(line, err=True)
    sys.exit(UNDECIDED)
