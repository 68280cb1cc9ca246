"""Opening threads and posting to them.

A post is one unit of work: the idempotency key, the message, and the run that will answer it are
written together, before anything is promised.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import msgspec

from aitp_desk.config import Threads
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.agents import OwnNames
from aitp_desk.desk.capabilities.posting import JudgedPosting
from aitp_desk.desk.capabilities.telling import Telling
from aitp_desk.desk.filing import Filing
from aitp_desk.desk.repeats import (
    Repeats,
    Request,
    check_hops,
    opening_scope,
    thread_scope,
)
from aitp_desk.desk.shares import Wake
from aitp_desk.model.audit import AuditKeys, auditor_of
from aitp_desk.model.chain import new_salt
from aitp_desk.model.errors import InvalidRequest, MessageNotFound, ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.model.principal import Principal
from aitp_desk.model.thread import (
    MAX_THREAD_MESSAGES,
    VISITOR,
    Actor,
    Draft,
    Message,
    Origin,
    Thread,
    ThreadDraft,
    ThreadUpdate,
    check_actors,
    check_draft,
    check_metadata,
    check_thread_draft,
    resolve_speaker,
)
from aitp_desk.store import reads
from aitp_desk.store.base import Store, Work
from aitp_desk.store.records import Fork, NewDraft, NewMessage, Once, Placed, settled
from aitp_desk.store.run_records import NewRun
from aitp_desk.store.work.actors import bound_to_others
from aitp_desk.store.work.threads import append_message, open_thread, update_thread

_CAPPED = (
    "This conversation has had its share of automatic replies for now. A person may go on in a"
    " while; your messages are kept."
)


class OpenedThread(msgspec.Struct, frozen=True):
    """A thread that was opened now, or the first time that this request came.

    Parameters:
        messages: what its opener said.
        run_id: the run that answers; None where none was started.
        replies: what the desk has said to that already, for capabilities; none of a request that
            came before.
    """

    thread: Thread
    messages: tuple[Message, ...]
    run_id: str | None
    replies: tuple[Message, ...] = ()


class PostedMessage(msgspec.Struct, frozen=True):
    """A message that was posted now, or the first time that this request came.

    Parameters:
        run_id: the run that answers; None where none was started.
    """

    message: Message
    run_id: str | None


class Posting:
    """Writes what visitors say.

    Parameters:
        actor: the desk's own actor, which stands first on every thread.
        own_names: what nobody is called but the site's agents.
        repeats: tells a request from its repeats.
        wake: called after a commit that queued a run.
        changed: called with the thread after a commit that others may be waiting to hear of.
        audit: the keys of the audit log.
        judging: has capabilities judge messages, and writes down what they want.
        telling: tells messages as the caller understands them.
    """

    def __init__(
        self,
        *,
        store: Store,
        actor: Actor,
        own_names: OwnNames,
        threads: Threads,
        repeats: Repeats,
        clock: Callable[[], float],
        filing: Filing,
        wake: Wake,
        changed: Callable[[str], None],
        audit: AuditKeys,
        judging: JudgedPosting,
        telling: Telling,
    ) -> None:
        self._store = store
        self._actor = actor
        self._own_names = own_names
        self._threads = threads
        self._repeats = repeats
        self._clock = clock
        self._filing = filing
        self._wake = wake
        self._changed = changed
        self._audit = audit
        self._judging = judging
        self._telling = telling

    @property
    def idle_before(self) -> int:
        """Unix seconds: an anonymous thread last used before then is closed."""
        return int(self._clock()) - self._threads.anonymous_ttl * DAY_SECONDS

    async def open_thread(
        self,
        principal: Principal,
        draft: ThreadDraft,
        request: Request,
        run: NewRun | None = None,
    ) -> OpenedThread:
        """Open a thread; its last message is answered when it is a visitor's.

        Parameters:
            run: the run that the caller starts with it.

        Raises:
            InvalidRequest and its kin: the draft breaks a limit, or the request loops.
            Forbidden: an actor would be taken for one of the site's agents.
            ThreadNotFound: the parent does not exist, is closed, or is not the caller's.
            IdempotencyConflict, IdempotencyInFlight: the key is taken.
            FileNotFound: a message names a file that is not the caller's.
            StoreBusy: nothing was written.
        """
        check_thread_draft(draft)
        check_hops(request)
        self._own_names.check(draft.actors, "metadata.actors")
        parts = [
            self._judging.parts(message, f"messages[{place}].")
            for place, message in enumerate(draft.messages)
        ]
        now = self._clock()
        by = auditor_of(self._audit, principal, int(now))
        binds = bound_to_others(draft.actors, principal.owner)
        speakers = _Speakers(principal, self._actor, draft.actors)
        messages = tuple(
            _settle(message, speakers, principal, now, at=f"messages[{place}].")
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
            fork = Fork(draft.parent_id, principal, self.idle_before)
        is_wished = run is not None
        if run is None and not request.manual and messages and messages[-1].role == "user":
            run = NewRun(new_id("run", now), principal)
        with self._repeats.once(request, opening_scope(principal, request.key)) as once:
            await self.check_attached(principal, draft.messages, once, "messages")
            opening = partial(
                open_thread,
                thread=thread,
                speaker=speakers.default,
                once=once,
                now=int(now),
                fork=fork,
                by=by if fork is not None or binds else None,
            )
            if any(parts) and not await self._is_repeated(once):
                placed = await self._judging.open(
                    principal,
                    draft,
                    messages,
                    parts,
                    thread,
                    speakers.default,
                    run,
                    self._running(opening),
                    keeps_run=is_wished,
                )
            else:
                placed = await self._store.run(opening, messages=messages, run=run)
        if placed.replayed:
            return await self._read_opened(principal, placed)
        self._wake_for(placed, principal)
        told = await self._telling.tell(principal, thread.id, placed.messages)
        replies = await self._telling.tell(principal, thread.id, placed.replies)
        return OpenedThread(thread, told, placed.run_id, replies)

    async def check_attached(
        self, principal: Principal, drafts: Sequence[Draft], once: Once | None, name: str = ""
    ) -> None:
        """Refuse messages that name files which are not the caller's.

        A repeated request is not refused: it gets its answer, whatever became of its files.

        Parameters:
            once: the request's idempotency key, if one was sent.
            name: the member of the request that holds the drafts; empty where there is but one.

        Raises:
            FileNotFound: ``param`` is the attachment.
        """
        if not any(draft.attachments for draft in drafts):
            return
        if once is not None and await reads.is_used(self._store, once):
            return
        for place, draft in enumerate(drafts):
            at = f"{name}[{place}]." if name else ""
            await self._filing.check_attached(principal, draft, at)

    def check_words(self, draft: Draft, at: str) -> None:
        """Refuse a message of a capability where none can be judged.

        Parameters:
            at: where it stands in its request, such as ``additional_messages[0].``.

        Raises:
            InvalidRequest: it has a structured part.
        """
        if self._judging.parts(draft, at):
            raise InvalidRequest(
                "A message of a capability is posted to the thread, before the run is started.",
                param=f"{at}content",
            )

    async def post(
        self, principal: Principal, thread_id: str, draft: Draft, request: Request
    ) -> PostedMessage:
        """Add a message to a thread; it is answered when it is a visitor's.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
            as :meth:`open_thread`.
        """
        check_draft(draft)
        check_hops(request)
        parts = self._judging.parts(draft)
        now = self._clock()
        with self._repeats.once(request, thread_scope(principal, thread_id)) as once:
            await self.check_attached(principal, (draft,), once)
            message_id = new_id("msg", now)
            append = partial(
                append_message,
                thread_id=thread_id,
                principal=principal,
                message_id=message_id,
                salt=new_salt(),
                now=int(now),
                idle_before=self.idle_before,
                run_id=None if request.manual else new_id("run", now),
                max_auto_replies=self._threads.max_auto_replies,
                capped=None if request.manual else self._say_capped(now),
                once=once,
            )
            may_mean_more = bool(parts) or self._judging.hears
            if may_mean_more and not await self._is_repeated(once):
                reached = (thread_id, self.idle_before)
                placed = await self._judging.post(
                    principal, reached, message_id, draft, parts, self._running(append)
                )
            else:
                placed = await self._store.run(append, draft=draft)
        if placed.replayed:
            message = await reads.message(self._store, placed.thread_id, placed.message_id or "")
            if message is None:
                raise MessageNotFound("The message that this request posted has been deleted.")
            (told,) = await self._telling.tell(principal, thread_id, (message,))
            return PostedMessage(told, placed.run_id)
        self._changed(thread_id)
        self._wake_for(placed, principal)
        (told,) = await self._telling.tell(principal, thread_id, placed.messages)
        return PostedMessage(told, placed.run_id)

    def _running(self, work: Callable[..., Work[Placed]]) -> Callable[..., Awaitable[Placed]]:
        """Runs a unit, given the rest of its arguments."""

        async def run(**rest: object) -> Placed:
            return await self._store.run(work, **rest)

        return run

    async def _is_repeated(self, once: Once | None) -> bool:
        """Whether a request came before: what it said was judged then."""
        return once is not None and await reads.is_used(self._store, once)

    async def update(self, principal: Principal, thread_id: str, update: ThreadUpdate) -> None:
        """Replace a thread's metadata and, where they are given, those who take part in it.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
            Forbidden: the thread is somebody else's to change, or an actor somebody else's.
            InvalidRequest: the metadata or an actor breaks a limit, or the parent is another.
        """
        check_metadata(update.metadata)
        check_actors(update.actors or ())
        brought = (actor for actor in update.actors or () if actor.id != self._actor.id)
        self._own_names.check(brought, "metadata.actors")
        now = int(self._clock())
        await self._store.run(
            update_thread,
            thread_id=thread_id,
            principal=principal,
            update=update,
            now=now,
            idle_before=self.idle_before,
            by=None if update.actors is None else auditor_of(self._audit, principal, now),
        )
        self._changed(thread_id)

    async def _read_opened(self, principal: Principal, placed: Placed) -> OpenedThread:
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
        told = await self._telling.tell(principal, placed.thread_id, said)
        return OpenedThread(kept.thread, told, placed.run_id)

    def _say_capped(self, now: float) -> NewMessage:
        """What is said, once, on a thread that has had its share of automatic replies."""
        return NewMessage(
            new_id("msg", now),
            new_salt(),
            "assistant",
            self._actor.id,
            Origin.DESK,
            (_CAPPED,),
        )

    def _wake_for(self, placed: Placed, principal: Principal) -> None:
        if placed.run is not None and not placed.run.is_over:
            self._wake(placed.run.id, principal.limited_as)


class _Speakers:
    """Who may speak in the messages with which a thread is opened."""

    def __init__(self, principal: Principal, desk: Actor, actors: Sequence[Actor]) -> None:
        own = (None, principal.owner)
        self.brought = [actor.id for actor in actors if actor.principal in own]
        self.others = [desk.id, *(actor.id for actor in actors if actor.principal not in own)]
        self.default = next(iter(self.brought), principal.owner or VISITOR)


def _settle(
    draft: Draft, speakers: _Speakers, principal: Principal, now: float, *, at: str
) -> NewMessage:
    role, actor = resolve_speaker(
        draft, brought=speakers.brought, default=speakers.default, others=speakers.others, at=at
    )
    return settled(NewDraft(new_id("msg", now), new_salt(), draft), role, actor, principal.owner)
