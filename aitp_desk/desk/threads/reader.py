"""Reads threads within the caller's access."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.desk.threads.child_threads import (
    ChildThread,
    FindPartner,
    read_children,
    split_child_id,
)
from aitp_desk.model.access.principal import Principal, may_operate_threads
from aitp_desk.model.access.rule import Access, may_know_parent
from aitp_desk.model.conversation.feedback import RatingCount
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Message, Thread
from aitp_desk.model.errors import MessageNotFound, ThreadNotFound
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import Page, PageRequest
from aitp_desk.store.records.threads import StoredThread

NEWEST = 100
"""How many of its newest messages a thread is returned with."""


class ThreadView(msgspec.Struct, frozen=True):
    """A thread with its newest messages, oldest first.

    Parameters:
        ratings: of messages that were rated, by their ids.
    """

    thread: Thread
    messages: tuple[Message, ...]
    ratings: Mapping[str, RatingCount] = {}


class ThreadReader:
    """Reads threads and their messages.

    Parameters:
        visited: records in the audit log that an operator reads a thread.
        find_partner: finds which partner a call has asked.

    Attributes:
        renderer: renders messages for the caller.
    """

    def __init__(
        self,
        context: DeskContext,
        events: Broadcaster,
        renderer: PlainTextRenderer,
        visited: Callable[[Principal, str], Awaitable[None]],
        find_partner: FindPartner,
    ) -> None:
        self.renderer = renderer
        self._context = context
        self._store = context.store
        self._events = events
        self._visited = visited
        self._find_partner = find_partner

    async def get_access(self, principal: Principal, thread_id: str) -> Access:
        """Return what a caller may do with a thread, and read of it.

        An operator's access is recorded in the audit log first, in every protocol.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
        """
        access = await self._look_up(principal, thread_id)
        if access is None:
            raise ThreadNotFound("There is no thread with this id.", param="thread_id")
        if may_operate_threads(principal):
            await self._visited(principal, thread_id)
        return access

    async def find_thread(
        self, principal: Principal, thread_id: str
    ) -> tuple[StoredThread, Access]:
        """Return a thread, read before its access was checked, and the caller's access.

        Raises:
            ThreadNotFound: as :meth:`get_access`.
        """
        kept = await reads.thread(self._store, thread_id)
        access = await self.get_access(principal, thread_id)
        if kept is None:
            raise ThreadNotFound("There is no thread with this id.", param="thread_id")
        return kept, access

    async def describe_thread(self, principal: Principal, thread_id: str) -> tuple[Thread, Access]:
        """Return a thread without its messages, and what the caller may do with it.

        Raises:
            ThreadNotFound, Forbidden: as :meth:`read_thread`.
        """
        check_scope(principal)
        kept, access = await self.find_thread(principal, thread_id)
        return kept.thread, access

    async def find_last_used(
        self, principal: Principal, note: tuple[str, str]
    ) -> tuple[str, int] | None:
        """Return the thread that a known caller used last, of those with a note.

        Parameters:
            note: a name and its value in the thread's metadata.

        Returns:
            Its id, and the number of its newest event; None without one.

        Raises:
            Forbidden: the caller's key does not open threads.
        """
        check_scope(principal)
        if principal.owner is None:
            return None
        return await reads.newest_of_owner(self._store, principal.owner, principal.desk, note)

    async def read_thread(self, principal: Principal, thread_id: str) -> ThreadView:
        """Return a thread with its newest messages.

        A caller that has left sees the participants of that time, and none of the thread's
        metadata, which may have changed since. A caller with a link sees no metadata either.

        Raises:
            ThreadNotFound: as :meth:`get_access`.
            Forbidden: the caller's key does not open threads.
        """
        check_scope(principal)
        if split_child_id(thread_id)[1]:
            child = await self._read_child(principal, thread_id)
            return ThreadView(child.thread, child.messages[-NEWEST:])
        kept, access = await self.find_thread(principal, thread_id)
        thread = kept.thread
        if access.upto_event is not None:
            actors = await reads.read_actors(self._store, thread_id, access.upto_event)
            thread = msgspec.structs.replace(thread, actors=actors)
        if not access.sees_notes:
            thread = msgspec.structs.replace(thread, metadata={})
        if not await self._may_know_parent(principal, kept):
            thread = msgspec.structs.replace(thread, parent_id=None)
        messages = await reads.newest_messages(
            self._store, thread_id, NEWEST, upto_seq=access.upto_seq
        )
        return ThreadView(
            thread,
            await self.renderer.render_messages(principal, thread_id, messages),
            await reads.list_ratings(self._store, thread_id),
        )

    async def list_children(self, principal: Principal, thread_id: str) -> tuple[ThreadView, ...]:
        """Return a thread's child threads: what partner sites were asked on it.

        Raises:
            ThreadNotFound, Forbidden: as :meth:`read_thread`.
        """
        found = await self._read_children(principal, thread_id)
        return tuple(ThreadView(one.thread, one.messages[-NEWEST:]) for one in found)

    async def _read_children(self, principal: Principal, thread_id: str) -> tuple[ChildThread, ...]:
        check_scope(principal)
        kept, access = await self.find_thread(principal, thread_id)
        return await read_children(
            self._store, kept.thread, self._find_partner, upto_seq=access.upto_seq
        )

    async def _read_child(self, principal: Principal, thread_id: str) -> ChildThread:
        """Return a child thread.

        Raises:
            ThreadNotFound: as :meth:`read_thread` of its parent; or its partner was asked nothing.
        """
        for one in await self._read_children(principal, split_child_id(thread_id)[0]):
            if one.thread.id == thread_id:
                return one
        raise ThreadNotFound("There is no thread with this id.", param="thread_id")

    async def list_messages(
        self,
        principal: Principal,
        thread_id: str,
        part: PageRequest,
        run_id: str | None,
    ) -> Page[Message]:
        """Return one page of a thread's messages.

        Raises:
            ThreadNotFound, Forbidden: as :meth:`read_thread`.
            InvalidRequest: ``after`` or ``before`` names no message of this thread.
        """
        check_scope(principal)
        if split_child_id(thread_id)[1]:
            child = await self._read_child(principal, thread_id)
            return part.cut(child.messages, "a message of this thread")
        access = await self.get_access(principal, thread_id)
        page = await reads.messages(
            self._store, thread_id, part, run_id=run_id, upto_seq=access.upto_seq
        )
        told = await self.renderer.render_messages(principal, thread_id, page.items)
        return Page(told, page.has_more)

    async def read_message(self, principal: Principal, thread_id: str, message_id: str) -> Message:
        """Return one message of a thread.

        Raises:
            ThreadNotFound, Forbidden: as :meth:`read_thread`.
            MessageNotFound: the thread has no such message, or it was deleted.
        """
        check_scope(principal)
        if split_child_id(thread_id)[1]:
            for one in (await self._read_child(principal, thread_id)).messages:
                if one.id == message_id:
                    return one
            raise MessageNotFound("There is no such message on this thread.", param="message_id")
        access = await self.get_access(principal, thread_id)
        found = await reads.message(self._store, thread_id, message_id)
        if found is None or not access.shows(found.seq):
            raise MessageNotFound("There is no such message on this thread.", param="message_id")
        (told,) = await self.renderer.render_messages(principal, thread_id, (found,))
        return told

    async def find_queue_event(self, run: Run) -> int:
        """Return the number of the event that last queued a run."""
        return await reads.run_queued_at(self._store, run.thread_id, run.id)

    async def wait_for_run(
        self, principal: Principal, run_id: str, seconds: float
    ) -> tuple[Run | None, tuple[Message, ...]]:
        """Wait up to ``seconds`` until a run ends or waits for its caller.

        Returns:
            The run in its state then, and its replies that the caller may still read. Before the
                run's end there are no replies.
        """
        with self._events.watch_run(run_id) as end:
            run = await reads.run(self._store, run_id)
            if run is not None and not (run.is_over or run.state is RunState.REQUIRES_ACTION):
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await end.wait()
                run = await reads.run(self._store, run_id)
        if run is None or not run.is_over:
            return run, ()
        replies = await reads.replies(self._store, run_id)
        return run, await self.filter_readable(principal, run.thread_id, replies)

    async def read_input(self, principal: Principal, run: Run) -> tuple[Message, ...]:
        """Return the messages of a run's request that the caller may read."""
        given = await reads.run_input(self._store, run)
        return await self.filter_readable(principal, run.thread_id, given)

    async def filter_readable(
        self, principal: Principal, thread_id: str, replies: Sequence[Message]
    ) -> tuple[Message, ...]:
        """Return the messages that the caller may still read, rendered for it."""
        access = await self._look_up(principal, thread_id)
        shown = [reply for reply in replies if access and access.shows(reply.seq)]
        return await self.renderer.render_messages(principal, thread_id, shown)

    async def _look_up(self, principal: Principal, thread_id: str) -> Access | None:
        context = self._context
        return await reads.access(
            self._store, thread_id, principal, context.idle_before, now=int(context.clock())
        )

    async def _may_know_parent(self, principal: Principal, fork: StoredThread) -> bool:
        parent_id, owner = fork.thread.parent_id, fork.thread.owner
        if parent_id is None:
            return True
        if await self._look_up(principal, parent_id) is None:
            return False
        parent = await reads.thread(self._store, parent_id)
        return parent is not None and may_know_parent(
            principal, owner, parent.thread.owner, is_claimed=fork.is_claimed
        )
