"""Slack's signature of requests (docs.slack.dev, "Verifying requests from Slack")."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping

from aitp_desk.model.errors import NotAuthenticated

MOST_AGE_SECONDS = 5 * 60
"""The oldest request that counts, so that a recorded one cannot be sent again."""
TIMESTAMP_HEADER = "x-slack-request-timestamp"
SIGNATURE_HEADER = "x-slack-signature"
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a body that is sent at a time."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def check_signature(secret: str, headers: Mapping[str, str], body: bytes, now: int) -> None:
    """Refuse a request that Slack has not signed for this app within five minutes.

    Parameters:
        headers: with lowercase names.
        now: Unix seconds.

    Raises:
        NotAuthenticated: the proof is missing, wrong or old.
    """
    timestamp = headers.get(TIMESTAMP_HEADER, "")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise NotAuthenticated(f"{TIMESTAMP_HEADER} must be a time in Unix seconds.")
    if abs(now - int(timestamp)) > MOST_AGE_SECONDS:
        raise NotAuthenticated("The request is older than five minutes, or from the future.")
    given = headers.get(SIGNATURE_HEADER, "")
    # bytes, because texts outside ASCII cannot be compared in constant time
    expected = sign(secret, timestamp, body).encode()
    if not hmac.compare_digest(expected, given.encode("utf-8", "surrogateescape")):
        raise NotAuthenticated(f"{SIGNATURE_HEADER} is not the signature of this app's secret.")
