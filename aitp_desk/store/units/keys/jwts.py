"""Revokes tokens of other issuers."""

from __future__ import annotations

import msgspec

from aitp_desk.config.sections.access.issuers import LONGEST_LEEWAY, LONGEST_LIFETIME
from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import JWT_PREFIX
from aitp_desk.store.base import Work
from aitp_desk.store.reads.credentials.jwt_revocations import Revocation
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.receivers import drop_receivers_of
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH

MOOT_SECONDS = 2 * (LONGEST_LIFETIME + LONGEST_LEEWAY)
"""After this time every token issued before its revocation has expired, under any configuration."""


def revoke_jwts(*, revocation: Revocation, by: Auditor | None = None) -> Work[None]:
    """Refuse tokens of an issuer from now on; delete revocations whose tokens have expired.

    Parameters:
        by: who revokes them; None writes no audit entry.
    """
    yield "forget_moot_revocations", {"before": revocation.revoked_at - MOOT_SECONDS}
    yield "revoke_jwts", msgspec.structs.asdict(revocation)
    if revocation.claim == "sub":
        yield from drop_receivers_of(f"{JWT_PREFIX}{revocation.issuer}:{revocation.value}")
    yield "raise_epoch", {"name": TOKENS_EPOCH}
    named = f"{revocation.issuer}:{revocation.claim}:{revocation.value}"
    yield from note_audit(by, AuditAction.TOKEN_REVOKED, ObjectKind.TOKEN, named)
