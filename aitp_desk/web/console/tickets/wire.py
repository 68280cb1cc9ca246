"""The console's format of tickets. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal, cast

import msgspec

from aitp_desk.desk.tickets.inbox import ShownCall, ShownTicket
from aitp_desk.model.calls.action import Safety
from aitp_desk.model.conversation.ticket import TicketKind
from aitp_desk.model.timestamps import write_optional_timestamp, write_timestamp
from aitp_desk.store.records.console import TicketFilter
from aitp_desk.web.console.objects import (
    ConsoleCall,
    ConsoleFailure,
    ConsoleSafety,
    ConsoleTicket,
)
from aitp_desk.web.console.wire import (
    decode_choice,
    decode_flag,
    decode_search,
)

_STATES: Final = ("open", "over", "all")
_KINDS: Final = tuple(kind.value for kind in TicketKind)


def decode_ticket_filter(
    query: Mapping[str, str], operator: str, agents: Collection[str]
) -> TicketFilter:
    """Decode the filter of a list of tickets.

    Parameters:
        operator: the caller.
        agents: the names of all site agents.

    Raises:
        InvalidRequest: a value is not allowed.
    """
    kind = decode_choice(query, "kind", _KINDS)
    state = decode_choice(query, "state", _STATES) or "open"
    return TicketFilter(
        state=cast("Literal['open', 'over', 'all']", state),
        kind=None if kind is None else TicketKind(kind),
        agent=decode_choice(query, "agent", agents),
        mine=operator if decode_flag(query, "mine") else None,
        text=decode_search(query),
    )


def write_ticket(shown: ShownTicket) -> ConsoleTicket:
    """Write a ticket, with its call."""
    ticket = shown.ticket
    return ConsoleTicket(
        id=ticket.id,
        kind=ticket.kind,
        state=ticket.state,
        agent=ticket.desk or None,
        about=ticket.about,
        note=ticket.note,
        thread=ticket.thread_id,
        asked_by=ticket.principal,
        asked_by_name=shown.asked_by_name,
        created_at=write_timestamp(ticket.created_at),
        due_at=write_optional_timestamp(ticket.due_at),
        taken_by=ticket.taken_by,
        answer=ticket.answer,
        ended_by=ticket.ended_by,
        ended_at=write_optional_timestamp(ticket.ended_at),
        call=None if shown.call is None else _write_call(shown.call),
        contact=ticket.contact or msgspec.UNSET,
    )


def _write_call(shown: ShownCall) -> ConsoleCall:
    """Write a call: action, arguments, price, safety and outcome."""
    call, action = shown.call, shown.action
    return ConsoleCall(
        id=call.id,
        action=call.action,
        summary="" if action is None else action.summary,
        description="" if action is None else action.description,
        arguments=call.arguments,
        price=call.price,
        safety=None if action is None else _write_safety(action.safety),
        intent=call.intent,
        state=call.state,
        progress=call.progress,
        error=None if call.error is None else ConsoleFailure(call.error.kind, call.error.message),
        result=call.result,
        expires_at=write_timestamp(call.expires_at),
    )


def _write_safety(safety: Safety) -> ConsoleSafety:
    return ConsoleSafety(safety.mutability, safety.blast_radius, safety.reversible_within)
