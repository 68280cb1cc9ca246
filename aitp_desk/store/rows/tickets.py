"""How tickets stand in columns."""

from __future__ import annotations

import msgspec

from aitp_desk.model.conversation.ticket import KeptTicket, TicketKind, TicketState
from aitp_desk.store.base import Params, Row


def write_ticket(ticket: KeptTicket) -> Params:
    """A ticket as the statements ``add_ticket`` and ``move_ticket`` take it."""
    columns = msgspec.structs.asdict(ticket)
    return {**columns, "kind": ticket.kind.value, "state": ticket.state.value}


def read_ticket(row: Row) -> KeptTicket:
    """Read a ticket as the statement ``ticket`` and those like it give it."""
    id_, desk, kind, state, *rest = row
    return KeptTicket(id_, desk, TicketKind(kind), TicketState(state), *rest)
