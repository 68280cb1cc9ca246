"""Sessions of the operators' console: opened with an API key, identified by a cookie.

The cookie holds 256 random bits; the store keeps a keyed hash of them. A session has the scopes of
its key and ends with it: when the key is revoked, expires, or its secret at sign-in is replaced.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from typing import Final

from aitp_desk.auth.credentials.api_key import matches_hash, parse_api_key, verify_api_key
from aitp_desk.auth.credentials.guess_limiter import GuessLimiter
from aitp_desk.auth.credentials.proof import Head, Proof, get_credential
from aitp_desk.auth.credentials.proof_cache import CredentialEpoch, ProofCache
from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.access.audit import make_auditor
from aitp_desk.model.access.operator import operator_name
from aitp_desk.model.access.principal import Principal, ProvenBy, make_key_principal
from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.error_kind import CredentialFault
from aitp_desk.model.errors import NotAuthenticated, ScopeMissing
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import keys as key_reads
from aitp_desk.store.records.keys import ConsoleSession, Key
from aitp_desk.store.units.keys.console_sessions import begin_session, end_session

SECRET_BYTES: Final = 32
MAX_SESSIONS_PER_KEY: Final = 20
"""Maximum number of concurrent sessions of one key; the oldest is ended for a new one."""

_SECRET = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


class Session(Proof, frozen=True, kw_only=True):
    """A signed-in operator.

    Parameters:
        operator: the name that visitors see.
        csrf: the token that the desk's own pages send with every change.
        expires_at: Unix seconds.
    """

    operator: str
    csrf: str
    expires_at: int


class ConsoleSessions:
    """The authentication method of the operators' console.

    Parameters:
        epoch: the epoch of credentials.
        guesses: limits failed lookups of API keys; None for no limit.
        seconds: maximum lifetime of a session.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        store: Store,
        keys: DataKeys,
        epoch: CredentialEpoch,
        guesses: GuessLimiter | None,
        seconds: int,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._keys = keys
        self._verified = ProofCache(epoch, clock)
        self._guesses = guesses
        self._seconds = seconds
        self._clock = clock
        self._audit = derive_audit_keys(keys)
        self._hash_key = keys.derive("console sessions")
        self._forms = keys.derive("console forms")

    async def sign_in(self, key: str, address: str) -> tuple[str, Session]:
        """Start a session with an API key; each sign-in creates a new one.

        Parameters:
            key: the whole key.
            address: the client's address.

        Returns:
            The cookie's value, and the session.

        Raises:
            NotAuthenticated: the key is not valid.
            ScopeMissing: the key is not an operator's.
            RateLimited: too many invalid keys came from this address.
        """
        now = self._clock()
        token, until = await self._verify(key, address, now)
        if not is_operator_scope(token.scopes):
            raise ScopeMissing(
                "This key cannot open the console, because it lacks the scope 'operator'."
                " Create a key with 'aitp-desk token create --data FOLDER/.desk --scope operator"
                " --name NAME'.",
                scope="operator",
            )
        secret = secrets.token_urlsafe(SECRET_BYTES)
        ends = now + self._seconds if until is None else min(now + self._seconds, until)
        kept = ConsoleSession(
            self._hash(secret), token.id, self._used_hash(key, token), int(now), int(ends)
        )
        principal = make_key_principal(token.id, token.scopes, ProvenBy.API_KEY)
        by = make_auditor(self._audit, principal, int(now))
        await self._store.run(begin_session, session=kept, most=MAX_SESSIONS_PER_KEY, by=by)
        return secret, await self.find(secret)

    async def sign_out(self, session: Session) -> None:
        """End a session; its open responses end within a second."""
        by = make_auditor(self._audit, session.principal, int(self._clock()))
        await self._store.run(end_session, hash=self._hash(session.credential), by=by)
        self._verified.forget(session.credential)

    async def verify(self, head: Head) -> Session:
        """Return the session of the browser that sends a request.

        Raises:
            NotAuthenticated: there is none, or it has ended.
        """
        return await self.find(get_credential(head))

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether the session is still valid with its scopes."""
        return await self._verified.is_still_valid(proof, self._look_up)

    async def find(self, secret: str) -> Session:
        """Return the session of a cookie's value.

        Raises:
            NotAuthenticated: there is none, or it has ended.
        """
        return await self._verified.find(secret, self._look_up)

    async def _look_up(self, secret: str) -> Session:
        now = self._clock()
        if _SECRET.fullmatch(secret) is None:
            raise _over("malformed")
        kept = await key_reads.console_session(self._store, self._hash(secret))
        token = None if kept is None else await reads.token_by_id(self._store, kept.key_id)
        if kept is None or token is None:
            raise _over("unknown")
        principal = make_key_principal(token.id, token.scopes, ProvenBy.CONSOLE)
        until = _until(kept, token, now)
        if token.revoked_at is not None:
            raise _over("revoked", principal)
        if now >= until or not is_operator_scope(token.scopes):
            raise _over("expired", principal)
        return Session(
            principal,
            self,
            secret,
            until,
            operator=operator_name(token.name),
            csrf=hmac.digest(self._forms, secret.encode(), "sha256").hex(),
            expires_at=int(until),
        )

    async def _verify(self, key: str, address: str, now: float) -> tuple[Key, float | None]:
        if self._guesses is not None:
            self._guesses.check(address)
        try:
            row = await reads.token_by_id(self._store, parse_api_key(key))
            return verify_api_key(key, row, self._keys, now)
        except NotAuthenticated as error:
            if self._guesses is not None:
                self._guesses.count_guess(address)
            raise NotAuthenticated(
                "The API key is unknown, revoked or expired. A key of this desk begins"
                " with desk_ and is shown once, when it is created.",
                param="token",
                reason=error.reason,
                whose=error.whose,
            ) from None

    def _used_hash(self, key: str, token: Key) -> bytes:
        """Return the hash of the secret used at sign-in: the present one, or the former."""
        former = token.former
        if former is None or matches_hash(key, token.hash, token.data_key, self._keys):
            return token.hash
        return former.hash

    def _hash(self, secret: str) -> bytes:
        return hmac.digest(self._hash_key, secret.encode(), "sha256")


def _until(kept: ConsoleSession, token: Key, now: float) -> float:
    """Return when a session ends: by itself, with its key, or with the secret used at sign-in."""
    ends = [kept.expires_at, *([] if token.expires_at is None else [token.expires_at])]
    if not hmac.compare_digest(kept.key_hash, token.hash):
        former = token.former_at(now)
        is_former = former is not None and hmac.compare_digest(kept.key_hash, former.hash)
        ends.append(former.until if former is not None and is_former else 0)
    return min(ends)


def _over(reason: CredentialFault, principal: Principal | None = None) -> NotAuthenticated:
    whose = "" if principal is None else principal.id
    return NotAuthenticated(
        "The session has ended or is unknown. Sign in.", reason=reason, whose=whose
    )
