"""Deleting threads and messages, and changing the notes on a message."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.model.access.audit import AuditKeys, make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Message, check_metadata
from aitp_desk.store.base import Store
from aitp_desk.store.units.threads.deletion import (
    delete_message,
    delete_thread,
    find_rights,
    set_message_metadata,
)


class ThreadDeletion:
    """Takes back what was said, within what the caller may.

    Parameters:
        sessions: where conversations are remembered that lie on threads.
        audit: the keys of the audit log.
        stop: ends the work on a run.
    """

    def __init__(
        self,
        *,
        store: Store,
        following: Broadcaster,
        sessions: SessionService,
        audit: AuditKeys,
        clock: Callable[[], float],
        stop: Callable[[str], None],
    ) -> None:
        self._store = store
        self._following = following
        self._sessions = sessions
        self._audit = audit
        self._clock = clock
        self._stop = stop

    async def update_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        actor: str | None,
        metadata: dict[str, str],
        idle_before: int,
    ) -> Message:
        """Replace the metadata of a message.

        Parameters:
            actor: who spoke, where the caller repeats it.

        Raises:
            ThreadNotFound, MessageNotFound: it is not there, or not for this caller.
            Forbidden: somebody else said it.
            InvalidRequest: the metadata breaks a limit, or names another speaker.
        """
        check_metadata(metadata)
        return await self._store.run(
            set_message_metadata,
            thread_id=thread_id,
            principal=principal,
            message_id=message_id,
            actor=actor,
            metadata=metadata,
            now=int(self._clock()),
            idle_before=idle_before,
        )

    async def find_rights(
        self, principal: Principal, thread_id: str, message_id: str, idle_before: int
    ) -> tuple[bool, bool]:
        """Whether a caller may change what is noted of a message, and whether it may delete it.

        Raises:
            ThreadNotFound, MessageNotFound: it is not there, or not for this caller.
            Forbidden: the caller may not write to the thread.
        """
        return await self._store.run(
            find_rights,
            thread_id=thread_id,
            principal=principal,
            message_id=message_id,
            now=int(self._clock()),
            idle_before=idle_before,
        )

    async def delete_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        idle_before: int,
        *,
        with_replies: bool,
    ) -> tuple[str, ...]:
        """Drop what a message said, and the desk's replies to it where that is asked.

        Returns:
            The ids of those replies, dropped or not.

        Raises:
            ThreadNotFound, MessageNotFound: it is not there, or not for this caller.
            Forbidden: somebody else said it, on a thread that is not the caller's; or the replies
                are for the thread's owner to delete.
        """
        replies = await self._store.run(
            delete_message,
            thread_id=thread_id,
            principal=principal,
            message_id=message_id,
            now=int(self._clock()),
            idle_before=idle_before,
            with_replies=with_replies,
        )
        self._sessions.evict_thread(thread_id)  # the next turn reads it back without the message
        self._following.notify_change(thread_id)
        return replies

    async def delete_thread(self, principal: Principal, thread_id: str, idle_before: int) -> None:
        """Drop everything said on a thread and close it for good; its runs end.

        Raises:
            ThreadNotFound: it is not there, or not for this caller.
            Forbidden: it is somebody else's.
        """
        now = int(self._clock())
        ended = await self._store.run(
            delete_thread,
            thread_id=thread_id,
            principal=principal,
            now=now,
            idle_before=idle_before,
            by=make_auditor(self._audit, principal, now),
        )
        self._sessions.evict_thread(thread_id)
        for run_id in ended:
            self._stop(run_id)
            self._following.notify_end(run_id)
        self._following.notify_change(thread_id)
