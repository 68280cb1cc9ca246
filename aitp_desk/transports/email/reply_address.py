"""Addresses that people reply to: each names its conversation, with a signature.

``desk+<conversation><signature>@shop.example``: base32 in lower case, since mail programs may
change the case of an address, and 64 octets at most (RFC 5321, section 4.5.3.1.1).
"""

from __future__ import annotations

import base64
import hmac
import re

CONVERSATION_LENGTH = 16
"""Of a conversation's name, in characters: 80 bits."""
SIGNATURE_LENGTH = 16
CONVERSATION = re.compile(r"[a-z2-7]{16}")
_TOKEN_LENGTH = CONVERSATION_LENGTH + SIGNATURE_LENGTH
_MOST_LOCAL = 64


def digest(secret: bytes, *parts: str) -> str:
    """Return 80 bits of an HMAC over parts, as 16 characters of base32."""
    text = "".join(f"{len(part)}:{part}" for part in parts)
    found = hmac.digest(secret, text.encode("utf-8", "surrogatepass"), "sha256")
    return base64.b32encode(found[:10]).decode().lower()


class ReplyAddresses:
    """Makes and reads the addresses of one desk.

    Parameters:
        secret: signs them.
        address: of the desk.
        domain: of the reply addresses; empty for that of ``address``.
        separator: between the address and the token.

    Raises:
        ValueError: the address is too long for a token.
    """

    def __init__(self, secret: bytes, address: str, domain: str = "", separator: str = "+") -> None:
        self._secret = secret
        local, _, own_domain = address.rpartition("@")
        self._own = address.lower()
        self._prefix = f"{local.lower()}{separator}"
        self._domain = (domain or own_domain).lower()
        longest = _MOST_LOCAL - _TOKEN_LENGTH - len(separator)
        if len(local.encode()) > longest:
            raise ValueError(
                f"address has more than {longest} characters before the @: a reply address would"
                " be too long."
            )

    def make(self, conversation: str) -> str:
        """Return the address of a conversation."""
        signature = digest(self._secret, conversation)
        return f"{self._prefix}{conversation}{signature}@{self._domain}"

    def is_own(self, recipient: str) -> bool:
        """Whether mail to an address is for this desk: its own one, or one that it signed."""
        return recipient.lower() == self._own or self.read(recipient) is not None

    def read(self, recipient: str) -> str | None:
        """Return the conversation of an address; None if this desk has not signed it."""
        local, _, domain = recipient.lower().rpartition("@")
        if domain != self._domain or not local.startswith(self._prefix):
            return None
        token = local[len(self._prefix) :]
        conversation = token[:CONVERSATION_LENGTH]
        if len(token) != _TOKEN_LENGTH or not CONVERSATION.fullmatch(conversation):
            return None
        expected = digest(self._secret, conversation)
        given = token[CONVERSATION_LENGTH:].encode("utf-8", "surrogatepass")
        return conversation if hmac.compare_digest(expected.encode(), given) else None
