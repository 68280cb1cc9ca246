"""``aitp-desk client``: the OAuth clients of a desk, also while it serves."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    at_the_machine,
    desk_data,
    desk_store,
    present_database,
    present_keys,
)
from aitp_desk.cli.lengths import read_end, read_length
from aitp_desk.cli.moments import day_of, minute_of, second_of, second_or_none

if TYPE_CHECKING:
    from aitp_desk.auth.data_keys import DataKeys
    from aitp_desk.store.client_records import Client


_webhook_secret = click.option(
    "--webhook-secret",
    "shows_webhook_secret",
    is_flag=True,
    help="Show what callbacks are signed with as well.",
)


@click.group()
def client() -> None:
    """Make, list, rotate and revoke OAuth clients. A running desk knows of it within a second."""


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
@click.option("--expires", metavar="90d|DATE", help="When it ends; by default never.")
@_webhook_secret
def create(
    data: Path,
    url: str,
    name: str,
    scopes: tuple[str, ...],
    expires: str | None,
    *,
    shows_webhook_secret: bool,
) -> None:
    """Make a client. Its last lines are its id and its secrets, which are shown only this once."""
    now = int(time.time())
    expires_at = None if expires is None else read_end(expires, now)
    with mistakes_told():
        from aitp_desk.auth.clients import ClientSecrets
        from aitp_desk.model.scope import check_scopes
        from aitp_desk.store import work
        from aitp_desk.store.sqlite import SqliteStore

        if not name.strip() or not name.isprintable():
            fail(["--name: takes a name on one line."])
        scopes = check_scopes(scopes)
        database, keys = present_database(data, url), present_keys(data, url)
        made, secret = ClientSecrets(keys).make(
            name=name, scopes=scopes, is_registered=False, now=now, expires_at=expires_at
        )

        async def keep() -> None:
            async with SqliteStore.open(database) as store:
                await store.run(work.create_client, client=made, by=at_the_machine(keys))

        asyncio.run(keep())
    ends = "" if expires_at is None else f" It ends {minute_of(expires_at)} UTC."
    click.echo(f"Made client {made.id} ({name}) with the scopes {', '.join(scopes)}.{ends}")
    _show(made, secret, keys if shows_webhook_secret else None)


@client.command()
@desk_data
@desk_store
@click.argument("id_or_name")
@click.option(
    "--overlap",
    default="1h",
    show_default=True,
    metavar="LENGTH",
    help="How long the secret that it has goes on working, such as 30m or 2d; 0 for not at all.",
)
@_webhook_secret
def rotate(
    data: Path, url: str, id_or_name: str, overlap: str, *, shows_webhook_secret: bool
) -> None:
    """Give a client another secret, under the same id, name and scopes.

    Its last lines are its id and the new secret. Access tokens that it has go on until they end.
    Two secrets work at a time: one that an earlier rotation has left ends at once.
    """
    now = int(time.time())
    until = now + read_length(overlap)
    with mistakes_told():
        from aitp_desk.auth.clients import ClientSecrets
        from aitp_desk.store import client_reads, work
        from aitp_desk.store.sqlite import SqliteStore

        database, keys = present_database(data, url), present_keys(data, url)

        async def exchange() -> tuple[Client, str]:
            async with SqliteStore.open(database) as store:
                kept = await client_reads.live_client(store, id_or_name)
                if kept is None:
                    _not_live(id_or_name)
                secret, hash_, data_key = ClientSecrets(keys).renew(kept.id)
                rotated = await store.run(
                    work.rotate_client,
                    client=kept,
                    hash=hash_,
                    data_key=data_key,
                    previous_until=until,
                    now=now,
                    by=at_the_machine(keys),
                )
                return rotated, secret

        rotated, secret = asyncio.run(exchange())
    former = f"goes on until {minute_of(until)} UTC" if until > now else "works no more"
    click.echo(f"Rotated client {rotated.id} ({rotated.name}). The secret before {former}.")
    _show(rotated, secret, keys if shows_webhook_secret else None)


@client.command(name="list")
@desk_data
@desk_store
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
def list_(data: Path, url: str, *, as_json: bool) -> None:
    """List the clients, revoked ones and those that registered themselves included."""
    with mistakes_told():
        from aitp_desk.store import client_reads
        from aitp_desk.store.sqlite import SqliteStore

        database = present_database(data, url)

        async def read() -> tuple[Client, ...]:
            async with SqliteStore.open(database) as store:
                return await client_reads.list_clients(store)

        now = time.time()
        for kept in asyncio.run(read()):
            click.echo(_in_json(kept, now) if as_json else _in_line(kept, now))


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
            _not_live(id_or_name)
        click.echo(f"Revoked client {revoked.id} ({revoked.name}).")


def _show(kept: Client, secret: str, keys: DataKeys | None) -> None:
    """Show the secrets, once.

    Parameters:
        keys: what the webhook secret comes from; None where that is not shown.
    """
    click.echo("Keep its secret; it cannot be shown again:")
    click.echo(f"client_id={kept.id}")
    click.echo(f"client_secret={secret}")
    if keys is not None:
        from aitp_desk.auth.webhooks import webhook_secret_of_client

        made = webhook_secret_of_client(keys, kept.id, kept.version, kept.data_key)
        click.echo(f"webhook_secret={made}")


def _not_live(id_or_name: str) -> NoReturn:
    fail([f"There is no live client {id_or_name!r}; 'aitp-desk client list' shows them."])


def _in_line(kept: Client, now: float) -> str:
    made_by = "registered" if kept.is_registered else "owner's"
    made, scopes = day_of(kept.created_at), ",".join(kept.scopes)
    return "  ".join((kept.id, made, _state(kept, now), made_by, scopes, kept.name))


def _in_json(kept: Client, now: float) -> str:
    import msgspec

    former = kept.former_at(now)
    told = {
        "id": kept.id,
        "name": kept.name,
        "scopes": kept.scopes,
        "is_registered": kept.is_registered,
        "is_live": kept.is_live(now),
        "created_at": second_of(kept.created_at),
        "expires_at": second_or_none(kept.expires_at),
        "revoked_at": second_or_none(kept.revoked_at),
        "former_until": None if former is None else second_of(former.until),
    }
    return msgspec.json.encode(told).decode()


def _state(kept: Client, now: float) -> str:
    if kept.revoked_at is not None:
        return f"revoked {day_of(kept.revoked_at)}"
    if kept.expires_at is None:
        return "live"
    over = now >= kept.expires_at
    return f"{'expired' if over else 'live until'} {day_of(kept.expires_at)}"
