"""Reading threads, within what the caller may know."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import msgspec

from aitp_desk.desk.following import Following
from aitp_desk.model.access import may_know_parent
from aitp_desk.model.errors import MessageNotFound, ThreadNotFound
from aitp_desk.model.principal import Principal, may_read_thread
from aitp_desk.model.run import Run
from aitp_desk.model.thread import Message, Thread
from aitp_desk.store import reads
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.records import KeptThread, Order, Page
from aitp_desk.store.work.tokens import TOKENS_EPOCH

NEWEST = 100
"""How many of its messages a thread is shown with."""


class ThreadView(msgspec.Struct, frozen=True):
    """A thread with its newest messages, oldest of them first."""

    thread: Thread
    messages: tuple[Message, ...]


class Reading:
    """Reads what is on a thread."""

    def __init__(self, store: Store, following: Following) -> None:
        self._store = store
        self._following = following

    async def thread(self, principal: Principal, thread_id: str, idle_before: int) -> Thread:
        """Find a thread that the caller may read.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
        """
        return (await self.reach(principal, thread_id, idle_before)).thread

    async def reach(self, principal: Principal, thread_id: str, idle_before: int) -> KeptThread:
        """Find a thread that the caller may read, with where it ends now.

        Raises:
            ThreadNotFound: as :meth:`thread`.
        """
        kept = await reads.thread(self._store, thread_id)
        if kept is not None:
            owner = kept.thread.owner
            closed = owner is None and kept.updated_at < idle_before
            if not closed and may_read_thread(principal, owner):
                return kept
        raise ThreadNotFound("There is no thread with this id.", param="thread_id")

    async def view(self, principal: Principal, thread_id: str, idle_before: int) -> ThreadView:
        """A thread with its newest messages.

        Raises:
            ThreadNotFound: as :meth:`thread`.
        """
        thread = await self.thread(principal, thread_id, idle_before)
        if not await self._may_know_parent(principal, thread, idle_before):
            thread = msgspec.structs.replace(thread, parent_id=None)
        return ThreadView(thread, await reads.newest_messages(self._store, thread_id, NEWEST))

    async def messages(
        self,
        principal: Principal,
        thread_id: str,
        idle_before: int,
        *,
        limit: int,
        order: Order,
        after: str | None,
        before: str | None,
        run_id: str | None,
    ) -> Page:
        """One page of a thread's messages.

        Raises:
            ThreadNotFound: as :meth:`thread`.
            InvalidRequest: ``after`` or ``before`` names no message of this thread.
        """
        await self.thread(principal, thread_id, idle_before)
        return await reads.messages(
            self._store,
            thread_id,
            limit=limit,
            order=order,
            after=after,
            before=before,
            run_id=run_id,
        )

    async def message(
        self, principal: Principal, thread_id: str, message_id: str, idle_before: int
    ) -> Message:
        """One message of a thread.

        Raises:
            ThreadNotFound: as :meth:`thread`.
            MessageNotFound: the thread has no such message, or it was deleted.
        """
        await self.thread(principal, thread_id, idle_before)
        found = await reads.message(self._store, thread_id, message_id)
        if found is None:
            raise MessageNotFound("There is no such message on this thread.", param="message_id")
        return found

    async def _may_know_parent(self, principal: Principal, fork: Thread, idle_before: int) -> bool:
        if fork.parent_id is None:
            return True
        try:
            parent = await self.thread(principal, fork.parent_id, idle_before)
        except ThreadNotFound:
            return False
        return may_know_parent(principal, fork.owner, parent.owner)

    async def answers(self) -> bool:
        """Whether the store can be read."""
        try:
            await reads.epoch(self._store, TOKENS_EPOCH)
        except StoreError:
            return False
        return True

    async def follow_run(
        self, run_id: str, seconds: float
    ) -> tuple[Run | None, tuple[Message, ...]]:
        """Wait for a run's end, at most so many seconds.

        Returns:
            The run as it stands then, and its replies, none while it is not over.
        """
        with self._following.watch(run_id) as end:
            run = await reads.run(self._store, run_id)
            if run is not None and not run.is_over:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await end.wait()
                run = await reads.run(self._store, run_id)
        if run is None or not run.is_over:
            return run, ()
        return run, await reads.replies(self._store, run_id)
