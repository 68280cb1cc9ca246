"""The site as merchant, with the key that signs its quotes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.capability import Own
from aitp_payments.messages.signatures import jwk_of, sign, verifies, write_key

SIGNATURE = "merchant_signature"


class Merchant:
    """The site as payers know it. Its key is derived from the desk's secret.

    Parameters:
        id: its ``merchant_id``; empty for the site's own actor.

    Attributes:
        id: its id in quotes.
        key: its public key, as text.
        jwks: its public key, as published.
    """

    def __init__(self, own: Own, id: str = "") -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(own.derive("merchant signature"))
        public = self._private.public_key()
        self.id = id or own.actor
        self.key = write_key(public)
        self.jwks: Mapping[str, Any] = {"keys": [jwk_of(public)]}

    def sign(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Add ``merchant_signature`` to a message."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(message))
        return sign(self._private, plain, SIGNATURE)

    def has_signed(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message has this merchant's signature."""
        return verifies(self.key, message, SIGNATURE)


def seconds(moment: str) -> int:
    """Parse a time of :func:`moment` to Unix seconds."""
    return int(datetime.fromisoformat(moment).timestamp())


def moment(seconds: int) -> str:
    """Format Unix seconds for messages: RFC 3339, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
