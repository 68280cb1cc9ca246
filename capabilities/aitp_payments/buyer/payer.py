"""The payer: by which key the site signs what it pays others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.capability import Own
from aitp_payments.messages.signatures import jwk_of, sign, write_key
from aitp_payments.settlement.payer_keys import SIGNATURE


class Payer:
    """The site, as whoever it pays knows it. Its key follows from the desk's own secret.

    Parameters:
        id: as of ``payer_id``; empty for the site's own actor.

    Attributes:
        id: what it is called in payments.
        key: its public key, as text.
        jwks: the same, as everybody may read it.
    """

    def __init__(self, own: Own, id: str = "") -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(own.derive("payer signature"))
        public = self._private.public_key()
        self.id = id or own.actor
        self.key = write_key(public)
        self.jwks: Mapping[str, Any] = {"keys": [jwk_of(public)]}

    def sign(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message with ``payer_signature``."""
        return sign(self._private, message, SIGNATURE)
