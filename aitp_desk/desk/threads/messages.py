"""Posts messages to threads.

A post is one unit of work: the idempotency key, the message and the run that will answer it are
written together, before the caller gets a response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.idempotency import (
    IdempotencyKeys,
    RequestInfo,
    check_hops,
    thread_scope,
)
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.limits.fair_share import WakeWorker
from aitp_desk.desk.plugins.judged_messages import JudgedMessageWriter
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.desk.threads.files import FileService
from aitp_desk.model.access.audit import make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import (
    Draft,
    Message,
    ThreadUpdate,
    check_actors,
    check_draft,
    check_metadata,
)
from aitp_desk.model.errors import MessageNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.records.threads import IdempotencyRecord, NewDraft, PostResult
from aitp_desk.store.units.idempotency import look_up_once
from aitp_desk.store.units.runs.callers import start_run
from aitp_desk.store.units.threads.threads import AlsoWritten, append_message, update_thread

_CAPPED = (
    "This conversation has reached its limit of automatic replies for now. A person may"
    " answer later; your messages are stored."
)


class PostedMessage(msgspec.Struct, frozen=True):
    """A message posted by this request, or by the one that it repeats.

    Parameters:
        run_id: the run that answers; None if none was started.
    """

    message: Message
    run_id: str | None


class MessageService:
    """Posts visitors' messages.

    Parameters:
        idempotency: detects repeated requests.
        wake: called after a commit that queued a run.
        changed: called with the thread's id after a commit that subscribers may wait for.
        message_writer: lets plugins judge messages, and stores their effects.
        renderer: renders messages for the caller.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        idempotency: IdempotencyKeys,
        files: FileService,
        wake: WakeWorker,
        changed: Callable[[str], None],
        message_writer: JudgedMessageWriter,
        renderer: PlainTextRenderer,
    ) -> None:
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._idempotency = idempotency
        self._files = files
        self._wake = wake
        self._changed = changed
        self._message_writer = message_writer
        self._renderer = renderer

    async def check_attached(
        self,
        principal: Principal,
        drafts: Sequence[Draft],
        idempotency: IdempotencyRecord | None,
        name: str = "",
    ) -> None:
        """Refuse messages that attach files which are not the caller's.

        A repeated request is not refused: it gets its first response, even if the files are gone.

        Parameters:
            idempotency: the request's idempotency key, if one was sent.
            name: the request member that holds the drafts; empty if there is only one draft.

        Raises:
            FileNotFound: ``param`` is the attachment.
        """
        if not any(draft.attachments for draft in drafts):
            return
        if idempotency is not None and await reads.is_used(self._store, idempotency):
            return
        for place, draft in enumerate(drafts):
            at = f"{name}[{place}]." if name else ""
            await self._files.check_attached(principal, draft, at)

    async def start_run(
        self,
        principal: Principal,
        thread_id: str,
        run: NewRun,
        drafts: Sequence[Draft],
        idempotency: IdempotencyRecord | None,
    ) -> PostResult:
        """Start a run after the caller's messages; see :func:`start_run`, :meth:`post_message`."""
        name = "additional_messages"
        parts = [
            self._message_writer.read_parts(draft.content, at=f"{name}[{place}].")
            for place, draft in enumerate(drafts)
        ]
        await self.check_attached(principal, drafts, idempotency, name)
        now = self._clock()
        new = tuple(NewDraft(new_id("msg", now), new_salt(), draft) for draft in drafts)
        starting = partial(
            start_run,
            thread_id=thread_id,
            principal=principal,
            run=run,
            idempotency=idempotency,
            now=int(now),
            idle_before=self._context.idle_before,
        )
        may_mean_more = any(parts) or (bool(new) and self._message_writer.understands_words)
        if may_mean_more and not await self.is_repeated(idempotency):
            return await self._message_writer.start(principal, thread_id, new, parts, starting)
        return await self._store.run(starting, drafts=self._message_writer.redact_all(new, parts))

    async def post_message(
        self,
        principal: Principal,
        thread_id: str,
        draft: Draft,
        request: RequestInfo,
        also: AlsoWritten | None = None,
        first: Callable[[], Work[None]] | None = None,
    ) -> PostedMessage:
        """Add a message to a thread; see :meth:`add_message`.

        Raises:
            Forbidden: the caller's key does not open threads.
            as :meth:`add_message`.
        """
        check_scope(principal)
        return await self.add_message(principal, thread_id, draft, request, also, first)

    async def add_message(
        self,
        principal: Principal,
        thread_id: str,
        draft: Draft,
        request: RequestInfo,
        also: AlsoWritten | None = None,
        first: Callable[[], Work[None]] | None = None,
    ) -> PostedMessage:
        """Add a message to a thread, whatever the caller's key opens; a run may answer it.

        Parameters:
            first: as in :func:`append_message`; what it raises is raised.
            also: committed together with the message; not for a repeated request.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            as :meth:`.creation.ThreadCreation.open_thread`.
        """
        check_draft(draft)
        check_hops(request)
        parts = self._message_writer.read_parts(draft.content)
        now = self._clock()
        with self._idempotency.hold_key(request, thread_scope(principal, thread_id)) as idempotency:
            if draft.attachments:
                await self.check_attached(principal, (draft,), idempotency)
            idle_before = self._context.idle_before
            message_id = new_id("msg", now)
            append = partial(
                append_message,
                thread_id=thread_id,
                principal=principal,
                message_id=message_id,
                salt=new_salt(),
                now=int(now),
                idle_before=idle_before,
                run_id=None if request.manual else new_id("run", now),
                max_auto_replies=self._context.threads.max_auto_replies,
                capped=None
                if request.manual
                else partial(self._context.make_message, (_CAPPED,), {}),
                idempotency=idempotency,
                first=first,
                also=also,
            )
            may_mean_more = bool(parts) or self._message_writer.understands_words
            if may_mean_more and (
                idempotency is None or not await reads.is_used(self._store, idempotency)
            ):
                placed = await self._message_writer.post(
                    principal, thread_id, message_id, draft, parts, append
                )
            else:
                placed = await self._store.run(
                    append, draft=self._message_writer.redact(draft, parts)
                )
        if placed.replayed:
            return await self._read_posted(principal, placed)
        self._changed(thread_id)
        self.wake_worker(placed, principal)
        (told,) = await self._renderer.render_messages(principal, thread_id, placed.messages)
        return PostedMessage(told, placed.run_id)

    async def find_posted(
        self, principal: Principal, thread_id: str, request: RequestInfo
    ) -> PostedMessage | None:
        """Return what an earlier request with the same key posted, or None."""
        with self._idempotency.hold_key(request, thread_scope(principal, thread_id)) as idempotency:
            placed = (
                None if idempotency is None else await self._store.run(look_up_once, idempotency)
            )
        return None if placed is None else await self._read_posted(principal, placed)

    async def _read_posted(self, principal: Principal, placed: PostResult) -> PostedMessage:
        message = await reads.message(self._store, placed.thread_id, placed.message_id or "")
        if message is None:
            raise MessageNotFound("The message that this request created has been deleted.")
        (told,) = await self._renderer.render_messages(principal, placed.thread_id, (message,))
        return PostedMessage(told, placed.run_id)

    async def is_repeated(self, idempotency: IdempotencyRecord | None) -> bool:
        """Return whether the request is a repeat, whose message was judged the first time."""
        return idempotency is not None and await reads.is_used(self._store, idempotency)

    async def update_thread(
        self, principal: Principal, thread_id: str, update: ThreadUpdate
    ) -> None:
        """Replace a thread's metadata and, if given, its participants.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            Forbidden: the thread, or an actor, is another principal's to change, or the caller's
                key does not open threads.
            InvalidRequest: the metadata or an actor breaks a limit, or the parent differs.
        """
        check_scope(principal)
        check_metadata(update.metadata)
        check_actors(update.actors or ())
        brought = (actor for actor in update.actors or () if actor.id != self._context.actor.id)
        self._context.own_names.check(brought, "metadata.actors")
        now = int(self._clock())
        await self._store.run(
            update_thread,
            thread_id=thread_id,
            principal=principal,
            update=update,
            now=now,
            idle_before=self._context.idle_before,
            by=None if update.actors is None else make_auditor(self._context.audit, principal, now),
        )
        self._changed(thread_id)

    def wake_worker(self, placed: PostResult, principal: Principal) -> None:
        """Wake the worker for the run that was queued with a message, if any."""
        if placed.run is not None and not placed.run.is_over:
            self._wake(placed.run.id, principal.limited_as)
