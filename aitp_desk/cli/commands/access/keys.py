"""``aitp-desk keys``: a desk's master key, data keys and token keys."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    make_local_auditor,
    require_database,
    require_keys,
    require_master_key,
    run_in_store,
)

if TYPE_CHECKING:
    from aitp_desk.auth.keys.data_keys import DataKeys
    from aitp_desk.auth.keys.master_key import MasterKey
    from aitp_desk.store.base import Store
    from aitp_desk.store.records.clients import SigningKey
    from aitp_desk.store.records.keys import Key, KeyReset, WrappedKey

T = TypeVar("T")


@click.group()
def keys() -> None:
    """Manage the keys of a desk."""


@keys.command()
@desk_data
@desk_store
@click.option(
    "--at-once",
    is_flag=True,
    help="Sign with the new key immediately and revoke all earlier keys, which ends all tokens.",
)
def rotate(data: Path, url: str, at_once: bool) -> None:
    """Create a new key that signs access tokens.

    The key is published immediately and signs ten minutes later, when verifiers have fetched it.
    The previous key stays published for one more day, until its last token has expired.
    """
    with mistakes_told():
        from aitp_desk.auth.jwt.signing_keys import AHEAD_SECONDS
        from aitp_desk.store.units.keys.clients import rotate_signing_key

        known = require_keys(data, url)

        async def add(store: Store) -> SigningKey:
            return await store.run(
                rotate_signing_key,
                now=int(time.time()),
                ahead=AHEAD_SECONDS,
                data_key=known.newest,
                voids_earlier=at_once,
                by=make_local_auditor(known),
            )

        made = run_in_store(data, url, add)
    if at_once:
        click.echo(
            f"Key {made.version} signs access tokens from now on; tokens signed by "
            "earlier keys are invalid."
        )
        return
    begins = datetime.fromtimestamp(made.signs_from, UTC).strftime("%H:%M:%S")
    click.echo(f"Published access token key {made.version}; it signs from {begins} UTC.")


@keys.command()
@desk_data
@desk_store
def check(data: Path, url: str) -> None:
    """Check that the master key belongs to the database and decrypts all its keys.

    The desk may be running. Exits with code 1 if anything is wrong.
    """
    with mistakes_told():
        from aitp_desk.auth.keys.data_keys import unwrap_all
        from aitp_desk.store.reads import threads as reads
        from aitp_desk.store.reads.credentials import keys as key_reads

        async def read(store: Store) -> tuple[tuple[WrappedKey, ...], tuple[Key, ...]]:
            return await key_reads.data_keys(store), await reads.list_tokens(store)

        require_database(data, url)
        master = require_master_key(data)
        kept, tokens = run_in_store(data, url, read)
        click.echo(f"master key  {master.fingerprint}, from {master.origin}")
        if not kept:
            click.echo("data keys   none yet; the next start creates one")
            return
        opened = unwrap_all(master, kept)
    live = [token for token in tokens if token.revoked_at is None]
    versions = ", ".join(map(str, sorted(opened.versions)))
    click.echo(f"data keys   {versions}; new credentials use the newest")
    click.echo(f"tokens      {len(live)} not revoked")
    if wrong := [*_wrong_tokens(live, opened), *_left_behind(data, master, kept)]:
        fail(wrong)
    click.echo("The master key belongs to this database and decrypts all data keys.")


@keys.command(name="rotate-master")
@desk_data
@desk_store
def rotate_master(data: Path, url: str) -> None:
    """Replace the master key; all credentials stay valid.

    Stop the desk first. A new key is written to the key file, unless AITP_DESK_NEW_MASTER_KEY or
    AITP_DESK_NEW_MASTER_KEY_FILE provides one.
    """

    async def exchange(store: Store, master: MasterKey) -> MasterKey:
        from aitp_desk.auth.keys.rotation import rotate_master_key

        return await rotate_master_key(store, data, os.environ, master, make_local_auditor(known))

    with mistakes_told():
        known = require_keys(data, url)
        present = require_master_key(data)
        made = _while_stopped(data, url, exchange)
    click.echo(f"The master key is now {made.fingerprint}, of {made.origin}.")
    if made.origin == present.origin:
        click.echo("Store a copy of it elsewhere; copies of the old key are useless now.")
    else:
        click.echo(
            f"Start the desk with this key from now on; the key from {present.origin} decrypts"
            " nothing."
        )


@keys.command(name="rotate-data")
@desk_data
@desk_store
def rotate_data(data: Path, url: str) -> None:
    """Create a data key; new credentials use it.

    Stop the desk first. Existing credentials stay valid. The access token key uses its data key
    until 'aitp-desk keys rotate'.
    """

    async def add(store: Store, master: MasterKey) -> int:
        from aitp_desk.auth.keys.rotation import add_data_key

        return await add_data_key(store, master, make_local_auditor(known))

    with mistakes_told():
        known = require_keys(data, url)
        version = _while_stopped(data, url, add)
    click.echo(
        f"Created data key {version}. API keys that are created or rotated from now on use it."
    )
    click.echo("The next access token key uses it too; create one with 'aitp-desk keys rotate'.")


@keys.command(name="reset")
@desk_data
@desk_store
@click.confirmation_option(prompt="Revoke all keys, clients and links, and delete the audit log?")
def reset(data: Path, url: str) -> None:
    """Replace a lost master key; threads, messages and files stay.

    Stop the desk and export the audit log first. All API keys, HMAC keys, OAuth clients, links and
    access tokens are revoked. The audit log is deleted, because without the key it cannot be
    checked.
    """

    async def begin(store: Store, master: MasterKey) -> KeyReset:
        from aitp_desk.auth.keys import rotation as exchanging

        return await exchanging.reset_keys(store, master, make_local_auditor)

    with mistakes_told():
        from aitp_desk.auth.keys.master_key import find_master_key, make_master_key

        require_database(data, url)
        if find_master_key(data, os.environ) is None:
            make_master_key(data)
        begun = _while_stopped(data, url, begin)
    click.echo("Created a new data key and a new access token key.")
    click.echo(f"{begun.keys:>8}  API keys and HMAC keys revoked")
    click.echo(f"{begun.clients:>8}  OAuth clients revoked, with their access tokens")
    click.echo(f"{begun.links:>8}  links to shared threads revoked")
    click.echo(f"{begun.rows:>8}  rows of the audit log deleted")
    click.echo(f"{begun.sealed:>8}  sealed values deleted; they could not be decrypted")


def _while_stopped(data: Path, url: str, exchange: Callable[[Store, MasterKey], Awaitable[T]]) -> T:
    from aitp_desk.store.engine.lock import lock_data_folder

    require_database(data, url)
    master = require_master_key(data)
    with lock_data_folder(data):
        return run_in_store(data, url, lambda store: exchange(store, master))


def _wrong_tokens(live: list[Key], opened: DataKeys) -> list[str]:
    return [
        f"The token {token.id} ({token.name}) uses data key {token.data_key}, which is "
        "not in the database: revoke it and create another."
        for token in live
        if token.data_key not in opened.versions
    ]


def _left_behind(data: Path, master: MasterKey, kept: tuple[WrappedKey, ...]) -> list[str]:
    """Return what an interrupted replacement of the master key left behind."""
    from aitp_desk.auth.keys.master_key import KEY_FILE

    others = sorted({key.master for key in kept} - {master.fingerprint})
    return [
        *(
            f"The database can be opened by the master key {other} too: a replacement was "
            "interrupted. Run 'aitp-desk keys rotate-master' again."
            for other in others
        ),
        *(
            f"{path} is left over from an interrupted rotation: remove it."
            for path in sorted(data.glob(f"{KEY_FILE}.*"))
        ),
    ]
