"""Checks whether an earlier request's credential is still valid or was revoked."""

from __future__ import annotations

from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.model.access.principal import CLIENT_PREFIX, JWT_PREFIX, KEY_PREFIX
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import clients as client_reads
from aitp_desk.store.reads.credentials.jwt_revocations import is_revoked


async def was_revoked(store: Store, principal_id: str, asked_at: int) -> bool:
    """Return whether a principal's credential was revoked; one that has only expired was not.

    Parameters:
        principal_id: of the request's caller.
        asked_at: Unix seconds; for tokens of other issuers, of which nothing else is known here.

    Raises:
        StoreError: the store does not answer.
    """
    if principal_id.startswith(KEY_PREFIX):
        key = await reads.token_by_id(store, principal_id.removeprefix(KEY_PREFIX))
        return key is None or key.revoked_at is not None
    if principal_id.startswith(CLIENT_PREFIX):
        client = await client_reads.client(store, principal_id.removeprefix(CLIENT_PREFIX))
        return client is None or client.revoked_at is not None
    if principal_id.startswith(JWT_PREFIX):
        issuer, _, subject = principal_id.removeprefix(JWT_PREFIX).partition(":")
        return await is_revoked(
            store, issuer, token_id=None, subject=subject, issued_at=asked_at, leeway=0
        )
    return False


async def is_still_valid(
    store: Store,
    principal_id: str,
    asked_at: int,
    now: float,
    mark: CredentialMark = UNMARKED,
) -> bool:
    """Return whether a subscriber may still be notified: its credential is still the same.

    An expired key or client is no longer valid. Neither is a key's secret that was replaced.
    An expired token was not revoked: its caller gets the next one.

    Parameters:
        principal_id: of the subscriber.
        asked_at, now: Unix seconds.
        mark: of the credential; without one, a key's secret counts if it was made before
            ``asked_at``.

    Raises:
        StoreError: the store does not answer.
    """
    if principal_id.startswith(KEY_PREFIX):
        key = await reads.token_by_id(store, principal_id.removeprefix(KEY_PREFIX))
        if key is None or not key.is_live(now):
            return False
        if mark.version is None:
            former = key.former
            return former is None or now < former.until or asked_at > former.until
        is_former = mark.version == key.version - 1 and key.former_at(now) is not None
        return is_former or mark.version == key.version
    if principal_id.startswith(CLIENT_PREFIX):
        client = await client_reads.client(store, principal_id.removeprefix(CLIENT_PREFIX))
        return client is not None and client.is_live(now)
    if principal_id.startswith(JWT_PREFIX):
        issuer, _, subject = principal_id.removeprefix(JWT_PREFIX).partition(":")
        return not await is_revoked(
            store,
            issuer,
            token_id=mark.token_id,
            subject=subject,
            issued_at=asked_at if mark.issued_at is None else mark.issued_at,
            leeway=0,
        )
    return True
