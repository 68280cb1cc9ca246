"""``aitp-desk token``: the keys of a desk, also while it serves."""

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
    from aitp_desk.store.key_records import Key

webhook_secret = click.option(
    "--webhook-secret",
    "shows_webhook_secret",
    is_flag=True,
    help="Show what callbacks are signed with as well.",
)


@click.group()
def token() -> None:
    """Make, list, rotate and revoke API keys. A running desk knows of it within a second."""


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
@click.option("--expires", metavar="90d|DATE", help="When it ends; by default never.")
@click.option("--hmac", "signs", is_flag=True, help="Make a key that signs requests instead.")
@webhook_secret
def create(
    data: Path,
    url: str,
    name: str,
    scopes: tuple[str, ...],
    expires: str | None,
    *,
    signs: bool,
    shows_webhook_secret: bool,
) -> None:
    """Make an API key. Its last line is the key itself, which is shown only this once.

    With --hmac the last two lines are the id and the secret of a key that signs requests: it is
    never sent itself (docs/signed-requests.md). With --webhook-secret the lines before these tell
    what callbacks to the key's holder are signed with (docs/callbacks.md).
    """
    now = int(time.time())
    expires_at = None if expires is None else read_end(expires, now)
    with mistakes_told():
        from aitp_desk.auth.api_key import make_api_key
        from aitp_desk.auth.signed_request import make_secret
        from aitp_desk.model.scope import check_scopes
        from aitp_desk.store import work
        from aitp_desk.store.key_records import Key
        from aitp_desk.store.sqlite import SqliteStore

        if not name.strip() or not name.isprintable():
            fail(["--name: takes a name on one line."])
        scopes = check_scopes(scopes)
        database = present_database(data, url)
        keys = present_keys(data, url)
        id_, key = make_api_key()
        made = Key(
            id=id_,
            name=name,
            hash=b"" if signs else keys.hash_token(key, keys.newest),
            data_key=keys.newest,
            scopes=scopes,
            created_at=now,
            kind="hmac" if signs else "api_key",
            expires_at=expires_at,
        )

        async def keep() -> None:
            async with SqliteStore.open(database) as store:
                await store.run(work.create_token, token=made, by=at_the_machine(keys))

        asyncio.run(keep())
    ends = "" if expires_at is None else f" It ends {minute_of(expires_at)} UTC."
    click.echo(f"Made token {id_} ({name}) with the scopes {', '.join(scopes)}.{ends}")
    if shows_webhook_secret:
        _show_webhook_secret(keys, made)
    _show(made, make_secret(keys, id_, made.version, made.data_key) if signs else key)


@token.command()
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
@webhook_secret
def rotate(
    data: Path, url: str, id_or_name: str, overlap: str, *, shows_webhook_secret: bool
) -> None:
    """Give a key another secret, under the same id, name and scopes.

    Its last lines are the new secret, as those of 'create'. Two secrets work at a time: one that an
    earlier rotation has left ends at once. What callbacks are signed with changes too; while two
    secrets work they are signed with both.
    """
    now = int(time.time())
    until = now + read_length(overlap)
    with mistakes_told():
        from aitp_desk.auth.api_key import make_api_key
        from aitp_desk.auth.signed_request import make_secret
        from aitp_desk.store import reads, work
        from aitp_desk.store.sqlite import SqliteStore

        database, keys = present_database(data, url), present_keys(data, url)

        async def exchange() -> tuple[Key, str]:
            async with SqliteStore.open(database) as store:
                kept = await reads.unrevoked_token(store, id_or_name)
                if kept is None:
                    _not_live(id_or_name)
                signs = kept.kind == "hmac"
                _, key = make_api_key(kept.id)
                rotated = await store.run(
                    work.rotate_token,
                    id=kept.id,
                    version=kept.version,
                    hash=b"" if signs else keys.hash_token(key, keys.newest),
                    data_key=keys.newest,
                    previous_until=until,
                    now=now,
                    by=at_the_machine(keys),
                )
                if signs:
                    key = make_secret(keys, rotated.id, rotated.version, rotated.data_key)
                return rotated, key

        rotated, secret = asyncio.run(exchange())
    former = f"goes on until {minute_of(until)} UTC" if until > now else "works no more"
    click.echo(f"Rotated token {rotated.id} ({rotated.name}). The secret before {former}.")
    if shows_webhook_secret:
        _show_webhook_secret(keys, rotated)
    _show(rotated, secret)


