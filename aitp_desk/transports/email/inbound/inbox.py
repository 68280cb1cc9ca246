"""Takes a mail, whichever way it came, and stores it before anybody acknowledges it."""

from __future__ import annotations

import asyncio

import structlog

from aitp_desk.transports.base import Host
from aitp_desk.transports.email.arrival import Arrival, Arrivals
from aitp_desk.transports.email.reply_address import ReplyAddresses

QUICK_BYTES = 64 * 1024
"""A longer mail is read in a thread."""

_log = structlog.get_logger()


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
        """Read a mail without storing it.

        Raises:
            UnreadableMail: it exceeds a bound.
        """
        if len(data) <= QUICK_BYTES:
            return self._arrivals.read(data, recipients)
        return await asyncio.to_thread(self._arrivals.read, data, recipients)

    async def accept(self, data: bytes, recipients: tuple[str, ...] = ()) -> None:
        """Store a mail; it is on disk when this returns.

        Whatever storing it raises: it should be delivered again.

        Parameters:
            recipients: of the envelope.

        Raises:
            UnreadableMail: it exceeds a bound; a sentence for the sender.
        """
        arrival = await self.read(data, recipients)
        for key, kept in arrival.kept.items():
            await self._host.keep_bytes(key, kept)
        await self._host.receive(arrival.incoming)
        _log.info(
            "mail_received",
            kind=type(arrival.incoming.event).__name__,
            files=len(arrival.kept),
            size=len(data),
        )
