"""Creates threads together with their first messages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.idempotency import (
    IdempotencyKeys,
    RequestInfo,
    check_hops,
    creation_scope,
)
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.plugins.judged_messages import JudgedMessageWriter
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.model.access.audit import make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import (
    MAX_THREAD_MESSAGES,
    VISITOR,
    Actor,
    Draft,
    Message,
    Thread,
    ThreadDraft,
    check_thread_draft,
    resolve_speaker,
)
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.records.threads import Fork, NewDraft, NewMessage, PostResult, settle_draft
from aitp_desk.store.units.threads.actors import bound_to_others
from aitp_desk.store.units.threads.threads import AlsoWritten, open_thread


class Speakers:
    """The actors that may speak in the messages that open a thread."""

    def __init__(self, principal: Principal, desk: Actor, actors: Sequence[Actor]) -> None:
        own = (None, principal.owner)
        self.brought = [actor.id for actor in actors if actor.principal in own]
        self.others = [desk.id, *(actor.id for actor in actors if actor.principal not in own)]
        self.default = next(iter(self.brought), principal.owner or VISITOR)


def assign_speaker(
    draft: Draft, speakers: Speakers, principal: Principal, now: float, *, at: str
) -> NewMessage:
    """Return an opening message with its speaker.

    Parameters:
        now: Unix seconds.
        at: path of the draft in its request, for ``param``.

    Raises:
        InvalidRequest, Forbidden: as :func:`.resolve_speaker`.
    """
    role, actor = resolve_speaker(
        draft, brought=speakers.brought, default=speakers.default, others=speakers.others, at=at
    )
    return settle_draft(
        NewDraft(new_id("msg", now), new_salt(), draft), role, actor, principal.owner
    )


class OpenedThread(msgspec.Struct, frozen=True):
    """A thread created by this request, or by the one that it repeats.

    Parameters:
        messages: the opening messages.
        run_id: the run that answers; None if none was started.
        replies: the desk's immediate replies for plugins; empty for a repeated request.
    """

    thread: Thread
    messages: tuple[Message, ...]
    run_id: str | None
    replies: tuple[Message, ...] = ()


class ThreadCreation:
    """Creates threads for visitors.

    Parameters:
        messages: posts later messages and wakes the worker.
        idempotency: detects repeated requests.
        message_writer: lets plugins judge messages, and stores their effects.
        renderer: renders messages for the caller.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        messages: MessageService,
        idempotency: IdempotencyKeys,
        message_writer: JudgedMessageWriter,
        renderer: PlainTextRenderer,
    ) -> None:
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._messages = messages
        self._idempotency = idempotency
        self._message_writer = message_writer
        self._renderer = renderer

    async def open_thread(
        self,
        principal: Principal,
        draft: ThreadDraft,
        request: RequestInfo,
        run: NewRun | None = None,
        also: AlsoWritten | None = None,
    ) -> OpenedThread:
        """Create a thread; a run answers a visitor's last message.

        Parameters:
            run: the run that the caller starts with the thread.
            also: committed together with the thread; not for a repeated request.

        Raises:
            InvalidRequest and its subclasses: the draft breaks a limit, or the request loops.
            Forbidden: an actor has a name reserved for the site's agents, or the caller's key does
                not open threads.
            ThreadNotFound: the parent does not exist, is closed, or is not the caller's.
            IdempotencyConflict, IdempotencyInFlight: the key is in use.
            FileNotFound: a message names a file that is not the caller's.
            StoreBusy: nothing was written.
        """
        check_scope(principal)
        check_thread_draft(draft)
        check_hops(request)
        self._context.own_names.check(draft.actors, "metadata.actors")
        parts = [
            self._message_writer.read_parts(message.content, at=f"messages[{place}].")
            for place, message in enumerate(draft.messages)
        ]
        kept = map(self._message_writer.redact, draft.messages, parts)
        draft = msgspec.structs.replace(draft, messages=tuple(kept))
        now = self._clock()
        by = make_auditor(self._context.audit, principal, int(now))
        binds = bound_to_others(draft.actors, principal.owner)
        speakers = Speakers(principal, self._context.actor, draft.actors)
        messages = tuple(
            assign_speaker(message, speakers, principal, now, at=f"messages[{place}].")
            for place, message in enumerate(draft.messages)
        )
        thread = Thread(
            new_id("thread", now),
            principal.owner,
            int(now),
            draft.metadata,
            (self._context.actor, *draft.actors),
            draft.parent_id,
            principal.desk,
        )
        fork = None
        if draft.parent_id is not None:
            fork = Fork(draft.parent_id, principal, self._context.idle_before)
        is_wished = run is not None
        if run is None and not request.manual and messages and messages[-1].role == "user":
            run = NewRun(new_id("run", now), principal)
        with self._idempotency.hold_key(
            request, creation_scope(principal, request.key)
        ) as idempotency:
            await self._messages.check_attached(principal, draft.messages, idempotency, "messages")
            opening = partial(
                open_thread,
                thread=thread,
                speaker=speakers.default,
                idempotency=idempotency,
                now=int(now),
                fork=fork,
                by=by if fork is not None or binds else None,
                also=also,
            )
            if any(parts) and not await self._messages.is_repeated(idempotency):
                placed = await self._message_writer.open(
                    principal,
                    draft,
                    messages,
                    parts,
                    thread,
                    speakers.default,
                    run,
                    opening,
                    keeps_run=is_wished,
                )
            else:
                placed = await self._store.run(opening, messages=messages, run=run)
        if placed.replayed:
            return await self._read_opened(principal, placed)
        self._messages.wake_worker(placed, principal)
        told = await self._renderer.render_messages(principal, thread.id, placed.messages)
        replies = await self._renderer.render_messages(principal, thread.id, placed.replies)
        return OpenedThread(thread, told, placed.run_id, replies)

    async def _read_opened(self, principal: Principal, placed: PostResult) -> OpenedThread:
        kept = await reads.thread(self._store, placed.thread_id)
        if kept is None:
            raise ThreadNotFound("The thread that this request opened has been deleted.")
        if kept.is_claimed and kept.thread.owner != principal.owner:
            raise ThreadNotFound(
                "The thread that this request opened now belongs to another caller."
            )
        page = await reads.messages(
            self._store, placed.thread_id, PageRequest(MAX_THREAD_MESSAGES, "asc")
        )
        last = await reads.place(self._store, placed.thread_id, placed.message_id)
        said = tuple(message for message in page.items if message.seq <= last)
        told = await self._renderer.render_messages(principal, placed.thread_id, said)
        return OpenedThread(kept.thread, told, placed.run_id)
