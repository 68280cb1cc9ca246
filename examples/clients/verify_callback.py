"""Verifies that a callback comes from an aitp-desk and is recent.

docs/protocols/ahp-actions.md of aitp-desk describes when to use which function. Needs
standardwebhooks, and cryptography for public keys.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook

SECONDS = 300
"""Maximum age of a callback, and maximum offset into the future."""


def verify_with_secret(secret: str, headers: Mapping[str, str], body: bytes) -> Any:
    """Verify a callback by a secret that you share with the desk, and return its content.

    Parameters:
        secret: begins with ``whsec_``; ``aitp-desk token create --webhook-secret`` shows it.
        headers: of the request.
        body: exactly as it arrived.

    Raises:
        WebhookVerificationError: it is not from the desk, was changed, or is old.
    """
    return Webhook(secret).verify(body, dict(headers))


def verify_with_keys(jwks: Mapping[str, Any], headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether a callback is signed with one of the desk's published keys.

    Parameters:
        jwks: the JSON of https://YOUR-DESK/.well-known/jwks.json: use the desk that you called,
            never an address from the request.
        headers: of the request, their names in lower case.
        body: exactly as it arrived.
    """
    if abs(time.time() - int(headers["webhook-timestamp"])) > SECONDS:
        return False
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    keys = [key for key in jwks["keys"] if key["kid"] == headers.get("webhook-key-id")]
    for signature in headers["webhook-signature"].split():
        version, _, encoded = signature.partition(",")
        for key in keys if version == "v1a" else ():
            public = base64.urlsafe_b64decode(key["x"] + "=")
            try:
                Ed25519PublicKey.from_public_bytes(public).verify(base64.b64decode(encoded), signed)
            except InvalidSignature:
                continue
            return True
    return False
