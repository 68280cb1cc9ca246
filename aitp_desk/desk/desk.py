"""The desk as the doors see it: everything that can be asked of it, on one page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

import msgspec

from aitp_desk.agent.base import Agent, Rationed
from aitp_desk.config import Limits, Signals, Site
from aitp_desk.desk.agents import SiteAgents
from aitp_desk.desk.asking import Asked, Asking
from aitp_desk.desk.attending import Attending
from aitp_desk.desk.cache import CacheCounts
from aitp_desk.desk.calling_directly import Begun, CallingDirectly, DirectCall
from aitp_desk.desk.channel import Wording
from aitp_desk.desk.deleting import Deleting
from aitp_desk.desk.exchange import Ask, CallStatus
from aitp_desk.desk.filing import Filing
from aitp_desk.desk.limits import Allowance, Limiter
from aitp_desk.desk.posting import OpenedThread, PostedMessage, Posting
from aitp_desk.desk.reading import Reading, ThreadView
from aitp_desk.desk.registry import Registry
from aitp_desk.desk.repeats import Request
from aitp_desk.desk.resources import Resources, ResourceView
from aitp_desk.desk.run_stream import RunWording
from aitp_desk.desk.running import Running
from aitp_desk.desk.scopes import check_scope
from aitp_desk.desk.sessions import Sessions
from aitp_desk.desk.sharing import Sharing
from aitp_desk.desk.streams import Stream, Streams
from aitp_desk.desk.tasks import Tasks
from aitp_desk.desk.working import Worker
from aitp_desk.knowledge.watch import Knowledge
from aitp_desk.model.access import Access
from aitp_desk.model.grant import Grant, GrantDraft
from aitp_desk.model.principal import Principal
from aitp_desk.model.resource import ResourceType
from aitp_desk.model.run import Run
from aitp_desk.model.thread import Actor, Draft, Message, Thread, ThreadDraft, ThreadUpdate
from aitp_desk.store.records import Order, Page

TOKENS_SPENT = (
    "The tokens of the day (claude.day_tokens) are used up: no model is asked until midnight, UTC."
)
"""What is noted while an agent is replaced that has used what it may."""
JOBS_DEAD = "Jobs were given up: 'aitp-desk jobs list --dead' shows which, and why."
"""What is noted while dead jobs are kept."""


class Readiness(msgspec.Struct, frozen=True):
    """Whether the desk can do its work, and with what.

    Parameters:
        working: whether runs are taken up.
        documents: how many pages it knows.
        problems: how many files of the content could not be read.
        agent: who answers now.
        notes: what somebody who watches the desk should know, in sentences.
    """

    ready: bool
    working: bool
    documents: int
    passages: int
    problems: int
    agent: str = ""
    notes: tuple[str, ...] = ()


class Desk:
    """What the desk does. It checks access, limits and repeats; the doors only translate.

    Parameters:
        name: of the further site agent whose desk it is; empty for the site's own.
        site: the website; ``site.url`` is the only source of absolute addresses.
        signals: how the site's content may be used.
        limits: the limits that the manifest declares.
        max_wait: seconds that a caller may wait for a run.
        agents: who answers for the site, as callers are told.
        agent: who answers.
        runs: what callers may do with runs.
        tasks: what they may do with tasks.
        source_notes: gives what is to be known of where its actions come from.
    """

    def __init__(
        self,
        *,
        name: str,
        site: Site,
        signals: Signals,
        limits: Limits,
        max_wait: int,
        agents: SiteAgents,
        agent: Agent,
        knowledge: Knowledge,
        registry: Registry,
        limiter: Limiter,
        posting: Posting,
        deleting: Deleting,
        filing: Filing,
        reading: Reading,
        attending: Attending,
        sharing: Sharing,
        streams: Streams,
        runs: Running,
        asking: Asking,
        sessions: Sessions,
        resources: Resources,
        calling: CallingDirectly,
        tasks: Tasks,
        worker: Worker,
        source_notes: Callable[[], tuple[str, ...]],
    ) -> None:
        self.name = name
        self.site = site
        self.signals = signals
        self.limits = limits
        self.agents = agents
        self._agent = agent
        self.runs = runs
        self.tasks = tasks
        self.knowledge = knowledge
        self.registry = registry
        self.limiter = limiter
        self.filing = filing
        self.max_wait = max_wait
        self._posting = posting
        self._deleting = deleting
        self._reading = reading
        self._attending = attending
        self._sharing = sharing
        self._streams = streams
        self._asking = asking
        self._sessions = sessions
        self._resources = resources
        self._calling = calling
        self._worker = worker
        self._source_notes = source_notes

    @property
    def below(self) -> str:
        """The path below which its addresses stand; empty for the site's own."""
        return f"/{self.name}" if self.name else ""

    async def open_thread(
        self, principal: Principal, draft: ThreadDraft, request: Request
    ) -> OpenedThread:
        """Open a thread. See :meth:`aitp_desk.desk.posting.Posting.open_thread`."""
        check_scope(principal)
        return await self._posting.open_thread(principal, draft, request)

    async def post(
        self, principal: Principal, thread_id: str, draft: Draft, request: Request
    ) -> PostedMessage:
        """Add a message to a thread. See :meth:`aitp_desk.desk.posting.Posting.post`."""
        check_scope(principal)
        return await self._posting.post(principal, thread_id, draft, request)

    async def update_thread(
        self, principal: Principal, thread_id: str, update: ThreadUpdate
    ) -> None:
        """Change a thread. See :meth:`aitp_desk.desk.posting.Posting.update`."""
        check_scope(principal)
        await self._posting.update(principal, thread_id, update)

    async def add_actor(self, principal: Principal, thread_id: str, actor: Actor) -> Actor:
        """Have an actor join. See :meth:`aitp_desk.desk.attending.Attending.join`."""
        check_scope(principal)
        return await self._attending.join(principal, thread_id, actor, self._posting.idle_before)

    async def remove_actor(self, principal: Principal, thread_id: str, actor_id: str) -> None:
        """Have an actor leave. See :meth:`aitp_desk.desk.attending.Attending.leave`."""
        check_scope(principal)
        await self._attending.leave(principal, thread_id, actor_id, self._posting.idle_before)

    async def claim_thread(self, principal: Principal, thread_id: str) -> None:
        """Claim an anonymous thread. See :meth:`aitp_desk.desk.sharing.Sharing.claim`."""
        check_scope(principal)
        await self._sharing.claim(principal, thread_id, self._posting.idle_before)

    async def share_thread(
        self, principal: Principal, thread_id: str, draft: GrantDraft
    ) -> tuple[Grant, str | None]:
        """Share a thread. See :meth:`aitp_desk.desk.sharing.Sharing.share`."""
        check_scope(principal)
        return await self._sharing.share(principal, thread_id, draft, self._posting.idle_before)

    async def list_grants(self, principal: Principal, thread_id: str) -> Sequence[Grant]:
        """With whom a thread is shared. See :meth:`aitp_desk.desk.sharing.Sharing.list_grants`."""
        check_scope(principal)
        return await self._sharing.list_grants(principal, thread_id, self._posting.idle_before)

    async def revoke_grant(self, principal: Principal, thread_id: str, grant_id: str) -> None:
        """Take a grant back. See :meth:`aitp_desk.desk.sharing.Sharing.revoke`."""
        check_scope(principal)
        await self._sharing.revoke(principal, thread_id, grant_id, self._posting.idle_before)

    async def read_thread(self, principal: Principal, thread_id: str) -> ThreadView:
        """A thread with its newest messages.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
            Forbidden: the caller's key does not open threads.
        """
        check_scope(principal)
        return await self._reading.view(principal, thread_id, self._posting.idle_before)

    async def look_at_thread(self, principal: Principal, thread_id: str) -> tuple[Thread, Access]:
        """A thread without its messages, and what the caller may do with it.

        Raises:
            ThreadNotFound, Forbidden: as :meth:`read_thread`.
        """
        check_scope(principal)
        kept, access = await self._reading.reach(principal, thread_id, self._posting.idle_before)
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
        """One page of a thread's messages. See :meth:`aitp_desk.desk.reading.Reading.messages`."""
        check_scope(principal)
        return await self._reading.messages(
            principal,
            thread_id,
            self._posting.idle_before,
            limit=limit,
            order=order,
            after=after,
            before=before,
            run_id=run_id,
        )

    async def read_message(self, principal: Principal, thread_id: str, message_id: str) -> Message:
        """One message of a thread. See :meth:`aitp_desk.desk.reading.Reading.message`."""
        check_scope(principal)
        return await self._reading.message(
            principal, thread_id, message_id, self._posting.idle_before
        )

    async def update_message(
        self,
        principal: Principal,
        thread_id: str,
        message_id: str,
        actor: str | None,
        metadata: dict[str, str],
    ) -> Message:
        """Replace the metadata of a message that the caller said.

        See :meth:`aitp_desk.desk.deleting.Deleting.update_message`.
        """
        check_scope(principal)
        updated = await self._deleting.update_message(
            principal, thread_id, message_id, actor, metadata, self._posting.idle_before
        )
        (told,) = await self._reading.telling.tell(principal, thread_id, (updated,))
        return told

    async def find_rights(
        self, principal: Principal, thread_id: str, message_id: str
    ) -> tuple[bool, bool]:
        """What may be done with a message. See :meth:`.deleting.Deleting.find_rights`."""
        check_scope(principal)
        idle_before = self._posting.idle_before
        return await self._deleting.find_rights(principal, thread_id, message_id, idle_before)

    async def delete_message(self, principal: Principal, thread_id: str, message_id: str) -> None:
        """Drop what a message said. See :meth:`aitp_desk.desk.deleting.Deleting.delete_message`."""
        check_scope(principal)
        await self._deleting.delete_message(
            principal, thread_id, message_id, self._posting.idle_before
        )

    async def delete_thread(self, principal: Principal, thread_id: str) -> None:
        """Close a thread for good. See :meth:`aitp_desk.desk.deleting.Deleting.delete_thread`."""
        check_scope(principal)
        await self._deleting.delete_thread(principal, thread_id, self._posting.idle_before)

    async def follow_run(
        self, principal: Principal, run_id: str, seconds: float
    ) -> tuple[Run | None, tuple[Message, ...]]:
        """Wait for a run, at most so many seconds and never longer than ``threads.max_wait``.

        Returns:
            The run as it stands then, and its replies, none while it is not over, and only those
            that the caller may still read.
        """
        return await self._reading.follow_run(
            principal, run_id, min(seconds, self.max_wait), self._posting.idle_before
        )

    async def follow(
        self,
        principal: Principal,
        thread_id: str,
        after: int | None,
        wording: Wording,
        *,
        param: str,
    ) -> Stream:
        """Open a stream of a thread's events. See :meth:`aitp_desk.desk.streams.Streams.open`."""
        check_scope(principal)
        return await self._streams.open(principal, thread_id, after, wording, param=param)

    async def follow_started(
        self,
        principal: Principal,
        start: Callable[[], Awaitable[Run]],
        word: Callable[[Run], RunWording],
    ) -> Stream:
        """Start a run and follow it. See :meth:`aitp_desk.desk.streams.Streams.open_run`."""
        return await self._streams.open_run(principal, start, word)

    async def follow_told(
        self, principal: Principal, tell: Callable[[], AsyncIterator[bytes]]
    ) -> Stream:
        """Open a stream of pieces. See :meth:`aitp_desk.desk.streams.Streams.open_told`."""
        return await self._streams.open_told(principal, tell)

    async def ask(
        self, principal: Principal, ask: Ask, allowance: Allowance | None = None
    ) -> Asked:
        """Answer a question within its request. See :meth:`aitp_desk.desk.asking.Asking.ask`."""
        return await self._asking.ask(principal, ask, allowance)

    async def thread_of(self, principal: Principal, name: str) -> str:
        """The thread of a session. See :meth:`aitp_desk.desk.sessions.Sessions.thread_of`."""
        return await self._sessions.thread_of(principal, name)

    async def session_of(self, principal: Principal, thread_id: str) -> str:
        """A thread's session. See :meth:`aitp_desk.desk.sessions.Sessions.name`."""
        return await self._sessions.name(principal, thread_id)

    @property
    def resource_types(self) -> tuple[ResourceType, ...]:
        """The types of all resources that there are, in the order of their declaration."""
        return self._resources.offered

    def list_resources(self, principal: Principal) -> tuple[ResourceType, ...]:
        """What a caller may read. See :meth:`aitp_desk.desk.resources.Resources.types`."""
        return self._resources.types(principal)

    async def read_resource(self, principal: Principal, path: str) -> ResourceView:
        """Read a resource. See :meth:`aitp_desk.desk.resources.Resources.read`."""
        return await self._resources.read(principal, path)

    async def call_status(self, principal: Principal, session_id: str) -> CallStatus:
        """How a call stands. See :meth:`aitp_desk.desk.asking.Asking.call_status`."""
        return await self._asking.call_status(principal, session_id)

    async def call(
        self,
        principal: Principal,
        asked: DirectCall,
        request: Request,
        allowance: Allowance | None = None,
    ) -> CallStatus:
        """Call an action by its arguments.

        See :meth:`aitp_desk.desk.calling_directly.CallingDirectly.call`.
        """
        return await self._calling.call(principal, asked, request, allowance)

    def calling_once(
        self, principal: Principal, asked: DirectCall, request: Request
    ) -> AbstractAsyncContextManager[Begun]:
        """Hold a request's key while a call is made with it in a conversation.

        See :meth:`aitp_desk.desk.calling_directly.CallingDirectly.once`.
        """
        return self._calling.once(principal, asked, request)

    async def made_call(self, principal: Principal, name: str, call_id: str) -> CallStatus:
        """How such a call stands.

        See :meth:`aitp_desk.desk.calling_directly.CallingDirectly.status`.
        """
        return await self._calling.status(principal, name, call_id)

    async def ended_call(self, call_id: str) -> CallStatus | None:
        """How a call ended, for whoever is to be told; None where it has not."""
        return await self._asking.ended_call(call_id)

    @property
    def requires_intent(self) -> bool:
        """Whether it must be said what a call is for, where something may change."""
        return self._calling.requires_intent

    @property
    def longest_eta(self) -> int | None:
        """How long a call goes on, of the action that takes longest; None where it is not known."""
        return self._asking.longest_eta

    @property
    def cache_counts(self) -> CacheCounts:
        """What became of first questions and of kept answers, to be read and not written."""
        return self._asking.cache_counts

    def forget(self) -> None:
        """Drop what is held in memory of what was said. See :mod:`aitp_desk.desk.forgetting`."""
        self._asking.forget()

    def people_acted(self) -> None:
        """Take note that people have spoken, or have taken threads over, wherever that was.

        Conversations are read back as they stand, and nobody talks over them.
        """
        self._asking.forget_conversations()
        self._worker.review()

    async def check_ready(self) -> Readiness:
        """Whether the store answers, the content is read and runs are taken up; and who answers."""
        notes = [JOBS_DEAD] if await self._reading.has_dead_jobs() else []
        stand_in = self._agent.stand_in if isinstance(self._agent, Rationed) else None
        if stand_in is not None:
            notes.append(TOKENS_SPENT)
        editions = self.knowledge.editions
        working = self._worker.is_working and await self._reading.answers()
        return Readiness(
            working,
            working,
            len(editions.documents),
            len(editions.library.passages),
            len(editions.problems),
            stand_in or self._agent.name,
            (*notes, *self._source_notes()),
        )
