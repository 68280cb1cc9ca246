"""Credentials for a facilitator: from the environment alone, never from ``desk.toml``.

Source: the authentication of Coinbase's developer platform, which needs a token for each request.
"""

from __future__ import annotations

import base64
import binascii
import secrets
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_payments.x402.facilitator import Credential

TOKEN = "X402_FACILITATOR_TOKEN"  # noqa: S105 -- the name of a variable
KEY_ID = "CDP_API_KEY_ID"
KEY_SECRET = "CDP_API_KEY_SECRET"  # noqa: S105 -- the name of a variable
CDP_HOST = "api.cdp.coinbase.com"
LIFETIME = 120
_SEED = 32
_KEY = 64


def nothing(_method: str, _url: str) -> Mapping[str, str]:
    """Return no headers, for a facilitator without authentication."""
    return {}


def credential_of(
    environment: Mapping[str, str], url: str, clock: Callable[[], float] = time.time
) -> Credential:
    """Return the credential for a facilitator.

    Parameters:
        environment: holds ``X402_FACILITATOR_TOKEN``, a token that is sent unchanged to any
            facilitator; or ``CDP_API_KEY_ID`` and ``CDP_API_KEY_SECRET``, which sign a token for
            each request, to Coinbase's alone.
        url: of the facilitator.

    Raises:
        ValueError: the secret is not an Ed25519 key. The message contains no part of it.
    """
    if token := environment.get(TOKEN):
        headers = {"Authorization": f"Bearer {token}"}
        return lambda _method, _url: headers
    id, secret = environment.get(KEY_ID, ""), environment.get(KEY_SECRET, "")
    if id and secret and urlsplit(url).hostname == CDP_HOST:
        return _CoinbaseTokens(id, _key_of(secret), clock)
    return nothing


class _CoinbaseTokens:
    """Signs a token for each request with a key of Coinbase's developer platform."""

    def __init__(self, id: str, key: Ed25519PrivateKey, clock: Callable[[], float]) -> None:
        self._id = id
        self._key = key
        self._clock = clock

    def __call__(self, method: str, url: str) -> Mapping[str, str]:
        now = int(self._clock())
        address = urlsplit(url)
        head = {"alg": "EdDSA", "typ": "JWT", "kid": self._id, "nonce": secrets.token_hex(16)}
        claims = {
            "sub": self._id,
            "iss": "cdp",
            "nbf": now,
            "exp": now + LIFETIME,
            "uris": [f"{method} {address.netloc}{address.path}"],
        }
        signed = ".".join(_part(msgspec.json.encode(one)) for one in (head, claims))
        signature = _part(self._key.sign(signed.encode()))
        return {"Authorization": f"Bearer {signed}.{signature}"}


def _key_of(secret: str) -> Ed25519PrivateKey:
    try:
        plain = base64.b64decode(secret, validate=True)
    except binascii.Error:
        plain = b""
    if len(plain) not in {_SEED, _KEY}:
        raise ValueError(
            f"{KEY_SECRET} must be an Ed25519 key of Coinbase, 88 characters of base64."
        )
    return Ed25519PrivateKey.from_private_bytes(plain[:_SEED])


def _part(plain: bytes) -> str:
    return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()
