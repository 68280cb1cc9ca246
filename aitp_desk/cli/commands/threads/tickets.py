"""``aitp-desk tickets``: tickets that wait for a person, also while the desk serves."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aitp_desk.cli.arguments import DASHED_ARGUMENTS, fail, mistakes_told
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    json_lines,
    make_local_auditor,
    require_keys,
    run_in_store,
)
from aitp_desk.model.timestamps import write_minute, write_optional_timestamp, write_timestamp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from aitp_desk.desk.tickets.service import EscalationService
    from aitp_desk.model.access.audit import Auditor
    from aitp_desk.model.conversation.thread import Message
    from aitp_desk.model.conversation.ticket import StoredTicket
    from aitp_desk.store.base import Store

    _Change = Callable[[EscalationService, Auditor], Awaitable[StoredTicket | None]]

SHOWN_MESSAGES = 20
"""The number of a thread's newest messages shown with a ticket."""

_by_name = click.option(
    "--as",
    "operator",
    metavar="NAME",
    default="operator",
    show_default=True,
    help="The operator's name, as visitors see it.",
)
_as_json = click.option("--json", "as_json", is_flag=True, help="As JSON.")


@click.group()
def tickets() -> None:
    """List, answer, approve and close tickets, which wait for a person."""


@tickets.command(name="list")
@desk_data
@desk_store
@click.option("--all", "show_all", is_flag=True, help="Include ended tickets.")
@json_lines
def list_(data: Path, url: str, *, show_all: bool, as_json: bool) -> None:
    """List open tickets, the oldest first.

    Each line has the id, reason, time of creation, state and subject. Times are UTC.
    """
    with mistakes_told():
        from aitp_desk.store.reads.console import tickets as ticket_reads

        async def show(store: Store) -> None:
            async for kept in ticket_reads.tickets(store, open_only=not show_all):
                click.echo(_json(_told(kept)) if as_json else _in_line(kept))

        run_in_store(data, url, show)


@tickets.command()
@desk_data
@desk_store
@_as_json
@click.argument("ticket_id", metavar="ID")
def show(data: Path, url: str, ticket_id: str, *, as_json: bool) -> None:
    """Show a ticket and the newest messages of its thread.

    For a call that needs approval, the note describes the call; --json has all arguments.
    """
    with mistakes_told():

        async def find(
            store: Store,
        ) -> tuple[StoredTicket, Mapping[str, Any], tuple[Message, ...]]:
            kept = await _find(store, ticket_id)
            return kept, await _arguments(store, kept), await _newest(store, kept)

        kept, arguments, said = run_in_store(data, url, find)
        if as_json:
            messages = [{"actor": one.actor, "content": one.content} for one in said]
            told = {**_told(kept), "arguments": arguments, "messages": messages}
            click.echo(_json(told))
            return
        click.echo(_in_line(kept))
        contact = kept.contact and f"Waits for an answer by email too: {kept.contact}"
        for text in (contact, kept.note, kept.answer and f"{kept.ended_by}: {kept.answer}"):
            if text:
                click.echo(f"\n{_shown(text)}")
        for one in said:
            click.echo(_shown(f"\n{one.actor}:\n" + "\n".join(one.content)))


@tickets.command(context_settings=DASHED_ARGUMENTS)
@desk_data
@desk_store
@_by_name
@click.argument("ticket_id", metavar="ID")
@click.argument("words", metavar="TEXT")
def answer(data: Path, url: str, operator: str, ticket_id: str, words: str) -> None:
    """Answer a ticket; a TEXT of - means standard input.

    The visitor receives it within a second if the desk is running.
    """
    with mistakes_told():
        text = sys.stdin.read() if words == "-" else words
        _change(data, url, lambda one, by: one.answer(ticket_id, text, operator, by), ticket_id)
        click.echo(f"Answered ticket {ticket_id}.")


@tickets.command()
@desk_data
@desk_store
@_by_name
@click.option("--reason", metavar="TEXT", default="", help="The reason, which the visitor sees.")
@click.argument("ticket_id", metavar="ID")
def close(data: Path, url: str, operator: str, reason: str, ticket_id: str) -> None:
    """Close a ticket without an answer; a call that waits for it fails."""
    with mistakes_told():
        _change(data, url, lambda one, by: one.close(ticket_id, reason, operator, by), ticket_id)
        click.echo(f"Closed ticket {ticket_id}.")


@tickets.command()
@desk_data
@desk_store
@_by_name
@click.argument("ticket_id", metavar="ID")
def approve(data: Path, url: str, operator: str, ticket_id: str) -> None:
    """Approve the call of a ticket; the desk runs it if it is still possible.

    'aitp-desk tickets show' shows its effect, arguments and cost.
    """
    with mistakes_told():
        _change(data, url, lambda one, by: one.approve(ticket_id, operator, by), ticket_id)
        click.echo(f"Approved ticket {ticket_id}.")


