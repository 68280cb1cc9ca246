"""Whether the credential with which something was asked for was revoked since."""

from __future__ import annotations

from aitp_desk.model.principal import CLIENT_PREFIX, JWT_PREFIX, KEY_PREFIX
from aitp_desk.store import client_reads, reads
from aitp_desk.store.base import Store
from aitp_desk.store.jwt_revocations import is_revoked


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
