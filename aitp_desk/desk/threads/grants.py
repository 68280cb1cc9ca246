"""Thread ownership and sharing: claims and grants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_participation, check_scope
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.model.access.audit import make_auditor
from aitp_desk.model.access.grant import Grant, GrantDraft, make_link_secret
from aitp_desk.model.access.principal import LINK_PREFIX, Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.ids import new_id
from aitp_desk.store.reads.credentials import grants as grant_reads
from aitp_desk.store.units.threads.claims import claim_thread
from aitp_desk.store.units.threads.grants import revoke_grant, share_thread


class GrantService:
    """Claims threads and manages their grants; each change is durable on return.

    Every method raises ThreadNotFound if the thread does not exist, is closed, or is not the
    caller's, and Forbidden if the caller may see the thread but not do this with it, or if its key
    does not open threads.

    Parameters:
        sessions: the session cache, whose copies are evicted.
        hash_link: hashes the secret of a link for storage.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        reader: ThreadReader,
        events: Broadcaster,
        sessions: SessionService,
        hash_link: Callable[[str], bytes],
    ) -> None:
        self._context = context
        self._store = context.store
        self._reader = reader
        self._events = events
        self._sessions = sessions
        self._hash_link = hash_link
        self._clock = context.clock

    async def claim_thread(self, principal: Principal, thread_id: str) -> None:
        """Make an anonymous thread the caller's; see :func:`.claims.claim_thread`.

        Raises:
            NotAuthenticated: the caller has no credential.
        """
        check_participation(principal)
        now = int(self._clock())
        changed = await self._store.run(
            claim_thread,
            thread_id=thread_id,
            principal=principal,
            now=now,
            idle_before=self._context.idle_before,
            by=make_auditor(self._context.audit, principal, now),
        )
        if changed:
            self._sessions.evict_thread(thread_id)  # the next turn reloads the owner
            self._events.notify_change(thread_id)

    async def share_thread(
        self, principal: Principal, thread_id: str, draft: GrantDraft
    ) -> tuple[Grant, str | None]:
        """Share a thread; see :func:`aitp_desk.store.units.threads.grants.share_thread`.

        Returns:
            The grant, and the secret of a link, which is returned only here.

        Raises:
            PreconditionFailed: the thread has no owner, or has the maximum number of grants.
            InvalidRequest: the grantee is unknown or is the owner, or the grant would end at once.
        """
        check_scope(principal)
        now = self._clock()
        grant_id = new_id("grant", now)
        link = make_link_secret() if draft.principal is None else None
        grant = Grant(
            grant_id,
            thread_id,
            draft.principal or f"{LINK_PREFIX}{grant_id}",
            draft.may,
            int(now),
            draft.end(int(now)),
        )
        kept = await self._store.run(
            share_thread,
            grant=grant,
            hash=None if link is None else self._hash_link(link),
            principal=principal,
            now=int(now),
            idle_before=self._context.idle_before,
            by=make_auditor(self._context.audit, principal, int(now)),
        )
        self._events.recheck_access(thread_id)
        return kept, link

    async def list_grants(self, principal: Principal, thread_id: str) -> Sequence[Grant]:
        """Return the valid grants of a thread, newest first."""
        check_scope(principal)
        access = await self._reader.get_access(principal, thread_id)
        access.check(AccessNeed.MANAGE)
        return await grant_reads.list_thread_grants(self._store, thread_id, now=int(self._clock()))

    async def revoke_grant(self, principal: Principal, thread_id: str, grant_id: str) -> None:
        """Revoke a grant and end the streams that depend on it.

        Raises:
            GrantNotFound: the thread has no such grant.
        """
        check_scope(principal)
        now = int(self._clock())
        await self._store.run(
            revoke_grant,
            thread_id=thread_id,
            grant_id=grant_id,
            principal=principal,
            now=now,
            idle_before=self._context.idle_before,
            by=make_auditor(self._context.audit, principal, now),
        )
        self._events.recheck_access(thread_id)
