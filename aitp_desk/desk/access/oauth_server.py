"""What the desk does as an OAuth 2.0 authorization server: it registers clients, and gives tokens.

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
from aitp_desk.model.counters import Counters, end_of_minute
from aitp_desk.model.errors import (
    InvalidClientMetadata,
    InvalidScope,
    InvalidTarget,
    RateLimited,
    Refusal,
    UnknownClient,
)
from aitp_desk.store import units as work
from aitp_desk.store.base import Store
from aitp_desk.store.reads.credentials import clients as client_reads
from aitp_desk.store.records.clients import Client

MAX_FAILURES = 20
"""How often an address may fail to prove a client in a minute, whichever clients these are."""
MAX_FAILURES_OF_CLIENT = 5
"""How often it may fail with the same client. Another address is not held up by it: nobody can shut
a client out who does not sit where it does."""


class GrantRequest(msgspec.Struct, frozen=True):
    """A client asks for a token.

    Parameters:
        client_id, client_secret: the proof.
        scopes: what it asks for; None for all that it may have.
        resources: what it wants to use the token for (RFC 8707); none for the desk as a whole.
    """

    client_id: str
    client_secret: str
    scopes: tuple[str, ...] | None
    resources: tuple[str, ...]


class IssuedToken(msgspec.Struct, frozen=True):
    """A token.

    Parameters:
        seconds: how long it lasts.
        scopes: what it opens, which may be less than was asked for.
    """

    token: str
    seconds: int
    scopes: tuple[str, ...]


class RegistrationRequest(msgspec.Struct, frozen=True):
    """A program asks to become a client.

    Parameters:
        name: what it calls itself.
        scopes: what it asks for; None for all that a registered client may have.
    """

    name: str
    scopes: tuple[str, ...] | None


class RegisteredClient(msgspec.Struct, frozen=True):
    """A program became a client. Both secrets are told this once.

    Parameters:
        secret: what it proves itself with.
        webhook_secret: what callbacks to it are signed with.
    """

    client: Client
    secret: str
    webhook_secret: str


class AuthorizationServer:
    """Gives tokens to clients. What it needs of the store it reads each time: it is seldom asked.

    Parameters:
        keys: what signs.
        client_secrets: what proves clients.
        audit: the keys of the audit log.
        webhook_secret: what is shared with a client, by its id, its version and that of its data
            key; callbacks to it are signed with that.
        url: the public address of the desk, its issuer identifier and the audience of its tokens.
        clock: Unix seconds.
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
        self._failures = Counters(end_of_minute, clock)
        self._registrations = Counters(lambda now: now + 3600, clock)

    async def grant_token(self, request: GrantRequest, address: str) -> IssuedToken:
        """Give a client a token (RFC 6749, section 4.4).

        Scopes that exist and are not the client's are left out, as section 3.3 allows: clients that
        know only what a site's metadata lists ask for all of that.

        Parameters:
            address: where the caller is, for limits.

        Raises:
            UnknownClient: id and secret prove nothing, or the client was revoked or has expired.
            RateLimited: they proved nothing too often.
            InvalidScope: the client has none of those asked for.
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
            work.keep_audit, by=by, action=AuditAction.TOKEN_ISSUED, kind=ObjectKind.TOKEN, id_=id_
        )
        return IssuedToken(token, expires_at - now, scopes)

    async def register_client(self, request: RegistrationRequest, address: str) -> RegisteredClient:
        """Make a program a client.

        Parameters:
            address: where the caller is, for limits.

        Raises:
            InvalidClientMetadata: it asks only for what no registered client may do.
            RateLimited: this address has registered too often.
            Unavailable: as many clients are registered as may be.
        """
        settings = self.settings.registration
        wanted = settings.scopes if request.scopes is None else request.scopes
        scopes = tuple(scope for scope in wanted if covers_scope(settings.scopes, scope))
        if not scopes:
            raise InvalidClientMetadata(
                f"A client that registers may have the scopes {' '.join(settings.scopes)}.",
                param="scope",
            )
        now = int(self._clock())
        window = self._registrations.count(address, settings.per_hour)
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
        await self._store.run(work.register_client, client=client, most=settings.max_clients, by=by)
        shared = self._webhook_secret(client.id, client.version, client.data_key)
        return RegisteredClient(client, secret, shared)

    async def published_keys(self) -> tuple[KeyPair, ...]:
        """The keys that others verify tokens with; only their public halves may be shown."""
        later = await client_reads.signing_keys(self._store)
        return self._keys.list_published(later, self._clock())

    async def _prove(self, request: GrantRequest, address: str, now: int) -> Client:
        limits = (
            (address, MAX_FAILURES),
            ((address, request.client_id), MAX_FAILURES_OF_CLIENT),
        )
        for key, most in limits:
            window = self._failures.read(key)
            if window is not None and window.counted >= most:
                raise _too_often("sent credentials that prove nothing", window.ends - now)
        client = await client_reads.client(self._store, request.client_id)
        is_proven = self._client_secrets.is_valid(
            request.client_id, request.client_secret, client, now
        )
        if client is None or not is_proven or not client.is_live(now):
            for key, most in limits:
                self._failures.count(key, most)
            raise _unknown(client if is_proven else None)
        return client

    def _check_resource(self, resource: str) -> None:
        """Refuse what is not at this desk's address."""
        try:
            parts = urlsplit(resource)
            origin = f"{parts.scheme}://{parts.netloc.lower()}"
        except ValueError:
            origin = ""
        if origin != self._url.lower() or "#" in resource:
            raise InvalidTarget(
                f"This desk gives tokens for {self._url} and what is below it.", param="resource"
            )


def _unknown(client: Client | None) -> UnknownClient:
    """One refusal for all that proves nothing; only the audit log is told apart.

    Parameters:
        client: whose id and secret it was, though revoked or expired.
    """
    message = "The client's id and secret prove nothing: they are unknown, revoked or expired."
    if client is None:
        return UnknownClient(message)
    reason: Refusal = "expired" if client.revoked_at is None else "revoked"
    return UnknownClient(message, reason=reason, whose=f"{CLIENT_PREFIX}{client.id}")


def _narrowed(asked: tuple[str, ...] | None, client: Client) -> tuple[str, ...]:
    """What a token opens, of what was asked for and what its client may."""
    if asked is None:
        return client.scopes
    left = tuple(scope for scope in asked if covers_scope(client.scopes, scope))
    if not left:
        raise InvalidScope(
            f"The client may have the scopes {' '.join(client.scopes)}.", param="scope"
        )
    return left


def _too_often(what: str, seconds: float) -> RateLimited:
    wait = max(1, round(seconds))
    return RateLimited(
        f"This address has {what} too often. Try again in {wait} seconds.",
        scope="ip",
        retry_after=wait,
    )
