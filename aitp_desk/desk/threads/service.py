"""The thread operations, each checked against the caller's scopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.auth.keys.transcript_keys import PublishedKey
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.access.scopes import check_participation, check_scope
from aitp_desk.desk.threads.creation import OpenedThread, ThreadCreation
from aitp_desk.desk.threads.deletion import ThreadDeletion
from aitp_desk.desk.threads.grants import GrantService
from aitp_desk.desk.threads.messages import MessageService, PostedMessage
from aitp_desk.desk.threads.participants import ParticipantService
from aitp_desk.desk.threads.reader import ThreadReader, ThreadView
from aitp_desk.desk.threads.transcripts import Transcript, TranscriptService
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
from aitp_desk.store.base import Work
from aitp_desk.store.records.threads import Order, Page
from aitp_desk.store.units.threads.threads import AlsoWritten


class ThreadService:
    """Creates, reads, changes, shares and deletes threads for callers.

    Every method raises Forbidden if the caller's key does not open threads.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        creation: ThreadCreation,
        messages: MessageService,
        deletion: ThreadDeletion,
        reader: ThreadReader,
        participants: ParticipantService,
        grants: GrantService,
        transcripts: TranscriptService,
    ) -> None:
        self._context = context
        self._creation = creation
        self._messages = messages
        self._deletion = deletion
        self._reader = reader
        self._participants = participants
        self._grants = grants
        self._transcripts = transcripts

    @property
    def _idle_before(self) -> int:
        return self._context.idle_before

    async def open(
        self,
        principal: Principal,
        draft: ThreadDraft,
        request: RequestInfo,
        also: AlsoWritten | None = None,
    ) -> OpenedThread:
        """Create a thread. See :meth:`.creation.ThreadCreation.open_thread`."""
        check_scope(principal)
        return await self._creation.open_thread(principal, draft, request, also=also)

    async def post(
        self,
        principal: Principal,
        thread_id: str,
        draft: Draft,
        request: RequestInfo,
        also: AlsoWritten | None = None,
        first: Callable[[], Work[None]] | None = None,
    ) -> PostedMessage:
        """Add a message to a thread. See :meth:`.messages.MessageService.post_message`."""
        check_scope(principal)
        return await self._messages.post_message(principal, thread_id, draft, request, also, first)

    async def update(self, principal: Principal, thread_id: str, update: ThreadUpdate) -> None:
        """Change a thread. See :meth:`.messages.MessageService.update_thread`."""
        check_scope(principal)
        await self._messages.update_thread(principal, thread_id, update)

    async def add_actor(self, principal: Principal, thread_id: str, actor: Actor) -> Actor:
        """Add a participant. See :meth:`.participants.ParticipantService.add_actor`."""
        check_scope(principal)
        return await self._participants.add_actor(principal, thread_id, actor, self._idle_before)

    async def remove_actor(self, principal: Principal, thread_id: str, actor_id: str) -> None:
        """Remove a participant. See :meth:`.participants.ParticipantService.remove_actor`."""
        check_scope(principal)
        await self._participants.remove_actor(principal, thread_id, actor_id, self._idle_before)

    async def claim(self, principal: Principal, thread_id: str) -> None:
        """Claim an anonymous thread. See :meth:`.grants.GrantService.claim_thread`."""
        check_participation(principal)
        await self._grants.claim_thread(principal, thread_id, self._idle_before)

    async def share(
        self, principal: Principal, thread_id: str, draft: GrantDraft
    ) -> tuple[Grant, str | None]:
        """Share a thread. See :meth:`.grants.GrantService.share_thread`."""
        check_scope(principal)
        return await self._grants.share_thread(principal, thread_id, draft, self._idle_before)

    async def list_grants(self, principal: Principal, thread_id: str) -> Sequence[Grant]:
        """List a thread's grants. See :meth:`.grants.GrantService.list_grants`."""
        check_scope(principal)
        return await self._grants.list_grants(principal, thread_id, self._idle_before)

    async def revoke_grant(self, principal: Principal, thread_id: str, grant_id: str) -> None:
        """Revoke a grant. See :meth:`.grants.GrantService.revoke_grant`."""
        check_scope(principal)
        await self._grants.revoke_grant(principal, thread_id, grant_id, self._idle_before)

    async def read(self, principal: Principal, thread_id: str) -> ThreadView:
        """Return a thread with its newest messages.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            Forbidden: the caller's key does not open threads.
        """
        check_scope(principal)
        return await self._reader.read_thread(principal, thread_id, self._idle_before)

    async def find_last_used(
        self, principal: Principal, note: tuple[str, str]
    ) -> tuple[str, int] | None:
        """Return the thread used last. See :meth:`.reader.ThreadReader.find_last_used`."""
        check_scope(principal)
        return await self._reader.find_last_used(principal, note)

    async def describe(self, principal: Principal, thread_id: str) -> tuple[Thread, Access]:
        """Return a thread without its messages, and what the caller may do with it.

        Raises:
            ThreadNotFound, Forbidden: as :meth:`read`.
        """
        check_scope(principal)
        kept, access = await self._reader.find_thread(principal, thread_id, self._idle_before)
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
        """Return one page of messages. See :meth:`.reader.ThreadReader.list_messages`."""
        check_scope(principal)
        return await self._reader.list_messages(
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
        """Return one message. See :meth:`.reader.ThreadReader.read_message`."""
        check_scope(principal)
        return await self._reader.read_message(principal, thread_id, message_id, self._idle_before)

    async def filter_readable(
        self, principal: Principal, thread_id: str, messages: Sequence[Message]
    ) -> tuple[Message, ...]:
        """Return readable messages. See :meth:`.reader.ThreadReader.filter_readable`."""
        check_scope(principal)
        return await self._reader.filter_readable(principal, thread_id, messages, self._idle_before)

    async def update_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        actor: str | None,
        metadata: dict[str, str],
    ) -> Message:
        """Replace the metadata of a message that the caller wrote.

        See :meth:`.deletion.ThreadDeletion.update_message`.
        """
        check_scope(principal)
        updated = await self._deletion.update_message(
            principal, thread_id, message_id, actor, metadata, self._idle_before
        )
        (told,) = await self._reader.renderer.render_messages(principal, thread_id, (updated,))
        return told

    async def find_rights(
        self, principal: Principal, thread_id: str, message_id: str
    ) -> tuple[bool, bool]:
        """Return the rights to a message. See :meth:`.deletion.ThreadDeletion.find_rights`."""
        check_scope(principal)
        idle_before = self._idle_before
        return await self._deletion.find_rights(principal, thread_id, message_id, idle_before)

    async def delete_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        *,
        with_replies: bool = False,
    ) -> tuple[str, ...]:
        """Erase a message. See :meth:`.deletion.ThreadDeletion.delete_message`."""
        check_scope(principal)
        return await self._deletion.delete_message(
            principal, thread_id, message_id, self._idle_before, with_replies=with_replies
        )

    async def delete(self, principal: Principal, thread_id: str) -> None:
        """Close a thread permanently. See :meth:`.deletion.ThreadDeletion.delete_thread`."""
        check_scope(principal)
        await self._deletion.delete_thread(principal, thread_id, self._idle_before)

    async def transcript(self, principal: Principal, thread_id: str, seq: int | None) -> Transcript:
        """Return a transcript. See :meth:`.transcripts.TranscriptService.read_transcript`."""
        check_scope(principal)
        return await self._transcripts.read_transcript(principal, thread_id, seq, self._idle_before)

    async def countersign(
        self, principal: Principal, thread_id: str, seq: int, jws: str
    ) -> Countersignature:
        """Store a countersignature. See :meth:`.transcripts.TranscriptService.countersign`."""
        check_scope(principal)
        return await self._transcripts.countersign(
            principal, thread_id, seq, jws, self._idle_before
        )

    async def transcript_keys(self) -> tuple[PublishedKey, ...]:
        """Return the current and former keys that sign transcripts. They are public."""
        return await self._transcripts.published_keys()
