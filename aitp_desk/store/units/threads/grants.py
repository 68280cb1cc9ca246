"""Shares threads, and revokes grants."""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.grant import MAX_GRANTS, Grant
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.errors import GrantNotFound, InvalidRequest, PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_grant
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.receivers import drop_receivers
from aitp_desk.store.units.threads.access import reach_thread
from aitp_desk.store.units.threads.actors import check_known


def share_thread(
    *,
    grant: Grant,
    hash: bytes | None,
    principal: Principal,
    now: int,
    idle_before: int,
    by: Auditor | None = None,
) -> Work[Grant]:
    """Share a thread; an existing grant of the same principal is replaced.

    Parameters:
        hash: keyed hash of a link's secret; None for no link.
        principal: who shares it.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        by: who shares it; None writes no audit entry.

    Returns:
        The grant as stored.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        Forbidden: the thread is another principal's to share.
        PreconditionFailed: it has no owner, or the maximum number of grants.
        InvalidRequest: the grant is for an unknown principal, or for the owner.
    """
    thread_id = grant.thread_id
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.MANAGE, now=now)
    if reached.owner is None:
        raise PreconditionFailed(
            "This thread has no owner, so every caller with its id may use it. Claim it"
            " before you share it.",
            param="thread_id",
        )
    if grant.principal == reached.owner:
        raise InvalidRequest("This caller already owns the thread.", param="principal")
    if hash is None:
        yield from check_known(grant.principal, "principal")
    asked = {"thread_id": thread_id, "principal": grant.principal}
    if before := (yield "granted", asked):
        grant = Grant(
            before[0][0],
            thread_id,
            grant.principal,
            grant.may,
            read_grant(before[0]).created_at,
            grant.expires_at,
        )
        anew = {"id": grant.id, "may": grant.may.value, "expires_at": grant.expires_at}
        yield "set_grant", anew
        yield "raise_access_epoch", {"thread_id": thread_id}
        yield from drop_receivers(thread_id, now)
    else:
        counted = yield "count_grants", {"thread_id": thread_id, "now": now}
        if counted[0][0] >= MAX_GRANTS:
            raise PreconditionFailed(
                f"A thread may have at most {MAX_GRANTS} grants. Revoke one first.",
                param="thread_id",
            )
        yield "delete_expired_grants", {"thread_id": thread_id, "now": now}
        yield (
            "add_grant",
            {
                "id": grant.id,
                "thread_id": thread_id,
                "principal": grant.principal,
                "may": grant.may.value,
                "hash": hash,
                "created_at": grant.created_at,
                "expires_at": grant.expires_at,
            },
        )
    yield from note_audit(by, AuditAction.GRANT_MADE, ObjectKind.GRANT, grant.id)
    return grant


def revoke_grant(
    *,
    thread_id: str,
    grant_id: str,
    principal: Principal,
    now: int,
    idle_before: int,
    by: Auditor | None = None,
) -> Work[None]:
    """Revoke a grant.

    Parameters:
        by: who revokes it; None writes no audit entry.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        Forbidden: the thread is another principal's to share.
        GrantNotFound: it has no such grant.
    """
    yield from reach_thread(thread_id, principal, idle_before, AccessNeed.MANAGE, now=now)
    found = {"thread_id": thread_id, "id": grant_id}
    if not (yield "grant_of_thread", found):
        raise GrantNotFound("This thread has no grant with this id.", param="grant")
    yield "delete_grant", found
    yield "raise_access_epoch", {"thread_id": thread_id}
    yield from drop_receivers(thread_id, now)
    yield from note_audit(by, AuditAction.GRANT_REVOKED, ObjectKind.GRANT, grant_id)
