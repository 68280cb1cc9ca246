"""Adds actors to threads and removes them."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.model.access.audit import make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Actor, check_actor
from aitp_desk.store.units.threads.actors import join_thread, leave_thread


class ParticipantService:
    """Adds and removes a thread's participants; each change is durable on return.

    Every method raises Forbidden if the caller's key does not open threads.

    Parameters:
        changed: called with the id of a thread whose participants changed.
    """

    def __init__(self, context: DeskContext, changed: Callable[[str], None]) -> None:
        self._context = context
        self._changed = changed

    async def add_actor(self, principal: Principal, thread_id: str, actor: Actor) -> Actor:
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
        check_scope(principal)
        check_actor(actor, "actor")
        self._context.own_names.check((actor,), "actor")
        now = int(self._context.clock())
        joined = await self._context.store.run(
            join_thread,
            thread_id=thread_id,
            principal=principal,
            actor=actor,
            param="actor",
            now=now,
            idle_before=self._context.idle_before,
            by=make_auditor(self._context.audit, principal, now),
        )
        self._changed(thread_id)
        return joined

    async def remove_actor(self, principal: Principal, thread_id: str, actor_id: str) -> None:
        """Remove an actor from a thread.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            ActorNotFound: no participant has this name.
            Forbidden: the actor is the desk's own, or both it and the thread are other principals'.
        """
        check_scope(principal)
        now = int(self._context.clock())
        await self._context.store.run(
            leave_thread,
            thread_id=thread_id,
            principal=principal,
            actor_id=actor_id,
            now=now,
            idle_before=self._context.idle_before,
            by=make_auditor(self._context.audit, principal, now),
        )
        self._changed(thread_id)
