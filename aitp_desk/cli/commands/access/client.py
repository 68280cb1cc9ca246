"""``aitp-desk client``: the OAuth clients of a desk, also while it serves."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.commands.access.unknown_scopes import note_unknown_actions
from aitp_desk.cli.credentials import (
    check_name,
    describe_lifetime,
    expires_given,
    overlap_given,
    print_created,
    print_rotated,
    scopes_given,
    webhook_secret,
)
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    json_lines,
    make_local_auditor,
    require_keys,
    run_in_store,
)
from aitp_desk.cli.durations import read_end, read_length
from aitp_desk.model.timestamps import write_day, write_optional_timestamp, write_timestamp

if TYPE_CHECKING:
    from aitp_desk.auth.keys.data_keys import DataKeys
    from aitp_desk.store.base import Store
    from aitp_desk.store.records.clients import Client


@click.group()
def client() -> None:
    """Create, list, rotate and revoke OAuth clients.

    A running desk applies changes within a second.
    """


@client.command()
@desk_data
@desk_store
@click.option(
    "--name", required=True, help="The purpose of the client; unique among valid clients."
)
@scopes_given
@expires_given
@webhook_secret
def create(
    data: Path,
    url: str,
    name: str,
    scopes: tuple[str, ...],
    expires: str | None,
    *,
    shows_webhook_secret: bool,
) -> None:
    """Create a client.

    The last lines printed are its id and its secrets, which are shown only once.
    """
    now = int(time.time())
    expires_at = None if expires is None else read_end(expires, now)
    with mistakes_told():
        from aitp_desk.auth.jwt.clients import ClientSecrets
        from aitp_desk.model.access.scope import check_scopes
        from aitp_desk.store.units.keys.clients import create_client

        check_name(name)
        scopes = check_scopes(scopes)
        keys = require_keys(data, url)
        made, secret = ClientSecrets(keys).make(
            name=name, scopes=scopes, is_registered=False, now=now, expires_at=expires_at
        )
        by = make_local_auditor(keys)
        run_in_store(data, url, lambda store: store.run(create_client, client=made, by=by))
    note_unknown_actions(data, scopes)
    print_created(f"client {made.id} ({name})", scopes, expires_at)
    _show(made, secret, keys if shows_webhook_secret else None)


@client.command()
@desk_data
@desk_store
@click.argument("id_or_name")
@overlap_given
@webhook_secret
def rotate(
    data: Path, url: str, id_or_name: str, overlap: str, *, shows_webhook_secret: bool
) -> None:
    """Give a client a new secret; its id, name and scopes stay.

    The last lines printed are its id and the new secret. Its access tokens stay valid until they
    expire. At most two secrets are valid at a time: a secret from before the last rotation ends
    now.
    """
    now = int(time.time())
    until = now + read_length(overlap)
    with mistakes_told():
        from aitp_desk.auth.jwt.clients import ClientSecrets
        from aitp_desk.store.reads.credentials import clients as client_reads
        from aitp_desk.store.units.keys.clients import rotate_client

        keys = require_keys(data, url)

        async def exchange(store: Store) -> tuple[Client, str]:
            kept = await client_reads.live_client(store, id_or_name)
            if kept is None:
                _not_live(id_or_name)
            secret, hash_, data_key = ClientSecrets(keys).renew(kept.id)
            rotated = await store.run(
                rotate_client,
                client=kept,
                hash=hash_,
                data_key=data_key,
                previous_until=until,
                now=now,
                by=make_local_auditor(keys),
            )
            return rotated, secret

        rotated, secret = run_in_store(data, url, exchange)
    print_rotated(f"client {rotated.id} ({rotated.name})", until, now)
    _show(rotated, secret, keys if shows_webhook_secret else None)


@client.command(name="list")
@desk_data
@desk_store
@json_lines
def list_(data: Path, url: str, *, as_json: bool) -> None:
    """List all clients, including revoked and self-registered ones."""
    with mistakes_told():
        from aitp_desk.store.reads.credentials import clients as client_reads

        now = time.time()
        for kept in run_in_store(data, url, client_reads.list_clients):
            click.echo(_in_json(kept, now) if as_json else _in_line(kept, now))


@client.command()
@desk_data
@desk_store
@click.argument("id_or_name")
def revoke(data: Path, url: str, id_or_name: str) -> None:
    """Revoke a client, given by id or name, and its tokens.

    A name must be that of a client that you created.
    """
    with mistakes_told():
        from aitp_desk.store.units.keys.clients import revoke_client

        by, now = make_local_auditor(require_keys(data, url)), int(time.time())
        revoked = run_in_store(
            data,
            url,
            lambda store: store.run(revoke_client, id_or_name=id_or_name, now=now, by=by),
        )
        if revoked is None:
            _not_live(id_or_name)
        click.echo(f"Revoked client {revoked.id} ({revoked.name}).")


def _show(kept: Client, secret: str, keys: DataKeys | None) -> None:
    """Show the secrets, once.

    Parameters:
        keys: derive the webhook secret; None to omit it.
    """
    click.echo("Keep its secret; it cannot be shown again:")
    click.echo(f"client_id={kept.id}")
    click.echo(f"client_secret={secret}")
    if keys is not None:
        from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_client

        made = webhook_secret_of_client(keys, kept.id, kept.version, kept.data_key)
        click.echo(f"webhook_secret={made}")


def _not_live(id_or_name: str) -> NoReturn:
    fail([f"There is no valid client {id_or_name!r}; list them with 'aitp-desk client list'."])


def _in_line(kept: Client, now: float) -> str:
    made_by = "registered" if kept.is_registered else "owner's"
    made, scopes = write_day(kept.created_at), ",".join(kept.scopes)
    life = " ".join(describe_lifetime(kept.revoked_at, kept.expires_at, now))
    return "  ".join((kept.id, made, life, made_by, scopes, kept.name))


def _in_json(kept: Client, now: float) -> str:
    import msgspec

    former = kept.former_at(now)
    told = {
        "id": kept.id,
        "name": kept.name,
        "scopes": kept.scopes,
        "is_registered": kept.is_registered,
        "is_live": kept.is_live(now),
        "created_at": write_timestamp(kept.created_at),
        "expires_at": write_optional_timestamp(kept.expires_at),
        "revoked_at": write_optional_timestamp(kept.revoked_at),
        "former_until": None if former is None else write_timestamp(former.until),
    }
    return msgspec.json.encode(told).decode()
