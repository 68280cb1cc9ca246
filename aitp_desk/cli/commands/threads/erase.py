"""``aitp-desk erase``: erases a person's messages permanently, also while the desk serves."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    make_local_auditor,
    require_database,
    require_keys,
    run_in_store,
)
from aitp_desk.model.text import write_count

if TYPE_CHECKING:
    from aitp_desk.store.base import Store
    from aitp_desk.store.reads.privacy.erasure import ErasureCounts, Person

_EVERYBODY = ("visitor", "anonymous")
_FORGOTTEN = "A running desk drops its cached copies within a second."
NO_THREAD = (
    "--thread: there is nothing of this person on {id}. If the thread was not deleted before, "
    "check the id; it begins with thread_."
)
_IN_A_BUCKET = "A serving desk deletes erased files from the bucket within a minute."
_NOT_TOUCHED = (
    "Not erased: other people's messages, even if they quote these; backups and exported "
    "copies; data sent to a model's provider or another service; the audit log, which "
    "contains no message text. Erase the copies there."
)

person_actor = click.option(
    "--actor", metavar="ID", help="The id of a thread's actor, or of a principal such as key:…"
)
person_thread = click.option("--thread", "thread_id", metavar="ID", help="Only on this thread.")


def read_person(actor: str | None, thread_id: str | None) -> Person:
    """Return the person whom the options name; exit where they name none."""
    from aitp_desk.store.reads.privacy.erasure import Person

    if actor is None and thread_id is None:
        fail(["Name the author or the thread with --actor ID, --thread ID, or both."])
    if "" in (actor, thread_id):  # as from a script whose variable is not set
        fail(["--actor and --thread must be an id, not an empty text."])
    if actor in _EVERYBODY and thread_id is None:
        fail([f"--actor: {actor} means all callers without a credential. Give --thread as well."])
    return Person(actor, thread_id)


@click.command()
@desk_data
@desk_store
@person_actor
@person_thread
@click.option(
    "--free-space",
    is_flag=True,
    help="Only overwrite what deleted data left in the database files.",
)
@click.option("--dry-run", is_flag=True, help="Only list what would be erased.")
@click.option(
    "--no-rewrite",
    is_flag=True,
    help="Do not rewrite the database; deleted text may remain in free space.",
)
def erase(
    data: Path,
    url: str,
    actor: str | None,
    thread_id: str | None,
    free_space: bool,
    dry_run: bool,
    no_rewrite: bool,
) -> None:
    """Erase a person's messages, and the desk's replies that may repeat them.

    With --thread alone: the messages of all its visitors. Positions, digests and links of the
    messages stay, so that the thread's chain stays verifiable. Run it again if it was interrupted.
    """
    with mistakes_told():
        from aitp_desk.desk.maintenance.erasure import erase_words, find_words
        from aitp_desk.store.reads.files import unneeded_objects

        if free_space:
            if actor or thread_id or dry_run or no_rewrite:
                fail(["--free-space changes no row. Leave out --actor and --thread."])
            click.echo(_wipe(data, url, rewrites=True))
            return
        person = read_person(actor, thread_id)
        keys = require_keys(data, url)

        async def work(store: Store) -> ErasureCounts:
            if dry_run:
                return await find_words(store, person)
            by = make_local_auditor(keys)
            done = await erase_words(store, person, by=by, clock=time.time)
            if await unneeded_objects(store, "", 1):
                click.echo(_IN_A_BUCKET)
            return done

        erased = run_in_store(data, url, work)
        for line in _told(person, erased, dry_run=dry_run):
            click.echo(line)
        if thread_id is not None and not erased.threads:
            click.echo(NO_THREAD.format(id=thread_id), err=True)
        if not dry_run:
            click.echo(f"{_wipe(data, url, rewrites=not no_rewrite)} {_FORGOTTEN}")
            click.echo(_NOT_TOUCHED)


def _told(person: Person, erased: ErasureCounts, *, dry_run: bool) -> list[str]:
    whose = "all visitors" if person.id is None else person.id
    where = (
        "one thread"
        if person.thread_id and erased.threads
        else write_count(erased.threads, "thread")
    )
    counts = [
        ("messages of the person", erased.messages),
        ("replies of the desk", erased.replies),
        ("uploaded files", erased.files),
    ]
    if not dry_run:
        counts += [
            ("requests to the agent", erased.runs),
            ("steps of the agent's runs", erased.steps),
            ("calls of actions", erased.calls),
            ("sealed values", erased.sealed),
            ("running agent runs, which have failed", erased.ended),
            ("threads' metadata", erased.notes),
            ("idempotency keys", erased.keys),
            ("grants of shared threads", erased.grants),
            ("jobs, done or queued", erased.jobs),
        ]
    did = "Would erase" if dry_run else "Erased"
    return [f"{did} the words of {whose} on {where}:", *(f"  {n:>6}  {what}" for what, n in counts)]


def _wipe(data: Path, url: str, *, rewrites: bool) -> str:
    """Remove what deleted rows have left in the database; return what was done."""
    return require_database(data, url).wipe(url, data, os.environ, rewrites)
