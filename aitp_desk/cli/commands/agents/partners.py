"""``aitp-desk partners``: what partner sites were asked, when, and for how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, mistakes_told, overrides, site_folder
from aitp_desk.cli.data import run_in_store

if TYPE_CHECKING:
    from aitp_desk.store.base import Store


@click.command()
@site_folder
@data_folder
@overrides
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=30,
    show_default=True,
    help="How many days, up to now.",
)
def partners(folder: Path, data: Path | None, overrides: tuple[str, ...], days: int) -> None:
    """Print the calls that visited partners of the site in FOLDER.

    One JSON object per line, the oldest first, with the words or arguments that were sent, and what
    the desk agreed to pay. What was sent is deleted with its conversation. It also works while the
    desk serves.
    """
    with mistakes_told():
        import time

        import msgspec

        from aitp_desk.config import load_config
        from aitp_desk.transports.peers.visits import list_visits

        config = load_config(folder, overrides, data=data)
        since = time.time() - days * 86_400

        async def write(store: Store) -> None:
            for visit in await list_visits(config.peers, config.data, store, since):
                click.echo(msgspec.json.encode(visit).decode())

        run_in_store(config.data, config.store, write)
