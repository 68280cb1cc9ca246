"""Actions that leave a line in a book each time that they are carried out.

They are the ``actions.py`` of a desk that will be killed. A line is on disk before an action
goes on, and names the call and what it was to enter.
"""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

from msgspec import Struct

from aitp_desk.actions import Context, Ticket, action

BOOK = Path(__file__).with_name("book")
LONGEST = 0.02
"""Seconds that pass at most before a line is written, and again after it."""


class Entry(Struct):
    """What was entered.

    Parameters:
        call: id of the call.
    """

    call: str


@action
async def look_up(note: str, context: Context) -> Entry:
    """Looks something up, which takes a moment.

    Args:
        note: what for.
    """
    await asyncio.sleep(random.uniform(0, LONGEST))
    return Entry(context.call_id)


@action(kind="action", mutability="irreversible", blast_radius="self")
async def enter(note: str, context: Context) -> Entry:
    """Enters something at once.

    Args:
        note: what is entered.
    """
    return await _enter(note, context)


@action(kind="async", mutability="irreversible", blast_radius="self")
async def enter_later(note: str, context: Context) -> Entry:
    """Enters something after the call was accepted.

    Args:
        note: what is entered.
    """
    return await _enter(note, context)


@action(kind="async", mutability="reversible", blast_radius="self", idempotent=True)
async def enter_again(note: str, context: Context) -> Entry:
    """Enters something, once or several times.

    Args:
        note: what is entered.
    """
    return await _enter(note, context)


@action(kind="async", mutability="read_only", blast_radius="self")
async def ask_people(note: str) -> Ticket:
    """Has a person answer something.

    Args:
        note: what is asked.
    """
    await asyncio.sleep(random.uniform(0, LONGEST))
    return Ticket(note)


async def _enter(note: str, context: Context) -> Entry:
    await asyncio.sleep(random.uniform(0, LONGEST))
    await asyncio.to_thread(_write, f"{context.call_id} {note}\n")
    await asyncio.sleep(random.uniform(0, LONGEST))
    return Entry(context.call_id)


def _write(line: str) -> None:
    book = os.open(BOOK, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(book, line.encode())
        os.fsync(book)
    finally:
        os.close(book)
