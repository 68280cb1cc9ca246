"""Takes a mail, whichever way it came, and stores it before anybody acknowledges it."""

from __future__ import annotations

import asyncio

import structlog

from aitp_desk.transports.base import Host
from aitp_desk.transports.email.arrival import Arrival, Arrivals
from aitp_desk.transports.email.reply_address import ReplyAddresses

QUICK_BYTES = 64 * 1024
"""A longer mail is read in a thread."""

PROVEN = b"proven"
"""What is kept of a test that came back, if its sender counts as proven."""

_log = structlog.get_logger()


def returned_key(message_id: str) -> str:
    """Return where it is kept that a test mail has come back."""
    return f"returned {message_id}"


class Inbox:
    """Takes mails.

    Parameters:
        host: stores them.
        arrivals: reads them.
        addresses: the desk's.
    """

    def __init__(self, host: Host, arrivals: Arrivals, addresses: ReplyAddresses) -> None:
        self._host = host
        self._arrivals = arrivals
        self._addresses = addresses

    def is_own(self, recipient: str) -> bool:
        """Whether mail to an address is taken here."""
        return self._addresses.is_own(recipient)

    async def read(self, data: bytes, recipients: tuple[str, ...] = ()) -> Arrival:
        """Read a mail, and keep that it came back if it is a test.

        Raises:
            UnreadableMail: it exceeds a bound.
        """
        if len(data) > QUICK_BYTES:
            return await asyncio.to_thread(self._arrivals.read, data, recipients)
        arrival = self._arrivals.read(data, recipients)
        if arrival.returned:  # for `transport test`, which waits for it
            proof = PROVEN if arrival.incoming.is_proven else b"unproven"
            await self._host.keep_bytes(returned_key(arrival.returned), proof)
        return arrival

    async def accept(self, data: bytes, recipients: tuple[str, ...] = ()) -> None:
        """Store a mail; it is on disk when this returns.

        Whatever storing it raises: it should be delivered again.

        Parameters:
            recipients: of the envelope.

        Raises:
            UnreadableMail: it exceeds a bound; a sentence for the sender.
        """
        await self._store(await self.read(data, recipients), len(data))

    async def accept_header(self, data: bytes) -> None:
        """Store that a mail came which exceeds a bound: its sender learns of it from the desk.

        Parameters:
            data: at least its header.
        """
        if (arrival := self.read_header(data)) is not None:
            await self._store(arrival, len(data))

    def read_header(self, data: bytes, recipients: tuple[str, ...] = ()) -> Arrival | None:
        """Read a mail that exceeds a bound; None if its header does too."""
        return self._arrivals.read_header(data, recipients)

    async def _store(self, arrival: Arrival, size: int) -> None:
        for key, kept in arrival.kept.items():
            await self._host.keep_bytes(key, kept)
        await self._host.receive(arrival.incoming)
        _log.info(
            "mail_received",
            kind=type(arrival.incoming.event).__name__,
            files=len(arrival.kept),
            size=size,
        )
