"""The site as payer, with the key that signs its payments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.capability import Own
from aitp_payments.messages.signatures import jwk_of, sign, write_key
from aitp_payments.settlement.payer_keys import SIGNATURE


class Payer:
    """The site as payees know it. Its key is derived from the desk's secret.

    Parameters:
        id: its ``payer_id``; empty for the site's own actor.

    Attributes:
        id: its id in payments.
        key: its public key, as text.
        jwks: its public key, as published.
    """

    def __init__(self, own: Own, id: str = "") -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(own.derive("payer signature"))
        public = self._private.public_key()
        self.id = id or own.actor
        self.key = write_key(public)
        self.jwks: Mapping[str, Any] = {"keys": [jwk_of(public)]}

    def sign(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Add ``payer_signature`` to a message."""
        return sign(self._private, message, SIGNATURE)
