"""An external identity provider: tokens that it signs, and a server that publishes its keys."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

from tests.support.doubles.website import Website, website

SECRET = "5e2b" * 16
"""A secret for HS256."""

Private = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | str


@cache
def private_key(algorithm: str, name: str = "first") -> Private:
    """A key to sign with, made once: RSA keys take long."""
    assert name
    match algorithm:
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "RS256":
            return rsa.generate_private_key(65537, 2048)
        case _:
            return SECRET


def public_jwk(algorithm: str, name: str = "first", **members: Any) -> dict[str, Any]:
    """A public key as it is published; a member that is None is left out."""
    private = private_key(algorithm, name)
    assert not isinstance(private, str)
    jwk = get_default_algorithms()[algorithm].to_jwk(private.public_key(), as_dict=True)
    jwk.pop("key_ops", None)
    published = {**jwk, "kid": f"{algorithm}-{name}", "use": "sig", "alg": algorithm, **members}
    return {member: value for member, value in published.items() if value is not None}


def claims_of(
    issuer: str, audience: str, now: float | None = None, **others: Any
) -> dict[str, Any]:
    """Claims of a token that is good; one that is None is left out."""
    at = int(time.time() if now is None else now)
    claims = {
        "iss": issuer,
        "aud": audience,
        "sub": "aya",
        "iat": at,
        "exp": at + 600,
        "scope": "threads",
        **others,
    }
    return {name: value for name, value in claims.items() if value is not None}


def sign(
    claims: Mapping[str, Any],
    algorithm: str = "EdDSA",
    name: str = "first",
    **header: Any,
) -> str:
    """A token; a member of its header that is None is left out."""
    named = {"typ": "JWT", "alg": algorithm, "kid": f"{algorithm}-{name}", **header}
    named = {member: value for member, value in named.items() if value is not None}
    return sign_raw(json.dumps(named), json.dumps(claims), algorithm, name)


def sign_raw(header: str | bytes, claims: str | bytes, algorithm: str, name: str = "first") -> str:
    """A token over exactly these bytes."""
    signed = f"{base64url(header)}.{base64url(claims)}"
    worker = jwt.PyJWS().get_algorithm_by_name(algorithm)
    signature = worker.sign(signed.encode(), worker.prepare_key(private_key(algorithm, name)))
    return f"{signed}.{base64url(signature)}"


def base64url(data: str | bytes) -> str:
    """Base64url without padding."""
    raw = data.encode() if isinstance(data, str) else data
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


class Provider:
    """An identity provider that answers.

    Attributes:
        site: its web server.
    """

    def __init__(self, site: Website) -> None:
        self.site = site

    @property
    def url(self) -> str:
        """Its issuer identifier."""
        return self.site.url

    def publish(self, *jwks: Any, **headers: str) -> None:
        """Publish keys, and where they are."""
        metadata = {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        self.site.put("/.well-known/oauth-authorization-server", json.dumps(metadata))
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.site.put("/keys", json.dumps({"keys": jwks}), headers=named)

    @property
    def times_asked(self) -> int:
        """How often its keys were asked for."""
        return sum(asked.path == "/keys" for asked in self.site.asked)


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    """An identity provider on the loopback that publishes one key of each algorithm."""
    async with website() as site:
        made = Provider(site)
        made.publish(public_jwk("EdDSA"), public_jwk("ES256"), public_jwk("RS256"))
        yield made
