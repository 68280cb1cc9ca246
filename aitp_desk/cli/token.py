"""``aitp-desk token``: the API keys of a desk, also while it serves."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from aitp_desk.cli.arguments import fail, mistakes_told

if TYPE_CHECKING:
    from aitp_desk.store.records import Token

_data = click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The desk's data folder, such as FOLDER/.desk.",
)
_store = click.option(
    "--store",
    "url",
    metavar="URL",
    default="sqlite:desk.db",
    show_default=True,
    help="The desk's store.url, where it is not the default.",
)


@click.group()
def token() -> None:
    """Make, list and revoke API keys. A running desk knows of it within a second."""


@token.command()
@_data
@_store
@click.option("--name", required=True, help="What the key is for; no two live keys share a name.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    help="threads, actions, actions:NAME, operator or admin; may be given several times.",
)
def create(data: Path, url: str, name: str, scopes: tuple[str, ...]) -> None:
    """Make an API key. Its last line is the key itself, which is shown only this once."""
    with mistakes_told():
        from aitp_desk.auth.api_key import check_scopes, make_api_key
        from aitp_desk.auth.keys import KEY_FILE, open_master_key
        from aitp_desk.store import work
        from aitp_desk.store.records import Token
        from aitp_desk.store.sqlite import SqliteStore

        if not name.strip() or not name.isprintable():
            fail(["--name: takes a name on one line."])
        scopes = check_scopes(scopes)
        database = _present_database(data, url)
        if not (data / KEY_FILE).is_file():
            _not_served(data / KEY_FILE)
        id_, key = make_api_key()
        made = Token(
            id=id_,
            name=name,
            hash=open_master_key(data).hash_token(key),
            scopes=scopes,
            created_at=int(time.time()),
        )

        async def keep() -> None:
            async with SqliteStore.open(database) as store:
                await store.run(work.create_token, token=made)

        asyncio.run(keep())
    click.echo(f"Made token {id_} ({name}) with the scopes {', '.join(scopes)}.")
    click.echo("Keep this key; it cannot be shown again:")
    click.echo(key)


@token.command(name="list")
@_data
@_store
def list_(data: Path, url: str) -> None:
    """List the API keys, revoked ones included; never the secrets."""
    with mistakes_told():
        from aitp_desk.store import reads
        from aitp_desk.store.sqlite import SqliteStore

        database = _present_database(data, url)

        async def read() -> tuple[Token, ...]:
            async with SqliteStore.open(database) as store:
                return await reads.list_tokens(store)

        for kept in asyncio.run(read()):
            state = f"revoked {_day(kept.revoked_at)}" if kept.revoked_at is not None else "live"
            scopes = ",".join(kept.scopes)
            click.echo(f"{kept.id}  {_day(kept.created_at)}  {state}  {scopes}  {kept.name}")


@token.command()
@_data
@_store
@click.argument("id_or_name")
def revoke(data: Path, url: str, id_or_name: str) -> None:
    """Revoke an API key by its id or name; a running desk refuses it within a second."""
    with mistakes_told():
        from aitp_desk.store import work
        from aitp_desk.store.sqlite import SqliteStore

        database = _present_database(data, url)

        async def end() -> Token | None:
            async with SqliteStore.open(database) as store:
                return await store.run(
                    work.revoke_token, id_or_name=id_or_name, now=int(time.time())
                )

        revoked = asyncio.run(end())
        if revoked is None:
            fail([f"There is no live token {id_or_name!r}; 'aitp-desk token list' shows them."])
        click.echo(f"Revoked token {revoked.id} ({revoked.name}).")


def _present_database(data: Path, url: str) -> Path:
    from aitp_desk.config.rules import wrong_store_url
    from aitp_desk.config.settings import sqlite_path

    if wrong := wrong_store_url(url):
        fail([f"--store: {wrong}; it takes sqlite: and a path, such as sqlite:desk.db."])
    path = sqlite_path(url, data)
    if not path.is_file():
        _not_served(path)
    return path


def _not_served(missing: Path) -> NoReturn:
    right = "serve the site once first, or name its data folder, such as FOLDER/.desk"
    fail([f"--data: there is no {missing}; {right}."])


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()
