"""Message-IDs of the desk: the same for each attempt, and signed with their conversation."""

from __future__ import annotations

import hmac
import re

from aitp_desk.transports.email.reply_address import CONVERSATION, digest

_FOREIGN = re.compile(r"[!-;=?-~]{1,200}@[!-;=?-~]{1,250}")
"""A Message-ID that can stand in a header: visible ASCII without angle brackets."""
MOST_REFERENCES = 900
"""Characters of ``References``: some servers cut longer lines (RFC 5322, section 2.1.1)."""


class MessageIds:
    """Makes and reads the Message-IDs of one desk, without their angle brackets.

    Parameters:
        secret: signs them.
        domain: of the desk's address.
    """

    def __init__(self, secret: bytes, domain: str) -> None:
        self._secret = secret
        self._domain = domain.lower()

    def make(self, conversation: str, outgoing_id: str) -> str:
        """Return the Message-ID of a message of the desk."""
        name = digest(self._secret, "message", outgoing_id)
        signature = digest(self._secret, "id", conversation, name)
        return f"{conversation}.{name}.{signature}@{self._domain}"

    def read(self, message_id: str) -> str | None:
        """Return the conversation of a Message-ID; None if this desk has not signed it."""
        local, _, domain = message_id.lower().rpartition("@")
        parts = local.split(".")
        if domain != self._domain or len(parts) != 3:
            return None
        conversation, name, signature = parts
        if not CONVERSATION.fullmatch(conversation):
            return None
        expected = digest(self._secret, "id", conversation, name)
        given = signature.encode("utf-8", "surrogatepass")
        return conversation if hmac.compare_digest(expected.encode(), given) else None


def is_usable(message_id: str) -> bool:
    """Whether a Message-ID, possibly of a stranger, can stand in a header."""
    return _FOREIGN.fullmatch(message_id) is not None


def chain(previous: tuple[str, ...], answered: str) -> tuple[str, ...]:
    """Return the Message-IDs for ``References``, oldest first, without repetitions.

    If they are too long, those in the middle are left out, as RFC 5322 suggests: the first one
    begins the conversation, the last ones find the branch.
    """
    ids = [one for one in dict.fromkeys((*previous, answered)) if is_usable(one)]
    if answered in ids:
        ids.remove(answered)
        ids.append(answered)
    size = sum(len(one) + 3 for one in ids)
    while size > MOST_REFERENCES and len(ids) > 2:
        size -= len(ids.pop(1)) + 3
    return tuple(ids)
