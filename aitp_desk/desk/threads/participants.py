"""Adds actors to threads and removes them."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.model.access.audit import AuditKeys, make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Actor, check_actor
from aitp_desk.store.base import Store
from aitp_desk.store.units.threads.actors import join_thread, leave_thread


class ParticipantService:
    """Adds and removes a thread's participants; each change is durable on return.

    Parameters:
        changed: called with the id of a thread whose participants changed.
        own_names: names reserved for the site's agents.
        audit: the keys of the audit log.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        changed: Callable[[str], None],
        own_names: OwnNames,
        audit: AuditKeys,
    ) -> None:
        self._store = store
        self._clock = clock
        self._changed = changed
        self._own_names = own_names
        self._audit = audit

    async def add_actor(
        self, principal: Principal, thread_id: str, actor: Actor, idle_before: int
    ) -> Actor:
        """Add an actor to a thread.

        See :func:`aitp_desk.store.units.threads.actors.join_thread`.

        Returns:
            The actor as it now takes part.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            Forbidden: the caller may not add this actor, or the name is another principal's.
            InvalidRequest: the actor breaks a limit, is bound to an unknown principal, or the
                thread is full.
        """
        check_actor(actor, "actor")
        self._own_names.check((actor,), "actor")
        now = int(self._clock())
        joined = await self._store.run(
            join_thread,
            thread_id=thread_id,
            principal=principal,
            actor=actor,
            param="actor",
            now=now,
            idle_before=idle_before,
            by=make_auditor(self._audit, principal, now),
        )
        self._changed(thread_id)
        return joined

    async def remove_actor(
        self, principal: Principal, thread_id: str, actor_id: str, idle_before: int
    ) -> None:
        """Remove an actor from a thread.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            ActorNotFound: no participant has this name.
            Forbidden: the actor is the desk's own, or both it and the thread are other principals'.
        """
        now = int(self._clock())
        await self._store.run(
            leave_thread,
            thread_id=thread_id,
            principal=principal,
            actor_id=actor_id,
            now=now,
            idle_before=idle_before,
            by=make_auditor(self._audit, principal, now),
        )
        self._changed(thread_id)
