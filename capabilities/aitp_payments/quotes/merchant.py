"""The merchant: who asks for payment here, and signs that it does."""

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
    """The site, as whoever pays it knows it. Its key follows from the desk's own secret.

    Parameters:
        id: as of ``merchant_id``; empty for the site's own actor.

    Attributes:
        id: what it is called in quotes.
        key: its public key, as text.
        jwks: the same, as everybody may read it.
    """

    def __init__(self, own: Own, id: str = "") -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(own.derive("merchant signature"))
        public = self._private.public_key()
        self.id = id or own.actor
        self.key = write_key(public)
        self.jwks: Mapping[str, Any] = {"keys": [jwk_of(public)]}

    def sign(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message with ``merchant_signature``."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(message))
        return sign(self._private, plain, SIGNATURE)

    def has_signed(self, message: Mapping[str, Any]) -> bool:
        """Whether a message holds this merchant's signature."""
        return verifies(self.key, message, SIGNATURE)


def seconds(moment: str) -> int:
    """A moment as :func:`moment` has written it, as Unix seconds."""
    return int(datetime.fromisoformat(moment).timestamp())


def moment(seconds: int) -> str:
    """Unix seconds as messages have them: RFC 3339, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
