"""The end of tokens that others have issued."""

from __future__ import annotations

import msgspec

from aitp_desk.model.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.store.base import Work
from aitp_desk.store.jwt_revocations import Revocation
from aitp_desk.store.work.audit import note_audit
from aitp_desk.store.work.tokens import TOKENS_EPOCH


def revoke_jwts(*, revocation: Revocation, by: Auditor | None = None) -> Work[None]:
    """Refuse tokens of an issuer from now on.

    Parameters:
        by: who revokes them; None notes nothing in the audit log.
    """
    yield "revoke_jwts", msgspec.structs.asdict(revocation)
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    named = f"{revocation.issuer}:{revocation.claim}:{revocation.value}"
    yield from note_audit(by, AuditAction.TOKEN_REVOKED, ObjectKind.TOKEN, named)
