"""``aitp-desk insights``: the outcomes of visitors' questions by the day, as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import mistakes_told
from aitp_desk.cli.data import desk_data, desk_store, run_in_store

if TYPE_CHECKING:
    from aitp_desk.store.base import Store


@click.command()
@desk_data
@desk_store
@click.option(
    "--days",
    type=click.IntRange(1, 90),
    default=30,
    show_default=True,
    help="How many days, up to today.",
)
@click.option(
    "--table",
    type=click.Choice(["days", "pages", "actions"]),
    default="days",
    show_default=True,
    help="The outcomes of each day, the pages that were quoted, or the actions that were called.",
)
def insights(data: Path, url: str, days: int, table: str) -> None:
    """Print how visitors' questions ended, as CSV. Days are UTC.

    The figures are counted from the conversations that are kept, and contain no words of visitors.
    The console shows them as well, with the questions that wait for a page.
    """
    with mistakes_told():
        import time

        from aitp_desk.desk.tickets.insights.figures import FigureReader, rank_uses
        from aitp_desk.web.console.insights import csv_wire

        async def write(store: Store) -> str:
            counted = await FigureReader(store, time.time).read_days(days)
            if table == "pages":
                return csv_wire.write_uses("page", rank_uses(day.pages for day in counted))
            if table == "actions":
                return csv_wire.write_uses("action", rank_uses(day.actions for day in counted))
            return csv_wire.write_days(counted)

        click.echo(run_in_store(data, url, write), nl=False)
