"""Who takes part in a thread: actors join and leave."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.model.access.audit import AuditKeys, make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Actor, check_actor
from aitp_desk.store.base import Store
from aitp_desk.store.units.threads.actors import join_thread, leave_thread


class ParticipantService:
    """Has actors join and leave; that is durable when it returns.

    Parameters:
        changed: told the thread on which somebody has joined or left.
        own_names: what nobody is called but the site's agents.
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
        """Have an actor join a thread.

        See :func:`aitp_desk.store.units.threads.actors.join_thread`.

        Returns:
            The actor as it takes part now.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
            Forbidden: the caller may not bring this actor, or the name is somebody else's.
            InvalidRequest: the actor breaks a limit, is bound to nobody known, or the thread is
                full.
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
        """Have an actor leave a thread.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
            ActorNotFound: nobody of this name takes part.
            Forbidden: the actor is the desk's own, or somebody else's on somebody else's thread.
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
