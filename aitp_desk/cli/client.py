"""``aitp-desk client``: the OAuth clients of a desk, also while it serves."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    at_the_machine,
    desk_data,
    desk_store,
    present_database,
    present_keys,
)
from aitp_desk.cli.moments import day_of

if TYPE_CHECKING:
    from aitp_desk.store.client_records import Client


@click.group()
def client() -> None:
    """Make, list and revoke OAuth clients. A running desk knows of it within a second."""


@client.command()
@desk_data
@desk_store
@click.option("--name", required=True, help="What it is for; no two live ones share a name.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    help="threads, actions, actions:NAME, operator or admin; may be given several times.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    help="How long it lasts; without it until it is revoked.",
)
@click.option(
    "--webhook-secret",
    "shows_webhook_secret",
    is_flag=True,
    help="Show what callbacks are signed with as well.",
)
def create(
    data: Path,
    url: str,
    name: str,
    scopes: tuple[str, ...],
    days: int | None,
    *,
    shows_webhook_secret: bool,
) -> None:
    """Make a client. Its last lines are its id and its secrets, which are shown only this once."""
    with mistakes_told():
        from aitp_desk.auth.clients import ClientSecrets
        from aitp_desk.auth.webhooks import webhook_secret_of_client
        from aitp_desk.model.scope import check_scopes
        from aitp_desk.store import work
        from aitp_desk.store.sqlite import SqliteStore

        if not name.strip() or not name.isprintable():
            fail(["--name: takes a name on one line."])
        scopes = check_scopes(scopes)
        database, keys = present_database(data, url), present_keys(data, url)
        made, secret = ClientSecrets(keys).make(
            name=name, scopes=scopes, is_registered=False, now=int(time.time()), days=days
        )

        async def keep() -> None:
            async with SqliteStore.open(database) as store:
                await store.run(work.create_client, client=made, by=at_the_machine(keys))

        asyncio.run(keep())
    click.echo(f"Made client {made.id} ({name}) with the scopes {', '.join(scopes)}.")
    click.echo("Keep its secret; it cannot be shown again:")
    click.echo(f"client_id={made.id}")
    click.echo(f"client_secret={secret}")
    if shows_webhook_secret:
        click.echo(f"webhook_secret={webhook_secret_of_client(keys, made)}")


@client.command(name="list")
@desk_data
@desk_store
def list_(data: Path, url: str) -> None:
    """List the clients, revoked ones and those that registered themselves included."""
    with mistakes_told():
        from aitp_desk.store import client_reads
        from aitp_desk.store.sqlite import SqliteStore

        database = present_database(data, url)

        async def read() -> tuple[Client, ...]:
            async with SqliteStore.open(database) as store:
                return await client_reads.list_clients(store)

        for kept in asyncio.run(read()):
            made_by = "registered" if kept.is_registered else "owner's"
            scopes = ",".join(kept.scopes)
            click.echo(
                f"{kept.id}  {day_of(kept.created_at)}  {_state(kept)}  {made_by}  {scopes}"
                f"  {kept.name}"
            )


@client.command()
@desk_data
@desk_store
@click.argument("id_or_name")
def revoke(data: Path, url: str, id_or_name: str) -> None:
    """Revoke a client by its id, or one that you made by its name; its tokens end with it."""
    with mistakes_told():
        from aitp_desk.store import work
        from aitp_desk.store.sqlite import SqliteStore

        database, keys = present_database(data, url), present_keys(data, url)

        async def end() -> Client | None:
            async with SqliteStore.open(database) as store:
                return await store.run(
                    work.revoke_client,
                    id_or_name=id_or_name,
                    now=int(time.time()),
                    by=at_the_machine(keys),
                )

        revoked = asyncio.run(end())
        if revoked is None:
            fail([f"There is no live client {id_or_name!r}; 'aitp-desk client list' shows them."])
        click.echo(f"Revoked client {revoked.id} ({revoked.name}).")


def _state(kept: Client) -> str:
    if kept.revoked_at is not None:
        return f"revoked {day_of(kept.revoked_at)}"
    if kept.expires_at is None:
        return "live"
    over = time.time() >= kept.expires_at
    return f"{'expired' if over else 'live until'} {day_of(kept.expires_at)}"