@token.command(name="list")
@desk_data
@desk_store
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
def list_(data: Path, url: str, *, as_json: bool) -> None:
    """List all keys, revoked ones included; never the secrets.

    A line tells the id, the kind, when it was made, whether it is live, when it was last used, its
    scopes and its name. Times are UTC.
    """
    with mistakes_told():
        from aitp_desk.store import reads
        from aitp_desk.store.sqlite import SqliteStore

        database = present_database(data, url)

        async def read() -> tuple[Key, ...]:
            async with SqliteStore.open(database) as store:
                return await reads.list_tokens(store)

        now = int(time.time())
        for kept in asyncio.run(read()):
            click.echo(_in_json(kept, now) if as_json else _in_line(kept, now))


@token.command()
@desk_data
@desk_store
@click.argument("id_or_name")
def revoke(data: Path, url: str, id_or_name: str) -> None:
    """Revoke a key by its id or name; a running desk refuses it within a second."""
    with mistakes_told():
        from aitp_desk.store import work
        from aitp_desk.store.sqlite import SqliteStore

        database, keys = present_database(data, url), present_keys(data, url)

        async def end() -> Key | None:
            async with SqliteStore.open(database) as store:
                return await store.run(
                    work.revoke_token,
                    id_or_name=id_or_name,
                    now=int(time.time()),
                    by=at_the_machine(keys),
                )

        revoked = asyncio.run(end())
        if revoked is None:
            _not_live(id_or_name)
        click.echo(f"Revoked token {revoked.id} ({revoked.name}).")


def _show_webhook_secret(keys: DataKeys, key: Key) -> None:
    """Show what callbacks to a key's holder are signed with."""
    from aitp_desk.auth.webhooks import webhook_secret_of_key

    secret = webhook_secret_of_key(keys, key.id, key.version, key.data_key)
    click.echo("Keep what callbacks are signed with; it cannot be shown again:")
    click.echo(f"AITP_DESK_WEBHOOK_SECRET={secret}")


def _show(key: Key, secret: str) -> None:
    """Show a secret, once; what signs as a shell takes it into its environment."""
    if key.kind == "api_key":
        click.echo("Keep this key; it cannot be shown again:")
        click.echo(secret)
        return
    click.echo("Keep this secret; it cannot be shown again, and is never sent:")
    click.echo(f"AITP_DESK_KEY_ID={key.id}.{key.version}")
    click.echo(f"AITP_DESK_SECRET={secret}")


def _not_live(id_or_name: str) -> NoReturn:
    fail([f"There is no live token {id_or_name!r}; 'aitp-desk token list' shows them."])


def _in_line(kept: Key, now: int) -> str:
    used = f"used {minute_of(kept.used_at)}" if kept.used_at is not None else "never used"
    made, scopes = f"made {day_of(kept.created_at)}", ",".join(kept.scopes)
    return "  ".join(
        (kept.id, kept.kind, made, used, " ".join(_state(kept, now)), scopes, kept.name)
    )


def _state(kept: Key, now: int) -> tuple[str, ...]:
    """Whether a key is live, and when that ended or ends."""
    if kept.revoked_at is not None:
        return "revoked", day_of(kept.revoked_at)
    if kept.expires_at is None:
        return ("live",)
    return "live until" if now < kept.expires_at else "expired", day_of(kept.expires_at)


def _in_json(kept: Key, now: int) -> str:
    import msgspec

    from aitp_desk.auth.api_key import shown_prefix

    former = kept.former_at(now)
    told = {
        "id": kept.id,
        "kind": kept.kind,
        "prefix": shown_prefix(kept.id) if kept.kind == "api_key" else None,
        "name": kept.name,
        "scopes": kept.scopes,
        "is_live": kept.is_live(now),
        "version": kept.version,
        "created_at": second_of(kept.created_at),
        "expires_at": second_or_none(kept.expires_at),
        "used_at": second_or_none(kept.used_at),
        "revoked_at": second_or_none(kept.revoked_at),
        "former_until": None if former is None else second_of(former.until),
    }
    return msgspec.json.encode(told).decode()
