"""Deletes threads and messages, and updates message metadata."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.model.access.audit import make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Message, check_metadata
from aitp_desk.store.units.threads.deletion import (
    delete_exchange,
    delete_message,
    delete_thread,
    find_rights,
    set_message_metadata,
)


class ThreadDeletion:
    """Deletes threads and messages within the caller's rights.

    Every method raises Forbidden if the caller's key does not open threads.

    Parameters:
        sessions: the session cache, whose copies are evicted.
        stop: stops the work on a run, given its id.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        reader: ThreadReader,
        events: Broadcaster,
        sessions: SessionService,
        stop: Callable[[str], None],
    ) -> None:
        self._context = context
        self._reader = reader
        self._store = context.store
        self._events = events
        self._sessions = sessions
        self._clock = context.clock
        self._stop = stop

    async def update_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        actor: str | None,
        metadata: dict[str, str],
    ) -> Message:
        """Replace the metadata of a message that the caller wrote.

        Parameters:
            actor: the message's speaker, if the caller repeats it.

        Raises:
            ThreadNotFound, MessageNotFound: it does not exist, or the caller has no access.
            Forbidden: another actor wrote the message.
            InvalidRequest: the metadata breaks a limit, or names another speaker.
        """
        check_scope(principal)
        check_metadata(metadata)
        updated = await self._store.run(
            set_message_metadata,
            thread_id=thread_id,
            principal=principal,
            message_id=message_id,
            actor=actor,
            metadata=metadata,
            now=int(self._clock()),
            idle_before=self._context.idle_before,
        )
        (told,) = await self._reader.renderer.render_messages(principal, thread_id, (updated,))
        return told

    async def find_rights(
        self, principal: Principal, thread_id: str, message_id: str
    ) -> tuple[bool, bool]:
        """Return whether the caller may update the message's metadata, and may delete it.

        Raises:
            ThreadNotFound, MessageNotFound: it does not exist, or the caller has no access.
            Forbidden: the caller may not write to the thread.
        """
        check_scope(principal)
        return await self._store.run(
            find_rights,
            thread_id=thread_id,
            principal=principal,
            message_id=message_id,
            now=int(self._clock()),
            idle_before=self._context.idle_before,
        )

    async def delete_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        *,
        with_replies: bool = False,
    ) -> tuple[str, ...]:
        """Erase a message's content and, if requested, the desk's replies to it.

        Returns:
            The ids of those replies, deleted or not.

        Raises:
            ThreadNotFound, MessageNotFound: it does not exist, or the caller has no access.
            Forbidden: another principal wrote it, on a thread that is not the caller's; or only the
                thread's owner may delete the replies.
        """
        check_scope(principal)
        replies = await self._store.run(
            delete_message,
            thread_id=thread_id,
            principal=principal,
            message_id=message_id,
            now=int(self._clock()),
            idle_before=self._context.idle_before,
            with_replies=with_replies,
        )
        self._sessions.evict_thread(thread_id)  # the next turn reloads it without the message
        self._events.notify_change(thread_id)
        return replies

    async def delete_exchange(self, principal: Principal, run: Run) -> None:
        """Erase what a run was asked and its replies; the rest of the thread stays.

        Raises:
            ThreadNotFound: it does not exist, or the caller has no access.
            Forbidden: it belongs to another principal.
        """
        check_scope(principal)
        await self._store.run(
            delete_exchange,
            thread_id=run.thread_id,
            principal=principal,
            run_id=run.id,
            now=int(self._clock()),
            idle_before=self._context.idle_before,
        )
        self._sessions.evict_thread(run.thread_id)
        self._events.notify_change(run.thread_id)

    async def delete_thread(self, principal: Principal, thread_id: str) -> None:
        """Erase all content of a thread, close it permanently, and end its runs.

        Raises:
            ThreadNotFound: it does not exist, or the caller has no access.
            Forbidden: it belongs to another principal.
        """
        check_scope(principal)
        now = int(self._clock())
        ended = await self._store.run(
            delete_thread,
            thread_id=thread_id,
            principal=principal,
            now=now,
            idle_before=self._context.idle_before,
            by=make_auditor(self._context.audit, principal, now),
        )
        self._sessions.evict_thread(thread_id)
        for run_id in ended:
            self._stop(run_id)
            self._events.notify_end(run_id)
        self._events.notify_change(thread_id)
