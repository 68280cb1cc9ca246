"""Which conversation a mail belongs to, and the names of those that begin."""

from __future__ import annotations

from collections.abc import Iterable

from aitp_desk.transports.email.message_ids import MessageIds
from aitp_desk.transports.email.reply_address import CONVERSATION, ReplyAddresses, digest


class Conversations:
    """Finds the conversation of a mail by what the desk has signed.

    Parameters:
        secret: names conversations, so that nobody can aim at the name of another.
        addresses: the addresses that people reply to.
        message_ids: the desk's own.
    """

    def __init__(self, secret: bytes, addresses: ReplyAddresses, message_ids: MessageIds) -> None:
        self._secret = secret
        self.addresses = addresses
        self.message_ids = message_ids

    def find(self, recipients: Iterable[str], references: Iterable[str]) -> str | None:
        """Return the conversation that a mail continues; None if it begins one.

        Parameters:
            recipients: of the envelope first, then of the headers.
            references: Message-IDs, the answered one first.
        """
        for recipient in recipients:
            if (found := self.addresses.read(recipient)) is not None:
                return found
        for message_id in references:
            if (found := self.message_ids.read(message_id)) is not None:
                return found
        return None

    def begin(self, cause: str) -> str:
        """Return the name of the conversation that something begins."""
        return digest(self._secret, cause)


def is_conversation(name: str) -> bool:
    """Whether a name is one of :class:`Conversations`."""
    return CONVERSATION.fullmatch(name) is not None
