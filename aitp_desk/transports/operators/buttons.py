"""The buttons below a ticket. Each has a random token, and what it does is stored."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Literal

import msgspec

from aitp_desk.desk.tickets.inbox import ShownTicket
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.store.records.operators import Deed, TicketControl
from aitp_desk.transports.messages import Button

KEPT_SECONDS = 30 * 24 * 60 * 60
CONFIRM_SECONDS = 300
"""How long the question whether a call is really approved may be answered."""
_BYTES = 18

Style = Literal["plain", "primary", "danger"]
_LABELS: dict[Deed, tuple[str, Style]] = {
    Deed.TAKE: ("Take", "primary"),
    Deed.RELEASE: ("Release", "plain"),
    Deed.ANSWER: ("Answer", "plain"),
    Deed.CLOSE: ("Close", "danger"),
    Deed.APPROVE: ("Approve", "primary"),
    Deed.CONFIRM: ("Approve now", "danger"),
    Deed.DECLINE: ("Decline", "danger"),
}


class TicketButtons(msgspec.Struct, frozen=True, kw_only=True):
    """The buttons of a message, and what they do."""

    buttons: tuple[Button, ...] = ()
    kept: tuple[TicketControl, ...] = ()


def offer_deeds(ticket: StoredTicket, transport: str, now: int) -> TicketButtons:
    """Return the buttons for a ticket in its state; none if it has ended.

    Parameters:
        now: Unix seconds.
    """
    if ticket.is_over:
        return TicketButtons()
    is_taken = ticket.state is TicketState.TAKEN
    hold = Deed.RELEASE if is_taken else Deed.TAKE
    deeds = [hold, Deed.ANSWER, Deed.CLOSE]
    if ticket.kind is TicketKind.APPROVAL:
        deeds = [Deed.APPROVE, Deed.DECLINE, hold]
    return _make(deeds, ticket.id, transport, "", now + KEPT_SECONDS)


def offer_confirmation(
    ticket: StoredTicket, transport: str, person: str, now: int
) -> TicketButtons:
    """Return the button that approves what was asked again.

    Parameters:
        person: the platform's id of who may press it.
        now: Unix seconds.
    """
    return _make([Deed.CONFIRM], ticket.id, transport, person, now + CONFIRM_SECONDS)


def is_grave(shown: ShownTicket) -> bool:
    """Return whether the approval of a call is asked again.

    That is so if it cannot be undone, affects much, costs something, or is not known any more.
    """
    if shown.call is None or shown.call.action is None:
        return True
    return shown.call.action.safety.is_grave or shown.call.call.price is not None


def _make(
    deeds: Sequence[Deed], ticket_id: str, transport: str, person: str, until: int
) -> TicketButtons:
    buttons, kept = [], []
    for deed in deeds:
        token = secrets.token_urlsafe(_BYTES)
        label, style = _LABELS[deed]
        buttons.append(Button(label=label, token=token, style=style))
        kept.append(
            TicketControl(
                token=token,
                ticket=ticket_id,
                transport=transport,
                deed=deed,
                person=person,
                expires_at=until,
            )
        )
    return TicketButtons(buttons=tuple(buttons), kept=tuple(kept))
