"""``aitp-desk keys``: the keys that a desk works with, also while it serves."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import mistakes_told
from aitp_desk.cli.data import (
    at_the_machine,
    desk_data,
    desk_store,
    present_database,
    present_key,
)

if TYPE_CHECKING:
    from aitp_desk.store.client_records import SigningKey


@click.group()
def keys() -> None:
    """Look after the keys of a desk."""


@keys.command()
@desk_data
@desk_store
def rotate(data: Path, url: str) -> None:
    """Have access tokens signed with a new key.

    It is published at once and signs ten minutes later, when whoever verifies tokens knows it. The
    key before stays published for a day more, until the last token that it signed is dead.
    """
    with mistakes_told():
        from aitp_desk.auth.signing import AHEAD_SECONDS
        from aitp_desk.store import work
        from aitp_desk.store.sqlite import SqliteStore

        database, master = present_database(data, url), present_key(data)

        async def add() -> SigningKey:
            async with SqliteStore.open(database) as store:
                return await store.run(
                    work.rotate_signing_key,
                    now=int(time.time()),
                    ahead=AHEAD_SECONDS,
                    by=at_the_machine(master),
                )

        made = asyncio.run(add())
    begins = datetime.fromtimestamp(made.signs_from, UTC).strftime("%H:%M:%S")
    click.echo(f"Published key {made.version} of access tokens. It signs from {begins} UTC on.")
