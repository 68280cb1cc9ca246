"""``aitp-desk transport bind|unbind|operators``: who acts as an operator on a platform."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, fail, mistakes_told, overrides, site_folder
from aitp_desk.cli.data import json_lines, make_local_auditor, open_store, require_master_key
from aitp_desk.model.timestamps import write_minute

if TYPE_CHECKING:
    from aitp_desk.auth.keys.data_keys import DataKeys
    from aitp_desk.store.base import Store

    _Work = Callable[[Store, DataKeys], Awaitable[None]]

_name = click.argument("name", metavar="NAME")


@click.command()
@_name
@click.argument("id_or_name", metavar="KEY")
@site_folder
@data_folder
@overrides
def bind(
    name: str, id_or_name: str, folder: Path, data: Path | None, overrides: tuple[str, ...]
) -> None:
    """Print a code that lets a person act as the holder of KEY.

    The person writes "bind CODE" to the desk by the transport NAME, in a private conversation,
    within ten minutes. KEY is the id or the name of an API key with the scope 'operator'.
    """
    with mistakes_told():

        async def make(store: Store, keys: DataKeys) -> None:
            from aitp_desk.auth.keys.audit_keys import derive_audit_keys
            from aitp_desk.desk.tickets.bindings import OperatorBindings
            from aitp_desk.store.reads import threads as reads

            key = await reads.unrevoked_token(store, id_or_name)
            if key is None:
                fail([f"There is no valid key {id_or_name!r}; 'aitp-desk token list' lists them."])
            bindings = OperatorBindings(store, derive_audit_keys(keys), time.time)
            code, _ = await bindings.make_code(name, key)
            click.echo(f"bind {code}")

        _run(name, folder, data, overrides, make)


@click.command()
@_name
@click.argument("person", metavar="PERSON")
@site_folder
@data_folder
@overrides
def unbind(
    name: str, person: str, folder: Path, data: Path | None, overrides: tuple[str, ...]
) -> None:
    """End that a PERSON on a platform acts as an operator; at once, also while the desk serves."""
    with mistakes_told():

        async def end(store: Store, keys: DataKeys) -> None:
            from aitp_desk.store.units.tickets.platforms import unbind_person

            by = make_local_auditor(keys)
            if not await store.run(unbind_person, transport=name, person=person, by=by):
                fail([f"{person!r} is no operator there; 'transport operators' lists them."])
            click.echo(f"{person} is no operator on {name} any more.")

        _run(name, folder, data, overrides, end)


@click.command()
@site_folder
@data_folder
@overrides
@json_lines
def operators(
    folder: Path, data: Path | None, overrides: tuple[str, ...], *, as_json: bool
) -> None:
    """List who acts as an operator on a platform.

    Each line has the transport, the platform's id of the person, the id of the key, and since when,
    in UTC.
    """
    with mistakes_told():

        async def show(store: Store, _keys: DataKeys) -> None:
            import msgspec

            from aitp_desk.store.reads.console.platforms import bound_people

            async for one in bound_people(store):
                told = {
                    "transport": one.transport,
                    "person": one.person,
                    "key": one.key_id,
                    "since": write_minute(one.bound_at),
                }
                line = msgspec.json.encode(told).decode()
                click.echo(line if as_json else "\t".join(told.values()))

        _run("", folder, data, overrides, show)


def _run(
    name: str, folder: Path, data: Path | None, overrides: tuple[str, ...], work: _Work
) -> None:
    """Run work on a site's store, also while the desk serves.

    Parameters:
        name: of a transport that the site must have; empty for none.
    """
    from aitp_desk.auth.keys.data_keys import open_data_keys
    from aitp_desk.config import load_config

    config = load_config(folder, overrides, data=data)
    if name and name not in config.transports:
        fail([f"There is no section [transports.{name}] in the site's desk.toml."])
    require_master_key(config.data)

    async def opened() -> None:
        async with open_store(config.data, config.store) as store:
            await work(store, await open_data_keys(store, config.data, os.environ))

    asyncio.run(opened())
