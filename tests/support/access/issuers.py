"""A desk that takes signed tokens of two issuers, for tests."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from multidict import CIMultiDict

from aitp_desk.auth.credentials.proof import Proof
from aitp_desk.auth.credentials.proof_cache import CredentialEpoch, ProofCache
from aitp_desk.auth.credentials.request_credentials import BEARER, RequestCredentials
from aitp_desk.auth.jwt.base64url import decode_base64url
from aitp_desk.auth.jwt.bearer import BearerTokens
from aitp_desk.auth.jwt.claims import ClaimRules, Claims
from aitp_desk.auth.jwt.issuers import (
    Issuer,
    IssuerKeys,
    SharedSecret,
    list_token_types,
    make_principal,
)
from aitp_desk.auth.jwt.jwk import VerifyingKey, find_key, read_key
from aitp_desk.config import Issuer as IssuerSettings
from aitp_desk.model.access.principal import Principal
from tests.support.access.identity_provider import SECRET, base64url, claims_of, public_jwk, sign

NOW = 1_800_000_000

LOGIN, SHARED, DESK = "https://login.example", "https://shared.example", "https://desk.example"

ALGORITHMS = ("EdDSA", "ES256", "RS256", "HS256")

_BOUNDS = ClaimRules(audience=DESK, leeway=30, max_lifetime=86_400)


class Published:
    """Keys that are at hand."""

    def __init__(self, *jwks: Any) -> None:
        self._keys = tuple(key for key in map(read_key, jwks) if key is not None)

    def withdraw(self) -> None:
        self._keys = ()

    async def find(self, key_id: str | None, algorithm: str) -> VerifyingKey | None:
        return find_key(self._keys, key_id, algorithm)


def issuer(
    keys: IssuerKeys, *algorithms: str, url: str = LOGIN, type: str = "", **settings: Any
) -> Issuer:
    settled = IssuerSettings(name="login" if url == LOGIN else "shared", url=url, **settings)

    async def introduce_as(claims: Claims) -> Principal:
        return make_principal(settled, claims)

    return Issuer(
        url=url,
        algorithms=frozenset(algorithms or ALGORITHMS[:3]),
        keys=keys,
        bounds=_BOUNDS,
        types=list_token_types(type),
        introduce=introduce_as,
    )


async def never_changed() -> int:
    return 0


def desk(*issuers: Issuer, now: Callable[[], float] = lambda: NOW) -> BearerTokens:
    """What takes tokens of these issuers; by default one with a key of each kind, and a secret."""
    both = (
        issuer(Published(*map(public_jwk, ALGORITHMS[:3]))),
        issuer(SharedSecret(SECRET.encode()), "HS256", url=SHARED),
    )
    return BearerTokens(issuers or both, ProofCache(CredentialEpoch(never_changed), now), now)


class Head(msgspec.Struct):
    """The head of a request."""

    presented: RequestCredentials
    headers: CIMultiDict[str] = msgspec.field(default_factory=CIMultiDict)
    method: str = "GET"
    target: str = "/"


async def prove(token: str, bearer: BearerTokens | None = None) -> Proof:
    return await (bearer or desk()).verify(Head(RequestCredentials(BEARER, token)))


def good(algorithm: str = "EdDSA", **others: Any) -> dict[str, Any]:
    return claims_of(SHARED if algorithm == "HS256" else LOGIN, DESK, NOW, **others)


# --- tokens that prove nothing --------------------------------------------------------------


def hs256_with(secret: bytes, claims: Mapping[str, Any], **header: Any) -> str:
    named = {"alg": "HS256", "typ": "JWT", **header}
    signed = f"{base64url(json.dumps(named))}.{base64url(json.dumps(claims))}"
    return f"{signed}.{base64url(hmac.digest(secret, signed.encode(), 'sha256'))}"


def decoded(text: str) -> bytes:
    raw = decode_base64url(text)
    assert raw is not None
    return raw


TOKENS = {algorithm: sign(good(algorithm), algorithm) for algorithm in ALGORITHMS}

GOOD = TOKENS["EdDSA"]