@tickets.command()
@desk_data
@desk_store
@_by_name
@click.option("--reason", metavar="TEXT", default="", help="The reason, which the visitor sees.")
@click.argument("ticket_id", metavar="ID")
def decline(data: Path, url: str, operator: str, reason: str, ticket_id: str) -> None:
    """Decline the call of a ticket, which fails."""
    with mistakes_told():
        _change(data, url, lambda one, by: one.decline(ticket_id, reason, operator, by), ticket_id)
        click.echo(f"Declined ticket {ticket_id}.")


@tickets.command()
@desk_data
@desk_store
@_by_name
@click.argument("ticket_id", metavar="ID")
def take(data: Path, url: str, operator: str, ticket_id: str) -> None:
    """Take a ticket; the agent no longer answers on its thread."""
    with mistakes_told():
        _change(data, url, lambda one, by: one.take_ticket(ticket_id, operator, by), ticket_id)
        click.echo(f"Took ticket {ticket_id}.")


@tickets.command(context_settings=DASHED_ARGUMENTS)
@desk_data
@desk_store
@_by_name
@click.argument("ticket_id", metavar="ID")
@click.argument("words", metavar="TEXT")
def say(data: Path, url: str, operator: str, ticket_id: str, words: str) -> None:
    """Send TEXT to the thread of a ticket you have taken; the ticket stays open."""
    with mistakes_told():
        _change(data, url, lambda one, by: one.say(ticket_id, words, operator, by), ticket_id)
        click.echo(f"Sent the message for ticket {ticket_id}.")


@tickets.command()
@desk_data
@desk_store
@click.argument("ticket_id", metavar="ID")
def release(data: Path, url: str, ticket_id: str) -> None:
    """Release a taken ticket; the agent answers on its thread again."""
    with mistakes_told():
        _change(data, url, lambda one, by: one.release_ticket(ticket_id, by), ticket_id)
        click.echo(f"Released ticket {ticket_id}.")


def _change(data: Path, url: str, change: _Change, ticket_id: str) -> None:
    from aitp_desk.desk.tickets.service import EscalationService

    by = make_local_auditor(require_keys(data, url))

    async def carry_out(store: Store) -> StoredTicket | None:
        return await change(EscalationService(store, time.time), by)

    if run_in_store(data, url, carry_out) is None:
        _missing(ticket_id)


async def _find(store: Store, ticket_id: str) -> StoredTicket:
    from aitp_desk.store.reads.console import tickets as ticket_reads

    return await ticket_reads.ticket(store, ticket_id) or _missing(ticket_id)


async def _arguments(store: Store, kept: StoredTicket) -> Mapping[str, Any]:
    """Return the arguments of the ticket's call."""
    from aitp_desk.store.reads import calls as call_reads

    if kept.call_id is None:
        return {}
    call = await call_reads.call_by_id(store, kept.call_id)
    return {} if call is None else call.arguments


async def _newest(store: Store, kept: StoredTicket) -> tuple[Message, ...]:
    """Return the newest messages of a ticket's thread, in order."""
    from aitp_desk.store.reads import threads as reads
    from aitp_desk.store.records.pages import PageRequest

    if kept.thread_id is None:
        return ()
    page = await reads.messages(store, kept.thread_id, PageRequest(SHOWN_MESSAGES))
    return tuple(reversed(page.items))


def _missing(ticket_id: str) -> NoReturn:
    fail([f"There is no ticket {ticket_id!r}; list them with 'aitp-desk tickets list --all'."])


def _in_line(kept: StoredTicket) -> str:
    parts = [kept.id, kept.kind.value, f"created {write_minute(kept.created_at)}", _state(kept)]
    return "  ".join([*parts, _shown(kept.about)])


def _shown(text: str) -> str:
    """Replace control characters, except newlines, for output on a terminal."""
    return "".join(
        sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )


def _state(kept: StoredTicket) -> str:
    if kept.ended_at is not None:
        return f"{kept.state.value} {write_minute(kept.ended_at)}"
    if kept.taken_by is not None:
        return f"taken by {kept.taken_by}"
    if not kept.is_over and kept.due_at is not None:
        return f"{kept.state.value} until {write_minute(kept.due_at)}"
    return kept.state.value


def _told(kept: StoredTicket) -> dict[str, object]:
    return {
        "id": kept.id,
        "kind": kept.kind.value,
        "state": kept.state.value,
        "agent": kept.desk or None,
        "about": kept.about,
        "note": kept.note,
        "thread": kept.thread_id,
        "call": kept.call_id,
        "asked_by": kept.principal,
        "created_at": write_timestamp(kept.created_at),
        "due_at": write_optional_timestamp(kept.due_at),
        "taken_by": kept.taken_by,
        "answer": kept.answer,
        "ended_by": kept.ended_by,
        "ended_at": write_optional_timestamp(kept.ended_at),
        **({"contact": kept.contact} if kept.contact else {}),
    }


def _json(told: dict[str, object]) -> str:
    import msgspec

    return msgspec.json.encode(told).decode()
