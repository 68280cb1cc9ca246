"""Stores API keys and HMAC keys. A running desk watches the epoch for changes."""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import KEY_PREFIX
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.keys import Key
from aitp_desk.store.rows.threads import read_token, to_json
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.receivers import drop_receivers_of

TOKENS_EPOCH = "tokens"
"""The row of ``epochs`` that rises with every change of a credential."""


def create_token(*, token: Key, by: Auditor | None = None) -> Work[None]:
    """Insert a new key.

    Parameters:
        by: who makes it; None writes no audit entry.

    Raises:
        PreconditionFailed: an unrevoked key has this name.
    """
    if (yield "live_token_named", {"name": token.name}):
        raise PreconditionFailed(
            f"There is a token named {token.name!r}. Revoke it first or choose another name.",
            param="name",
        )
    yield (
        "add_token",
        {
            "id": token.id,
            "name": token.name,
            "kind": token.kind,
            "version": token.version,
            "data_key": token.data_key,
            "hash": token.hash,
            "scopes": to_json(token.scopes),
            "created_at": token.created_at,
            "expires_at": token.expires_at,
        },
    )
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    yield from note_audit(by, AuditAction.KEY_MADE, ObjectKind.KEY, token.id)


def rotate_token(
    *,
    id: str,
    version: int,
    hash: bytes,
    data_key: int,
    previous_until: int,
    now: int,
    by: Auditor | None = None,
) -> Work[Key]:
    """Give a key a new secret; the present one stays valid for a while.

    Parameters:
        version: the key's, as it was when its new secret was made.
        hash: keyed hash of the new secret; empty of an HMAC key.
        data_key: version of the data key that the new secret is derived from.
        previous_until: Unix seconds until which the present secret stays valid.
        now: Unix seconds.
        by: who rotates it; None writes no audit entry.

    Returns:
        The updated key.

    Raises:
        PreconditionFailed: the key was revoked, has expired, or was changed meanwhile.
    """
    rows = yield "token", {"id": id}
    token = read_token(rows[0]) if rows else None
    if token is None or not token.is_live(now):
        raise PreconditionFailed(f"The token {id} is revoked or has expired; create a new one.")
    if token.version != version:
        raise PreconditionFailed(f"The token {id} has just been rotated by another command.")
    rows = yield (
        "rotate_token",
        {"id": id, "hash": hash, "data_key": data_key, "previous_until": previous_until},
    )
    if previous_until <= now:
        yield from drop_receivers_of(f"{KEY_PREFIX}{id}")
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    yield from note_audit(by, AuditAction.KEY_ROTATED, ObjectKind.KEY, id)
    return read_token(rows[0])


def revoke_token(*, id_or_name: str, now: int, by: Auditor | None = None) -> Work[Key | None]:
    """Revoke the key with this id or, if there is none, of this name.

    Parameters:
        by: who revokes it; None writes no audit entry.

    Returns:
        The updated key; None if there is no such unrevoked key.
    """
    rows = yield "live_token", {"id_or_name": id_or_name}
    if not rows:
        return None
    rows = yield "revoke_token", {"id": rows[0][0], "revoked_at": now}
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    revoked = read_token(rows[0])
    yield from drop_receivers_of(f"{KEY_PREFIX}{revoked.id}")
    yield from note_audit(by, AuditAction.KEY_REVOKED, ObjectKind.KEY, revoked.id)
    return revoked


def note_token_use(*, id: str, used_at: int) -> Work[None]:
    """Store when a key was last used.

    A running desk need not reload for that.
    """
    yield "note_token_use", {"id": id, "used_at": used_at}
