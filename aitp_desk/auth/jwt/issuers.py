"""Whose tokens the desk takes, and what it takes them for.

An issuer is known by its URL, which its tokens name as ``iss``. The desk itself may be one: its
keys are at hand, those of others are fetched (``jwks.py``) or are a secret that both sides have.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import msgspec

from aitp_desk.auth.credentials.nonces import NonceCache
from aitp_desk.auth.jwt.claims import ClaimRules, Claims
from aitp_desk.auth.jwt.jwk import VerifyingKey
from aitp_desk.config.sections.access.issuers import Issuer as IssuerSettings
from aitp_desk.model.access.principal import (
    JWT_PREFIX,
    Principal,
    PrincipalKind,
    ProvenBy,
    find_kind,
)
from aitp_desk.model.access.scope import covers_scope, is_scope
from aitp_desk.model.errors import NotAuthenticated, TokenRefused
from aitp_desk.store.base import Store
from aitp_desk.store.reads.credentials.jwt_revocations import is_revoked


class IssuerKeys(Protocol):
    """The keys of one issuer, wherever they are.

    :class:`aitp_desk.auth.jwt.jwks.RemoteKeys` fetches them; :class:`SharedSecret` holds one. An
    issuer whose keys are at hand finds them with :func:`aitp_desk.auth.jwt.jwk.find_key`.
    """

    async def find(self, key_id: str | None, algorithm: str) -> VerifyingKey | None:
        """Return the key that a token names; None where the issuer has no such key.

        Whatever a token says is unproven here: it may only be compared.

        Parameters:
            key_id: None where the token names none.
            algorithm: one of those that the issuer signs with.

        Raises:
            Unavailable: the keys cannot be had now.
        """


class SharedSecret:
    """The one secret that an issuer shares with the desk, for HS256.

    Parameters:
        secret: at least 32 bytes.
    """

    def __init__(self, secret: bytes) -> None:
        self._key = VerifyingKey(None, "HS256", secret)

    async def find(
        self,
        key_id: str | None,  # noqa: ARG002 -- there is one key, whatever a token calls it
        algorithm: str,
    ) -> VerifyingKey | None:
        """Return the secret."""
        return self._key if algorithm == self._key.algorithm else None


class Issuer(msgspec.Struct, frozen=True):
    """Somebody whose tokens are taken.

    Parameters:
        url: its issuer identifier, compared character by character with ``iss``.
        algorithms: what its tokens may be signed with.
        keys: what they are verified with.
        bounds: what their claims keep to.
        types: what their ``typ`` may be, in small letters, without ``application/``.
        introduce: says who the caller of a proven token is. Raises TokenRefused where that was
            revoked.
        use: notes the ``jti`` of a token that is good for one request; None where they are good
            until they expire. Raises TokenRefused where it is known.
    """

    url: str
    algorithms: frozenset[str]
    keys: IssuerKeys
    bounds: ClaimRules
    types: frozenset[str]
    introduce: Callable[[Claims], Awaitable[Principal]]
    use: Callable[[Claims], Awaitable[None]] | None = None


async def make_unrevoked_principal(
    store: Store, settings: IssuerSettings, claims: Claims
) -> Principal:
    """Say who the caller is whom a token of a configured issuer is about.

    Raises:
        TokenRefused: the site's owner has revoked it.
    """
    if await is_revoked(
        store,
        settings.name,
        token_id=claims.token_id,
        subject=claims.subject,
        issued_at=claims.issued_at,
        leeway=settings.leeway_seconds,
    ):
        raise TokenRefused("The token was revoked.", reason="revoked")
    return make_principal(settings, claims)


def make_principal(settings: IssuerSettings, claims: Claims) -> Principal:
    """The caller whom a token of a configured issuer is about."""
    scopes = limit_scopes(claims.scopes, settings.scopes, settings.scope_names)
    is_agent = settings.callers == "agents" or (
        settings.callers == "told" and claims.client_id == claims.subject
    )
    return Principal(
        f"{JWT_PREFIX}{settings.name}:{claims.subject}",
        find_kind(scopes, PrincipalKind.AGENT if is_agent else PrincipalKind.USER),
        scopes,
        "",
        proven_by=ProvenBy.JWT,
    )


async def use_once(nonces: NonceCache, name: str, claims: Claims) -> None:
    """Use a token that is good for one request.

    Parameters:
        name: what the site's owner calls its issuer.

    Raises:
        TokenRefused: it was used before.
        StoreBusy: too many writes are waiting; it was not used.
    """
    try:
        await nonces.use(f"{JWT_PREFIX}{name}", claims.token_id or "", until=claims.ends_at)
    except NotAuthenticated:
        raise TokenRefused(
            "The token was used before, and its issuer's are good for one request each."
        ) from None


def list_token_types(wanted: str) -> frozenset[str]:
    """What tokens may say that they are, where that much is wanted; any access token if empty.

    Tokens that are made for something else, such as ``logout+jwt``, say so (RFC 8725, 3.11).
    """
    if wanted:
        return frozenset({wanted.lower().removeprefix("application/")})
    return frozenset({"", "jwt", "at+jwt"})


def limit_scopes(
    told: tuple[str, ...], allowed: tuple[str, ...], names: Mapping[str, str]
) -> frozenset[str]:
    """The scopes of this desk that a token opens.

    What the issuer may not give, and what is no scope of this desk, is left out.

    Parameters:
        told: what the token says, in its issuer's words.
        allowed: what the issuer may give.
        names: what the issuer calls scopes of this desk.
    """
    found = {names.get(word, word) for word in told}
    return frozenset(scope for scope in found if is_scope(scope) and covers_scope(allowed, scope))
