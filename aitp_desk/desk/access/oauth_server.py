"""The OAuth 2.0 authorization server: registers clients, and issues tokens.

Sources: RFC 6749, section 4.4 (client credentials), RFC 7591 (registration), RFC 8707 (resources).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from aitp_desk.auth.jwt.clients import ClientSecrets
from aitp_desk.auth.jwt.issuance import sign_token
from aitp_desk.auth.jwt.signing_keys import KeyPair, SigningKeys
from aitp_desk.config import OAuth
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.model.access.audit import AuditAction, AuditKeys, Auditor, ObjectKind
from aitp_desk.model.access.principal import CLIENT_PREFIX
from aitp_desk.model.access.scope import covers_scope
from aitp_desk.model.counters import Counters, end_of_minute, make_end
from aitp_desk.model.error_kind import CredentialFault
from aitp_desk.model.errors import (
    InvalidClientMetadata,
    InvalidScope,
    InvalidTarget,
    RateLimited,
    UnknownClient,
)
from aitp_desk.model.text import write_count
from aitp_desk.store.base import Store
from aitp_desk.store.reads.credentials import clients as client_reads
from aitp_desk.store.records.clients import Client
from aitp_desk.store.units.audit import keep_audit
from aitp_desk.store.units.keys import clients as client_units

MAX_FAILURES = 20
"""Failed client authentications per address and minute, for all clients together."""
MAX_FAILURES_OF_CLIENT = 5
"""The same for one client. Other addresses are not affected: a client can be locked out only from
its own address.
"""
REGISTRATION_SECONDS = 3600


class GrantRequest(msgspec.Struct, frozen=True):
    """A client's token request.

    Parameters:
        client_id, client_secret: the client's credentials.
        scopes: the requested scopes; None for all that it may have.
        resources: where it wants to use the token (RFC 8707); none for the desk as a whole.
    """

    client_id: str
    client_secret: str
    scopes: tuple[str, ...] | None
    resources: tuple[str, ...]


class IssuedToken(msgspec.Struct, frozen=True):
    """An issued token.

    Parameters:
        seconds: its lifetime.
        scopes: the granted scopes, which may be fewer than requested.
    """

    token: str
    seconds: int
    scopes: tuple[str, ...]


class RegistrationRequest(msgspec.Struct, frozen=True):
    """A program's request to register as a client.

    Parameters:
        name: the client's name for itself.
        scopes: the requested scopes; None for all that a registered client may have.
    """

    name: str
    scopes: tuple[str, ...] | None


class RegisteredClient(msgspec.Struct, frozen=True):
    """A newly registered client. Both secrets are returned only here.

    Parameters:
        secret: authenticates the client.
        webhook_secret: signs callbacks to it.
    """

    client: Client
    secret: str
    webhook_secret: str


class AuthorizationServer:
    """Issues tokens to clients. It reads the store each time: requests are rare.

    Parameters:
        keys: the signing keys.
        client_secrets: verifies client secrets.
        audit: the keys of the audit log.
        webhook_secret: derives the secret that signs callbacks to a client, from its id, its
            version and that of its data key.
        url: the public address of the desk, its issuer identifier and the audience of its tokens.
        clock: Unix seconds.

    Attributes:
        failures: failed client authentications, by address and by client; shared with other
            processes, as are ``registrations``, by address.
    """

    def __init__(
        self,
        *,
        store: Store,
        keys: SigningKeys,
        client_secrets: ClientSecrets,
        audit: AuditKeys,
        webhook_secret: Callable[[str, int, int], str],
        settings: OAuth,
        url: str,
        clock: Callable[[], float],
    ) -> None:
        self.settings = settings
        self._store = store
        self._keys = keys
        self._client_secrets = client_secrets
        self._audit = audit
        self._webhook_secret = webhook_secret
        self._url = url
        self._clock = clock
        self.failures = Counters(end_of_minute, clock)
        self.registrations = Counters(make_end(REGISTRATION_SECONDS), clock)

    async def grant_token(self, request: GrantRequest, address: str) -> IssuedToken:
        """Issue a token to a client (RFC 6749, section 4.4).

        Scopes that exist and are not the client's are left out, as section 3.3 allows: clients that
        know only a site's metadata request all scopes listed there.

        Parameters:
            address: the caller's, for limits.

        Raises:
            UnknownClient: the id or secret is wrong, or the client was revoked or has expired.
            RateLimited: there were too many failures.
            InvalidScope: the client has none of the requested scopes.
            InvalidTarget: a resource is not this desk's.
        """
        now = int(self._clock())
        client = await self._prove(request, address, now)
        for resource in request.resources:
            self._check_resource(resource)
        scopes = _narrowed(request.scopes, client)
        expires_at = now + self.settings.token_seconds
        if client.expires_at is not None:
            expires_at = min(expires_at, client.expires_at)
        later = await client_reads.signing_keys(self._store)
        id_ = secrets.token_hex(16)
        token = sign_token(
            self._keys.get_current(later, now),
            id_=id_,
            issuer=self._url,
            client=client,
            scopes=scopes,
            now=now,
            expires_at=expires_at,
        )
        by = Auditor(self._audit, now, f"{CLIENT_PREFIX}{client.id}", "client_secret")
        await self._store.run(
            keep_audit, by=by, action=AuditAction.TOKEN_ISSUED, kind=ObjectKind.TOKEN, id_=id_
        )
        return IssuedToken(token, expires_at - now, scopes)

    async def register_client(self, request: RegistrationRequest, address: str) -> RegisteredClient:
        """Register a client (RFC 7591).

        Parameters:
            address: the caller's, for limits.

        Raises:
            InvalidClientMetadata: it requests only scopes that no registered client may have.
            RateLimited: this address has registered too often.
            Unavailable: the maximum number of clients is registered.
        """
        settings = self.settings.registration
        wanted = settings.scopes if request.scopes is None else request.scopes
        scopes = tuple(scope for scope in wanted if covers_scope(settings.scopes, scope))
        if not scopes:
            raise InvalidClientMetadata(
                f"A self-registered client may have only the scopes {' '.join(settings.scopes)}.",
                param="scope",
            )
        now = int(self._clock())
        window = self.registrations.count(address, settings.per_hour)
        if window.counted > settings.per_hour:
            raise _too_often("registered clients", window.ends - now)
        client, secret = self._client_secrets.make(
            name=request.name,
            scopes=scopes,
            is_registered=True,
            now=now,
            expires_at=now + settings.client_days * DAY_SECONDS,
        )
        by = Auditor(self._audit, now, f"{CLIENT_PREFIX}{client.id}", "nothing")
        await self._store.run(
            client_units.register_client, client=client, most=settings.max_clients, by=by
        )
        shared = self._webhook_secret(client.id, client.version, client.data_key)
        return RegisteredClient(client, secret, shared)

    async def published_keys(self) -> tuple[KeyPair, ...]:
        """Return the keys that verify tokens; only their public halves may be published."""
        later = await client_reads.signing_keys(self._store)
        return self._keys.list_published(later, self._clock())

    async def _prove(self, request: GrantRequest, address: str, now: int) -> Client:
        limits = (
            (address, MAX_FAILURES),
            ((address, request.client_id), MAX_FAILURES_OF_CLIENT),
        )
        for key, most in limits:
            window = self.failures.read(key)
            if window is not None and window.counted >= most:
                raise _too_often("sent invalid credentials", window.ends - now)
        client = await client_reads.client(self._store, request.client_id)
        is_proven = self._client_secrets.is_valid(
            request.client_id, request.client_secret, client, now
        )
        if client is None or not is_proven or not client.is_live(now):
            for key, most in limits:
                self.failures.count(key, most)
            raise _unknown(client if is_proven else None)
        return client

    def _check_resource(self, resource: str) -> None:
        """Refuse a resource that is not at this desk's address."""
        try:
            parts = urlsplit(resource)
            origin = f"{parts.scheme}://{parts.netloc.lower()}"
        except ValueError:
            origin = ""
        if origin != self._url.lower() or "#" in resource:
            raise InvalidTarget(
                f"`resource` must be {self._url} or an address below it.", param="resource"
            )


def _unknown(client: Client | None) -> UnknownClient:
    """Return the one refusal for every failed client authentication.

    Only the audit log sees the reason.

    Parameters:
        client: the client whose id and secret matched, though revoked or expired.
    """
    message = "The client's id or secret is not valid: it is unknown, revoked or expired."
    if client is None:
        return UnknownClient(message)
    reason: CredentialFault = "expired" if client.revoked_at is None else "revoked"
    return UnknownClient(message, reason=reason, whose=f"{CLIENT_PREFIX}{client.id}")


def _narrowed(asked: tuple[str, ...] | None, client: Client) -> tuple[str, ...]:
    """Return the granted scopes: those requested that the client may have."""
    if asked is None:
        return client.scopes
    left = tuple(scope for scope in asked if covers_scope(client.scopes, scope))
    if not left:
        raise InvalidScope(
            f"The client may have only the scopes {' '.join(client.scopes)}.", param="scope"
        )
    return left


def _too_often(what: str, seconds: float) -> RateLimited:
    wait = max(1, round(seconds))
    return RateLimited(
        f"This address has {what} too often. Try again in {write_count(wait, 'second')}.",
        scope="ip",
        retry_after=wait,
    )
