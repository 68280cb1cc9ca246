"""Converts tickets to and from columns."""

from __future__ import annotations

import msgspec

from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.store.base import Params, Row


def write_ticket(ticket: StoredTicket) -> Params:
    """Return the parameters of the statements ``add_ticket`` and ``move_ticket``."""
    columns = msgspec.structs.asdict(ticket)
    return {**columns, "kind": ticket.kind.value, "state": ticket.state.value}


def read_ticket(row: Row) -> StoredTicket:
    """Read a row of the statement ``ticket`` and similar ones."""
    id_, desk, kind, state, *rest = row
    return StoredTicket(id_, desk, TicketKind(kind), TicketState(state), *rest)
