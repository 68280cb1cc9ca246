"""Whether the credential with which something was asked for still holds, or was revoked since."""

from __future__ import annotations

from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.model.access.principal import CLIENT_PREFIX, JWT_PREFIX, KEY_PREFIX
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import clients as client_reads
from aitp_desk.store.reads.credentials.jwt_revocations import is_revoked


async def was_revoked(store: Store, principal_id: str, asked_at: int) -> bool:
    """Whether somebody's credential was revoked; one that has only ended was not.

    Parameters:
        principal_id: of who asked.
        asked_at: Unix seconds; with a token of another issuer, which tells nothing of itself here.

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
    """Whether who asked to be told of something may still be: the credential is that of then.

    A key or client that has expired does not hold any more, nor does a key's secret that another
    has replaced. A token that has only ended was not revoked: its caller gets the next one.

    Parameters:
        principal_id: of who asked.
        asked_at, now: Unix seconds.
        mark: of the credential; without one, a key's secret holds that was made until then.

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
