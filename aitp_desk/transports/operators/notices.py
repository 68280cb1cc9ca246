"""Sends operators what has become of what they have pressed and written."""

from __future__ import annotations

from aitp_desk.store.base import Store
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.tickets.platforms import note_message
from aitp_desk.transports.events import Choice, Incoming, TextMessage
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.messages import Button, Outgoing


class OperatorNotices:
    """The messages that answer one event of an operator, where the operator has acted.

    Parameters:
        now: Unix seconds.
    """

    def __init__(
        self,
        store: Store,
        enabled: EnabledTransport,
        incoming: Incoming,
        claim: ClaimedJob,
        now: int,
    ) -> None:
        self._store = store
        self._enabled = enabled
        self._incoming = incoming
        self._claim = claim
        self._now = now

    async def acknowledge(self, notice: str) -> None:
        """Confirm a pressed button, or say why it does not count.

        Raises:
            TryLater, Unanswered: the platform may take it later.
        """
        await self._enabled.acknowledge(self._incoming, notice, self._claim.failures)

    async def tell(
        self,
        text: str,
        *,
        ticket_id: str = "",
        buttons: tuple[Button, ...] = (),
        part: str = "",
    ) -> None:
        """Send a message.

        Parameters:
            ticket_id: of the ticket that it is about: a reply to it is a reply to the ticket.
            part: distinguishes messages after one event.

        Raises:
            Failed, Unanswered: it was not sent.
        """
        incoming, event = self._incoming, self._incoming.event
        ref = event.message_ref if isinstance(event, TextMessage | Choice) else ""
        sent = await self._enabled.send(
            Outgoing(
                id=f"{self._claim.id}{part and f'-{part}'}",
                conversation=incoming.conversation,
                recipient=incoming.sender,
                text=text,
                answers_ref=ref,
                buttons=buttons,
                language=incoming.language or "en",
                last_heard=self._now,
                is_proven=incoming.is_proven,
            )
        )
        if ticket_id:
            address = sent.conversation or incoming.conversation
            await self.name(ticket_id, address, sent.message_ref)

    async def name(self, ticket_id: str, address: str, ref: str) -> None:
        """Store what the platform calls a message about a ticket."""
        await self._store.run(
            note_message,
            ticket_id=ticket_id,
            transport=self._enabled.name,
            address=address,
            ref=ref,
        )
