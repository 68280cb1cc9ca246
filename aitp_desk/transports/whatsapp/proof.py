"""Proves that a request to the webhook is of Meta.

Source: Graph API, "Webhooks": the verification request, and ``X-Hub-Signature-256``.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256

from aitp_desk.model.errors import NotAuthenticated

SIGNATURE_HEADER = "x-hub-signature-256"
_CHALLENGE = re.compile(r"[A-Za-z0-9_.-]{1,256}")


def check_signature(secret: bytes, body: bytes, headers: Mapping[str, str]) -> None:
    """Check the signature of a delivery, over the body as received.

    Raises:
        NotAuthenticated: there is none, or it is of another body or secret.
    """
    shown = headers.get(SIGNATURE_HEADER, "")
    expected = "sha256=" + hmac.new(secret, body, sha256).hexdigest()
    if not hmac.compare_digest(shown.encode("utf-8", "replace"), expected.encode()):
        raise NotAuthenticated("This address takes deliveries that Meta has signed.")


def answer_challenge(verify_token: str, query: Mapping[str, str]) -> bytes:
    """Return what the verification request wants to hear.

    Raises:
        NotAuthenticated: it does not show the word, or is no such request.
    """
    shown = query.get("hub.verify_token", "").encode("utf-8", "replace")
    is_known = hmac.compare_digest(shown, verify_token.encode())
    challenge = query.get("hub.challenge", "")
    is_whole = query.get("hub.mode") == "subscribe" and _CHALLENGE.fullmatch(challenge)
    if not is_known or not is_whole:
        raise NotAuthenticated("This address takes verification requests of Meta.")
    return challenge.encode()
