"""Creates threads together with their first messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from aitp_desk.desk.access.idempotency import (
    IdempotencyKeys,
    RequestInfo,
    check_hops,
    creation_scope,
)
from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.desk.plugins.judged_messages import JudgedMessageWriter
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.desk.threads.speakers import Speakers, assign_speaker
from aitp_desk.model.access.audit import AuditKeys, make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import (
    MAX_THREAD_MESSAGES,
    Actor,
    Message,
    Thread,
    ThreadDraft,
    check_thread_draft,
)
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.records.threads import Fork, PostResult
from aitp_desk.store.units.threads.actors import bound_to_others
from aitp_desk.store.units.threads.threads import open_thread


class OpenedThread(msgspec.Struct, frozen=True):
    """A thread created by this request, or by the one that it repeats.

    Parameters:
        messages: the opening messages.
        run_id: the run that answers; None where none was started.
        replies: the desk's immediate replies for plugins; empty for a repeated request.
    """

    thread: Thread
    messages: tuple[Message, ...]
    run_id: str | None
    replies: tuple[Message, ...] = ()


class ThreadCreation:
    """Creates threads for visitors.

    Parameters:
        posting: posts later messages and wakes the worker.
        actor: the desk's own actor, the first participant of every thread.
        own_names: names reserved for the site's agents.
        repeats: detects repeated requests.
        audit: the keys of the audit log.
        judging: lets plugins judge messages, and stores their effects.
        telling: renders messages for the caller.
    """

    def __init__(
        self,
        *,
        posting: MessageService,
        store: Store,
        actor: Actor,
        own_names: OwnNames,
        repeats: IdempotencyKeys,
        clock: Callable[[], float],
        audit: AuditKeys,
        judging: JudgedMessageWriter,
        telling: PlainTextRenderer,
    ) -> None:
        self._posting = posting
        self._store = store
        self._actor = actor
        self._own_names = own_names
        self._repeats = repeats
        self._clock = clock
        self._audit = audit
        self._judging = judging
        self._telling = telling

    async def open_thread(
        self,
        principal: Principal,
        draft: ThreadDraft,
        request: RequestInfo,
        run: NewRun | None = None,
    ) -> OpenedThread:
        """Create a thread; a run answers a visitor's last message.

        Parameters:
            run: the run that the caller starts with the thread.

        Raises:
            InvalidRequest and its subclasses: the draft breaks a limit, or the request loops.
            Forbidden: an actor has a name reserved for the site's agents.
            ThreadNotFound: the parent does not exist, is closed, or is not the caller's.
            IdempotencyConflict, IdempotencyInFlight: the key is in use.
            FileNotFound: a message names a file that is not the caller's.
            StoreBusy: nothing was written.
        """
        check_thread_draft(draft)
        check_hops(request)
        self._own_names.check(draft.actors, "metadata.actors")
        parts = [
            self._judging.read_parts(message.content, at=f"messages[{place}].")
            for place, message in enumerate(draft.messages)
        ]
        kept = map(self._judging.redact, draft.messages, parts)
        draft = msgspec.structs.replace(draft, messages=tuple(kept))
        now = self._clock()
        by = make_auditor(self._audit, principal, int(now))
        binds = bound_to_others(draft.actors, principal.owner)
        speakers = Speakers(principal, self._actor, draft.actors)
        messages = tuple(
            assign_speaker(message, speakers, principal, now, at=f"messages[{place}].")
            for place, message in enumerate(draft.messages)
        )
        thread = Thread(
            new_id("thread", now),
            principal.owner,
            int(now),
            draft.metadata,
            (self._actor, *draft.actors),
            draft.parent_id,
            principal.desk,
        )
        fork = None
        if draft.parent_id is not None:
            fork = Fork(draft.parent_id, principal, self._posting.idle_before)
        is_wished = run is not None
        if run is None and not request.manual and messages and messages[-1].role == "user":
            run = NewRun(new_id("run", now), principal)
        with self._repeats.hold_key(request, creation_scope(principal, request.key)) as once:
            await self._posting.check_attached(principal, draft.messages, once, "messages")
            opening = partial(
                open_thread,
                thread=thread,
                speaker=speakers.default,
                once=once,
                now=int(now),
                fork=fork,
                by=by if fork is not None or binds else None,
            )
            if any(parts) and not await self._posting.is_repeated(once):
                placed = await self._judging.open(
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
        self._posting.wake_worker(placed, principal)
        told = await self._telling.render_messages(principal, thread.id, placed.messages)
        replies = await self._telling.render_messages(principal, thread.id, placed.replies)
        return OpenedThread(thread, told, placed.run_id, replies)

    async def _read_opened(self, principal: Principal, placed: PostResult) -> OpenedThread:
        kept = await reads.thread(self._store, placed.thread_id)
        if kept is None:
            raise ThreadNotFound("The thread that this request opened has been deleted.")
        if kept.is_claimed and kept.thread.owner != principal.owner:
            raise ThreadNotFound("The thread that this request opened has become somebody else's.")
        page = await reads.messages(
            self._store, placed.thread_id, order="asc", limit=MAX_THREAD_MESSAGES
        )
        last = await reads.place(self._store, placed.thread_id, placed.message_id)
        said = tuple(message for message in page.messages if message.seq <= last)
        told = await self._telling.render_messages(principal, placed.thread_id, said)
        return OpenedThread(kept.thread, told, placed.run_id)
