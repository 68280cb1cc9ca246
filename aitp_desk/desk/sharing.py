"""Whose a thread is: claims."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.following import Following
from aitp_desk.desk.sessions import Sessions
from aitp_desk.model.principal import Principal
from aitp_desk.store.base import Store
from aitp_desk.store.work.claiming import claim_thread


class Sharing:
    """Says whose threads are; that is durable when it returns.

    Parameters:
        sessions: where conversations are remembered that lie on threads.
    """

    def __init__(
        self,
        *,
        store: Store,
        following: Following,
        sessions: Sessions,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._following = following
        self._sessions = sessions
        self._clock = clock

    async def claim(self, principal: Principal, thread_id: str, idle_before: int) -> None:
        """Make an anonymous thread the caller's; see ``store.work.claiming.claim_thread``.

        Raises:
            NotAuthenticated: the caller has no credential.
            ThreadNotFound: there is none, it is closed, or it is somebody else's.
            Forbidden: the caller may know the thread, but it has an owner, or the caller has left.
        """
        changed = await self._store.run(
            claim_thread,
            thread_id=thread_id,
            principal=principal,
            now=int(self._clock()),
            idle_before=idle_before,
        )
        if changed:
            self._sessions.forget_thread(thread_id)  # the next turn reads back whose they are
            self._following.changed(thread_id)
