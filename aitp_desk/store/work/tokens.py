"""API keys. The command line changes them beside a running desk, which watches the epoch."""

from __future__ import annotations

from aitp_desk.model.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records import Token
from aitp_desk.store.rows import to_json, token_of
from aitp_desk.store.work.audit import note_audit

TOKENS_EPOCH = "tokens"
"""The row of ``epochs`` that rises with every revocation."""


def create_token(*, token: Token, by: Auditor | None = None) -> Work[None]:
    """Keep a new API key.

    Parameters:
        by: who makes it; None notes nothing in the audit log.

    Raises:
        PreconditionFailed: a live key has this name.
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
            "hash": token.hash,
            "scopes": to_json(token.scopes),
            "created_at": token.created_at,
        },
    )
    yield from note_audit(by, AuditAction.KEY_MADE, ObjectKind.KEY, token.id)


def revoke_token(*, id_or_name: str, now: int, by: Auditor | None = None) -> Work[Token | None]:
    """Revoke the live API key with this id or, if there is none, of this name.

    Parameters:
        by: who revokes it; None notes nothing in the audit log.

    Returns:
        The key as it is kept now; None when there is no such live key.
    """
    rows = yield "live_token", {"id_or_name": id_or_name}
    if not rows:
        return None
    rows = yield "revoke_token", {"id": rows[0][0], "revoked_at": now}
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    revoked = token_of(rows[0])
    yield from note_audit(by, AuditAction.KEY_REVOKED, ObjectKind.KEY, revoked.id)
    return revoked
