"""The issuers whose tokens the desk accepts, and what their tokens permit.

An issuer is identified by its URL, which its tokens name as ``iss``. The desk can be an issuer
itself, with local keys. Keys of others are fetched (``jwks.py``) or are a shared secret.
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
    """The keys of one issuer.

    :class:`aitp_desk.auth.jwt.jwks.RemoteKeys` fetches them; :class:`SharedSecret` holds one. An
    issuer with local keys finds them with :func:`aitp_desk.auth.jwt.jwk.find_key`.
    """

    async def find(self, key_id: str | None, algorithm: str) -> VerifyingKey | None:
        """Return the key that a token names; None if the issuer has no such key.

        The token is not yet verified: its values may only be compared.

        Parameters:
            key_id: None if the token names none.
            algorithm: one of those that the issuer signs with.

        Raises:
            Unavailable: the keys cannot be fetched now.
        """


class SharedSecret:
    """The secret that an issuer shares with the desk, for HS256.

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
    """An issuer whose tokens the desk accepts.

    Parameters:
        url: its issuer identifier, compared character by character with ``iss``.
        algorithms: the allowed algorithms of its tokens.
        keys: the keys that verify them.
        bounds: the rules for their claims.
        types: the allowed values of ``typ``, lowercase, without ``application/``.
        introduce: returns the caller of a verified token. Raises TokenRefused for a revoked one.
        use: records the ``jti`` of a single-use token; None if tokens are valid until they expire.
            Raises TokenRefused if it was used.
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
    """Return the caller of a configured issuer's token.

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
    """Return the caller of a configured issuer's token, without a check for revocation."""
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
    """Use a single-use token.

    Parameters:
        name: the issuer's name in the configuration.

    Raises:
        TokenRefused: it was used before.
        StoreBusy: too many writes are waiting; it was not used.
    """
    try:
        await nonces.use(f"{JWT_PREFIX}{name}", claims.token_id or "", until=claims.ends_at)
    except NotAuthenticated:
        raise TokenRefused(
            "The token was used before, and its issuer's tokens are valid for one request each."
        ) from None


def list_token_types(wanted: str) -> frozenset[str]:
    """Return the allowed values of ``typ``; by default those of access tokens.

    Tokens for other purposes, such as ``logout+jwt``, name their type (RFC 8725, 3.11).
    """
    if wanted:
        return frozenset({wanted.lower().removeprefix("application/")})
    return frozenset({"", "jwt", "at+jwt"})


def limit_scopes(
    scopes: tuple[str, ...], allowed: tuple[str, ...], names: Mapping[str, str]
) -> frozenset[str]:
    """Return the scopes of this desk that a token permits.

    Scopes that the issuer may not grant, or that the desk does not have, are left out.

    Parameters:
        scopes: the token's scopes under the issuer's names.
        allowed: the scopes that the issuer may grant.
        names: maps the issuer's names to scopes of this desk.
    """
    found = {names.get(word, word) for word in scopes}
    return frozenset(scope for scope in found if is_scope(scope) and covers_scope(allowed, scope))
