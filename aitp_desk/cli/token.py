"""``aitp-desk token``: the API keys of a desk, also while it serves."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
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

if TYPE_CHECKING:
    from aitp_desk.store.records import Token


@click.group()
def token() -> None:
    """Make, list and revoke API keys. A running desk knows of it within a second."""


@token.command()
@desk_data
@desk_store
@click.option("--name", required=True, help="What the key is for; no two live keys share a name.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    help="threads, actions, actions:NAME, operator or admin; may be given several times.",
)
@click.option("--hmac", "signs", is_flag=True, help="Make a key that signs requests instead.")
def create(data: Path, url: str, name: str, scopes: tuple[str, ...], *, signs: bool) -> None:
    """Make an API key. Its last line is the key itself, which is shown only this once.

    With --hmac the last two lines are the id and the secret of a key that signs requests: it is
    never sent itself (docs/signed-requests.md).
    """
    with mistakes_told():
        from aitp_desk.auth.api_key import check_scopes, make_api_key
        from aitp_desk.auth.signed_request import make_secret
        from aitp_desk.store import work
        from aitp_desk.store.records import Token
        from aitp_desk.store.sqlite import SqliteStore

        if not name.strip() or not name.isprintable():
            fail(["--name: takes a name on one line."])
        scopes = check_scopes(scopes)
        database = present_database(data, url)
        keys = present_keys(data, url)
        id_, key = make_api_key()
        made = Token(
            id=id_,
            name=name,
            hash=b"" if signs else keys.hash_token(key, keys.newest),
            data_key=keys.newest,
            scopes=scopes,
            created_at=int(time.time()),
            kind="hmac" if signs else "api_key",
        )

        async def keep() -> None:
            async with SqliteStore.open(database) as store:
                await store.run(work.create_token, token=made, by=at_the_machine(keys))

        asyncio.run(keep())
    click.echo(f"Made token {id_} ({name}) with the scopes {', '.join(scopes)}.")
    if signs:
        _show_signing_key(made, make_secret(keys, id_, made.version, made.data_key))
        return
    click.echo("Keep this key; it cannot be shown again:")
    click.echo(key)


def _show_signing_key(key: Token, secret: str) -> None:
    """Say what its owner signs with, as a shell takes it into its environment."""
    click.echo("Keep this secret; it cannot be shown again, and is never sent:")
    click.echo(f"AITP_DESK_KEY_ID={key.id}.{key.version}")
    click.echo(f"AITP_DESK_SECRET={secret}")


@token.command(name="list")
@desk_data
@desk_store
def list_(data: Path, url: str) -> None:
    """List the API keys, revoked ones included; never the secrets."""
    with mistakes_told():
        from aitp_desk.store import reads
        from aitp_desk.store.sqlite import SqliteStore

        database = present_database(data, url)

        async def read() -> tuple[Token, ...]:
            async with SqliteStore.open(database) as store:
                return await reads.list_tokens(store)

        for kept in asyncio.run(read()):
            state = f"revoked {_day(kept.revoked_at)}" if kept.revoked_at is not None else "live"
            scopes = ",".join(kept.scopes)
            click.echo(f"{kept.id}  {_day(kept.created_at)}  {state}  {scopes}  {kept.name}")


@token.command()
@desk_data
@desk_store
@click.argument("id_or_name")
def revoke(data: Path, url: str, id_or_name: str) -> None:
    """Revoke an API key by its id or name; a running desk refuses it within a second."""
    with mistakes_told():
        from aitp_desk.store import work
        from aitp_desk.store.sqlite import SqliteStore

        database, keys = present_database(data, url), present_keys(data, url)

        async def end() -> Token | None:
            async with SqliteStore.open(database) as store:
                return await store.run(
                    work.revoke_token,
                    id_or_name=id_or_name,
                    now=int(time.time()),
                    by=at_the_machine(keys),
                )

        revoked = asyncio.run(end())
        if revoked is None:
            fail([f"There is no live token {id_or_name!r}; 'aitp-desk token list' shows them."])
        click.echo(f"Revoked token {revoked.id} ({revoked.name}).")


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()
