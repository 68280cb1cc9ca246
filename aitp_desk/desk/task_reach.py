"""Which tasks, and which conversations, a caller may know of, go on with, or change."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.reading import Reading
from aitp_desk.desk.sessions import Sessions
from aitp_desk.model.access import Need
from aitp_desk.model.errors import InvalidRequest, TaskNotFound, ThreadNotFound, UnknownSession
from aitp_desk.model.principal import Principal
from aitp_desk.store import task_reads
from aitp_desk.store.base import Store
from aitp_desk.store.task_records import KeptTask

NO_CONTEXT = "There is no such context of yours; leave contextId out to begin one."


class TaskReach:
    """Finds tasks and the threads of contexts for a caller.

    Parameters:
        desk: name of the further site agent; empty for the site's own.
        idle_before: Unix seconds: an anonymous thread last used before then is closed.
    """

    def __init__(
        self,
        *,
        desk: str,
        store: Store,
        reading: Reading,
        sessions: Sessions,
        idle_before: Callable[[], int],
    ) -> None:
        self._desk = desk
        self._store = store
        self._reading = reading
        self._sessions = sessions
        self._idle_before = idle_before

    async def task(self, principal: Principal, task_id: str, param: str = "id") -> KeptTask:
        """A task whose thread the caller may read, all of it.

        Parameters:
            param: where the caller named it.

        Raises:
            TaskNotFound: there is none.
        """
        kept = await task_reads.task(self._store, task_id, self._desk)
        try:
            if kept is not None:
                access = await self._reading.access(principal, kept.thread_id, self._idle_before())
                if access.upto_seq is None:
                    return kept
        except ThreadNotFound:
            pass
        raise TaskNotFound("There is no such task of yours.", param=param)

    async def thread_of(self, principal: Principal, context: str, need: Need) -> str:
        """The thread of a conversation of the caller's, by the id of the conversation.

        Raises:
            InvalidRequest: there is none.
            Forbidden: the caller may know it, and no more.
        """
        known = await task_reads.thread_of_context(self._store, context, self._desk)
        try:
            thread_id = known or await self._sessions.thread_of(principal, context)
        except UnknownSession:
            raise InvalidRequest(NO_CONTEXT, param="message.contextId") from None
        await self.check(principal, thread_id, need)
        return thread_id

    async def thread_to_list(self, principal: Principal, context: str) -> str | None:
        """The thread of a conversation that the caller may read; None where there is none."""
        try:
            return await self.thread_of(principal, context, Need.READ)
        except InvalidRequest:
            return None

    async def check(self, principal: Principal, thread_id: str, need: Need) -> None:
        """Refuse whoever may do less with a thread.

        Raises:
            InvalidRequest: there is no such thread for this caller.
            Forbidden: the caller may know it, and no more.
        """
        try:
            access = await self._reading.access(principal, thread_id, self._idle_before())
        except ThreadNotFound:
            raise InvalidRequest(NO_CONTEXT, param="message.contextId") from None
        access.check(need)
