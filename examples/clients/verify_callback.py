"""Tells whether what your server was sent comes from an aitp-desk, and is not an old copy.

docs/protocols/ahp-actions.md of aitp-desk says when to use which. Needs standardwebhooks, and
cryptography for public keys.
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
"""How old or new a callback may be."""


def verify_with_secret(secret: str, headers: Mapping[str, str], body: bytes) -> Any:
    """Return what was sent to whoever shares a secret with the desk.

    Parameters:
        secret: begins with ``whsec_``; ``aitp-desk token create --webhook-secret`` shows it.
        headers: of the request.
        body: exactly as it arrived.

    Raises:
        WebhookVerificationError: it is not from the desk, was changed, or is old.
    """
    return Webhook(secret).verify(body, dict(headers))


def verify_with_keys(jwks: Mapping[str, Any], headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether the desk has signed what was sent with one of its published keys.

    Parameters:
        jwks: the JSON of https://YOUR-DESK/.well-known/jwks.json: of the desk that you have asked,
            never of an address in the request.
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
