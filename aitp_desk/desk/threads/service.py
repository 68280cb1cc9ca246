"""What callers may do with threads, each time by a credential that opens them."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.auth.keys.transcript_keys import PublishedKey
from aitp_desk.desk.access.idempotency import Request
from aitp_desk.desk.access.scopes import check_scope, check_takes_part
from aitp_desk.desk.threads.creation import OpenedThread, Opening
from aitp_desk.desk.threads.deletion import Deleting
from aitp_desk.desk.threads.grants import Sharing
from aitp_desk.desk.threads.messages import PostedMessage, Posting
from aitp_desk.desk.threads.participants import Attending
from aitp_desk.desk.threads.reader import Reading, ThreadView
from aitp_desk.desk.threads.transcripts import Transcript, Transcripts
from aitp_desk.model.access.grant import Grant, GrantDraft
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import Access
from aitp_desk.model.conversation.thread import (
    Actor,
    Draft,
    Message,
    Thread,
    ThreadDraft,
    ThreadUpdate,
)
from aitp_desk.model.conversation.transcript import Countersignature
from aitp_desk.store.records.threads import Order, Page


class OnThreads:
    """Threads as callers use them: opened, written to, read, shared and deleted.

    All of it raises Forbidden where the caller's key does not open threads.
    """

    def __init__(
        self,
        *,
        opening: Opening,
        posting: Posting,
        deleting: Deleting,
        reading: Reading,
        attending: Attending,
        sharing: Sharing,
        transcripts: Transcripts,
    ) -> None:
        self._opening = opening
        self._posting = posting
        self._deleting = deleting
        self._reading = reading
        self._attending = attending
        self._sharing = sharing
        self._transcripts = transcripts

    @property
    def _idle_before(self) -> int:
        return self._posting.idle_before

    async def open(
        self, principal: Principal, draft: ThreadDraft, request: Request
    ) -> OpenedThread:
        """Open a thread. See :meth:`aitp_desk.desk.threads.creation.Opening.open`."""
        check_scope(principal)
        return await self._opening.open(principal, draft, request)

    async def post(
        self, principal: Principal, thread_id: str, draft: Draft, request: Request
    ) -> PostedMessage:
        """Add a message to a thread. See :meth:`aitp_desk.desk.threads.messages.Posting.post`."""
        check_scope(principal)
        return await self._posting.post(principal, thread_id, draft, request)

    async def update(self, principal: Principal, thread_id: str, update: ThreadUpdate) -> None:
        """Change a thread. See :meth:`aitp_desk.desk.threads.messages.Posting.update`."""
        check_scope(principal)
        await self._posting.update(principal, thread_id, update)

    async def add_actor(self, principal: Principal, thread_id: str, actor: Actor) -> Actor:
        """Have an actor join. See :meth:`aitp_desk.desk.threads.participants.Attending.join`."""
        check_scope(principal)
        return await self._attending.join(principal, thread_id, actor, self._idle_before)

    async def remove_actor(self, principal: Principal, thread_id: str, actor_id: str) -> None:
        """Have an actor leave. See :meth:`aitp_desk.desk.threads.participants.Attending.leave`."""
        check_scope(principal)
        await self._attending.leave(principal, thread_id, actor_id, self._idle_before)

    async def claim(self, principal: Principal, thread_id: str) -> None:
        """Claim an anonymous thread. See :meth:`aitp_desk.desk.threads.grants.Sharing.claim`."""
        check_takes_part(principal)
        await self._sharing.claim(principal, thread_id, self._idle_before)

    async def share(
        self, principal: Principal, thread_id: str, draft: GrantDraft
    ) -> tuple[Grant, str | None]:
        """Share a thread. See :meth:`aitp_desk.desk.threads.grants.Sharing.share`."""
        check_scope(principal)
        return await self._sharing.share(principal, thread_id, draft, self._idle_before)

    async def list_grants(self, principal: Principal, thread_id: str) -> Sequence[Grant]:
        """With whom a thread is shared.

        See :meth:`aitp_desk.desk.threads.grants.Sharing.list_grants`.
        """
        check_scope(principal)
        return await self._sharing.list_grants(principal, thread_id, self._idle_before)

    async def revoke_grant(self, principal: Principal, thread_id: str, grant_id: str) -> None:
        """Take a grant back. See :meth:`aitp_desk.desk.threads.grants.Sharing.revoke`."""
        check_scope(principal)
        await self._sharing.revoke(principal, thread_id, grant_id, self._idle_before)

    async def read(self, principal: Principal, thread_id: str) -> ThreadView:
        """A thread with its newest messages.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
            Forbidden: the caller's key does not open threads.
        """
        check_scope(principal)
        return await self._reading.view(principal, thread_id, self._idle_before)

    async def look_at(self, principal: Principal, thread_id: str) -> tuple[Thread, Access]:
        """A thread without its messages, and what the caller may do with it.

        Raises:
            ThreadNotFound, Forbidden: as :meth:`read`.
        """
        check_scope(principal)
        kept, access = await self._reading.reach(principal, thread_id, self._idle_before)
        return kept.thread, access

    async def list_messages(
        self,
        principal: Principal,
        thread_id: str,
        *,
        limit: int,
        order: Order,
        after: str | None,
        before: str | None,
        run_id: str | None,
    ) -> Page:
        """One page of a thread's messages.

        See :meth:`aitp_desk.desk.threads.reader.Reading.messages`.
        """
        check_scope(principal)
        return await self._reading.messages(
            principal,
            thread_id,
            self._idle_before,
            limit=limit,
            order=order,
            after=after,
            before=before,
            run_id=run_id,
        )

    async def read_message(self, principal: Principal, thread_id: str, message_id: str) -> Message:
        """One message of a thread. See :meth:`aitp_desk.desk.threads.reader.Reading.message`."""
        check_scope(principal)
        return await self._reading.message(principal, thread_id, message_id, self._idle_before)

    async def update_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        actor: str | None,
        metadata: dict[str, str],
    ) -> Message:
        """Replace the metadata of a message that the caller said.

        See :meth:`aitp_desk.desk.threads.deletion.Deleting.update_message`.
        """
        check_scope(principal)
        updated = await self._deleting.update_message(
            principal, thread_id, message_id, actor, metadata, self._idle_before
        )
        (told,) = await self._reading.telling.tell(principal, thread_id, (updated,))
        return told

    async def find_rights(
        self, principal: Principal, thread_id: str, message_id: str
    ) -> tuple[bool, bool]:
        """What may be done with a message. See :meth:`.deleting.Deleting.find_rights`."""
        check_scope(principal)
        idle_before = self._idle_before
        return await self._deleting.find_rights(principal, thread_id, message_id, idle_before)

    async def delete_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        *,
        with_replies: bool = False,
    ) -> tuple[str, ...]:
        """Drop what a message said.

        See :meth:`aitp_desk.desk.threads.deletion.Deleting.delete_message`.
        """
        check_scope(principal)
        return await self._deleting.delete_message(
            principal, thread_id, message_id, self._idle_before, with_replies=with_replies
        )

    async def delete(self, principal: Principal, thread_id: str) -> None:
        """Close a thread for good.

        See :meth:`aitp_desk.desk.threads.deletion.Deleting.delete_thread`.
        """
        check_scope(principal)
        await self._deleting.delete_thread(principal, thread_id, self._idle_before)

    async def transcript(self, principal: Principal, thread_id: str, seq: int | None) -> Transcript:
        """What was said, to be proven.

        See :meth:`aitp_desk.desk.threads.transcripts.Transcripts.tell`.
        """
        check_scope(principal)
        return await self._transcripts.tell(principal, thread_id, seq, self._idle_before)

    async def countersign(
        self, principal: Principal, thread_id: str, seq: int, jws: str
    ) -> Countersignature:
        """Keep a signature of a head. See :meth:`.transcripts.Transcripts.countersign`."""
        check_scope(principal)
        return await self._transcripts.countersign(
            principal, thread_id, seq, jws, self._idle_before
        )

    async def transcript_keys(self) -> tuple[PublishedKey, ...]:
        """The keys with which transcripts are signed, and were: for everybody."""
        return await self._transcripts.published_keys()
