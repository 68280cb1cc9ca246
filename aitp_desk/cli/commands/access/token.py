"""``aitp-desk token``: a desk's API keys, also while it serves."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.commands.access.revoke_jwt import revoke_jwt
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
from aitp_desk.model.timestamps import (
    write_day,
    write_minute,
    write_optional_timestamp,
    write_timestamp,
)

if TYPE_CHECKING:
    from aitp_desk.auth.keys.data_keys import DataKeys
    from aitp_desk.store.base import Store
    from aitp_desk.store.records.keys import Key


@click.group()
def token() -> None:
    """Create, list, rotate and revoke API keys. A running desk applies changes within a second."""


token.add_command(revoke_jwt)


@token.command()
@desk_data
@desk_store
@click.option("--name", required=True, help="The purpose of the key; unique among valid keys.")
@scopes_given
@expires_given
@click.option("--hmac", "signs", is_flag=True, help="Create a key that signs requests instead.")
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
    """Create an API key. The last line printed is the key, which is shown only once.

    With --hmac the last two lines are the id and the secret of a key that signs requests; the
    secret is never sent (docs/build/oauth.md). With --webhook-secret the lines before show the
    secret that signs callbacks to the key's holder (docs/protocols/ahp-actions.md).
    """
    now = int(time.time())
    expires_at = None if expires is None else read_end(expires, now)
    with mistakes_told():
        from aitp_desk.auth.credentials.api_key import make_api_key
        from aitp_desk.auth.credentials.signed_request import make_secret
        from aitp_desk.model.access.scope import check_scopes
        from aitp_desk.store.records.keys import Key
        from aitp_desk.store.units.keys.tokens import create_token

        check_name(name)
        scopes = check_scopes(scopes)
        keys = require_keys(data, url)
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
        by = make_local_auditor(keys)
        run_in_store(data, url, lambda store: store.run(create_token, token=made, by=by))
    note_unknown_actions(data, scopes)
    print_created(f"token {id_} ({name})", scopes, expires_at)
    if shows_webhook_secret:
        _show_webhook_secret(keys, made)
    _show(made, make_secret(keys, id_, made.version, made.data_key) if signs else key)


@token.command()
@desk_data
@desk_store
@click.argument("id_or_name")
@overlap_given
@webhook_secret
def rotate(
    data: Path, url: str, id_or_name: str, overlap: str, *, shows_webhook_secret: bool
) -> None:
    """Give a key a new secret; its id, name and scopes stay.

    The last lines printed are the new secret, in the format of 'create'. At most two secrets are
    valid at a time: a secret from before the last rotation ends now. The callback secret changes
    too; while two secrets are valid, callbacks are signed with both.
    """
    now = int(time.time())
    until = now + read_length(overlap)
    with mistakes_told():
        from aitp_desk.auth.credentials.api_key import make_api_key
        from aitp_desk.auth.credentials.signed_request import make_secret
        from aitp_desk.store.reads import threads as reads
        from aitp_desk.store.units.keys.tokens import rotate_token

        keys = require_keys(data, url)

        async def exchange(store: Store) -> tuple[Key, str]:
            kept = await reads.unrevoked_token(store, id_or_name)
            if kept is None:
                _not_live(id_or_name)
            signs = kept.kind == "hmac"
            _, key = make_api_key(kept.id)
            rotated = await store.run(
                rotate_token,
                id=kept.id,
                version=kept.version,
                hash=b"" if signs else keys.hash_token(key, keys.newest),
                data_key=keys.newest,
                previous_until=until,
                now=now,
                by=make_local_auditor(keys),
            )
            if signs:
                key = make_secret(keys, rotated.id, rotated.version, rotated.data_key)
            return rotated, key

        rotated, secret = run_in_store(data, url, exchange)
    print_rotated(f"token {rotated.id} ({rotated.name})", until, now)
    if shows_webhook_secret:
        _show_webhook_secret(keys, rotated)
    _show(rotated, secret)


@token.command(name="list")
@desk_data
@desk_store
@json_lines
def list_(data: Path, url: str, *, as_json: bool) -> None:
    """List all keys, including revoked ones, without their secrets.

    Each line has the id, kind, time of creation, state, last use, scopes and name. Times are UTC.
    """
    with mistakes_told():
        from aitp_desk.store.reads import threads as reads

        now = int(time.time())
        for kept in run_in_store(data, url, reads.list_tokens):
            click.echo(_in_json(kept, now) if as_json else _in_line(kept, now))


@token.command()
@desk_data
@desk_store
@click.argument("id_or_name")
def revoke(data: Path, url: str, id_or_name: str) -> None:
    """Revoke a key by its id or name; a running desk refuses it within a second."""
    with mistakes_told():
        from aitp_desk.store.units.keys.tokens import revoke_token

        by, now = make_local_auditor(require_keys(data, url)), int(time.time())
        revoked = run_in_store(
            data,
            url,
            lambda store: store.run(revoke_token, id_or_name=id_or_name, now=now, by=by),
        )
        if revoked is None:
            _not_live(id_or_name)
        click.echo(f"Revoked token {revoked.id} ({revoked.name}).")


def _show_webhook_secret(keys: DataKeys, key: Key) -> None:
    """Show the secret that signs callbacks to a key's holder."""
    from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_key

    secret = webhook_secret_of_key(keys, key.id, key.version, key.data_key)
    click.echo("Keep this callback secret; it cannot be shown again:")
    click.echo(f"AITP_DESK_WEBHOOK_SECRET={secret}")


def _show(key: Key, secret: str) -> None:
    """Show a secret, once; a signing key as environment variables of a shell."""
    if key.kind == "api_key":
        click.echo("Keep this key; it cannot be shown again:")
        click.echo(secret)
        return
    click.echo("Keep this secret; it cannot be shown again, and is never sent:")
    click.echo(f"AITP_DESK_KEY_ID={key.id}.{key.version}")
    click.echo(f"AITP_DESK_SECRET={secret}")


def _not_live(id_or_name: str) -> NoReturn:
    fail([f"There is no valid token {id_or_name!r}; list them with 'aitp-desk token list'."])


def _in_line(kept: Key, now: int) -> str:
    used = f"used {write_minute(kept.used_at)}" if kept.used_at is not None else "never used"
    made, scopes = f"created {write_day(kept.created_at)}", ",".join(kept.scopes)
    life = " ".join(describe_lifetime(kept.revoked_at, kept.expires_at, now))
    return "  ".join((kept.id, kept.kind, made, used, life, scopes, kept.name))


def _in_json(kept: Key, now: int) -> str:
    import msgspec

    from aitp_desk.auth.credentials.api_key import get_visible_prefix

    former = kept.former_at(now)
    told = {
        "id": kept.id,
        "kind": kept.kind,
        "prefix": get_visible_prefix(kept.id) if kept.kind == "api_key" else None,
        "name": kept.name,
        "scopes": kept.scopes,
        "is_live": kept.is_live(now),
        "version": kept.version,
        "created_at": write_timestamp(kept.created_at),
        "expires_at": write_optional_timestamp(kept.expires_at),
        "used_at": write_optional_timestamp(kept.used_at),
        "revoked_at": write_optional_timestamp(kept.revoked_at),
        "former_until": None if former is None else write_timestamp(former.until),
    }
    return msgspec.json.encode(told).decode()
