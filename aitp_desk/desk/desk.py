"""The desk: the services that every protocol calls, in one object."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from aitp_desk.agent.base import Agent
from aitp_desk.config import Limits, Signals, Site
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.access.sealed_values import SealedValues
from aitp_desk.desk.access.site_agents import SiteAgents
from aitp_desk.desk.calls.registry import ActionRegistry
from aitp_desk.desk.conversations.service import ConversationService
from aitp_desk.desk.dialogue.answer_cache import CacheCounts
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.direct.calls import DirectCall, DirectCalls, PreparedCall
from aitp_desk.desk.direct.paid_resources import PaidResources
from aitp_desk.desk.direct.resources import Resources, ResourceView
from aitp_desk.desk.events.channel import EventFormat
from aitp_desk.desk.events.run_stream import RunEventFormat
from aitp_desk.desk.limits.rate_limits import Allowance, RateLimiter
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.desk.maintenance.readiness import Readiness, make_readiness
from aitp_desk.desk.payments.replies import PaymentReplies
from aitp_desk.desk.plugins.judge import Judge
from aitp_desk.desk.runs.service import RunService
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.desk.tasks.service import TaskService
from aitp_desk.desk.threads.files import FileService
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.desk.threads.open_requests import OpenRequests
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.service import ThreadService
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.desk.threads.streams import Stream, ThreadStreams
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.resource import ResourceType
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Message


class Desk:
    """The services of one desk. They check access, limits and repeats; protocols only translate.

    Parameters:
        name: of the further site agent; empty for the site's own.
        site: the website; ``site.url`` is the only source of absolute addresses.
        signals: how the site's content may be used.
        limits: the limits that the manifest declares.
        max_wait: maximum seconds that a caller may wait for a run.
        judging: lets plugins judge messages.
        agents: the site's agents, as callers see them.
        agent: the agent that answers.
        awaiting: the open requests on threads.
        paid_replies: waits for the replies to payments on threads.
        sealed: reveals sealed values to callers that may read them.
        checking: checks the health of its components.
        source_notes: returns notes on the sources of its actions.
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
        registry: ActionRegistry,
        limiter: RateLimiter,
        judging: Judge,
        threads: ThreadService,
        posting: MessageService,
        filing: FileService,
        reading: ThreadReader,
        awaiting: OpenRequests,
        paid_replies: PaymentReplies,
        streams: ThreadStreams,
        runs: RunService,
        asking: ConversationService,
        sessions: SessionService,
        resources: Resources,
        calling: DirectCalls,
        sealed: SealedValues,
        tasks: TaskService,
        worker: RunWorker,
        checking: HealthChecks,
        source_notes: Callable[[], tuple[str, ...]],
    ) -> None:
        self.name = name
        self.site = site
        self.signals = signals
        self.limits = limits
        self.agents = agents
        self._agent = agent
        self.awaiting = awaiting
        self.runs = runs
        self.tasks = tasks
        self.knowledge = knowledge
        self.registry = registry
        self.limiter = limiter
        self.filing = filing
        self.sealed = sealed
        self.max_wait = max_wait
        self.judging = judging
        self.threads = threads
        self._posting = posting
        self._reading = reading
        self._paid_replies = paid_replies
        self._streams = streams
        self.asking = asking
        self._sessions = sessions
        self._resources = resources
        self._paid_reading = PaidResources(resources, calling, limiter)
        self.calling = calling
        self._worker = worker
        self._checking = checking
        self._source_notes = source_notes

    @property
    def base_path(self) -> str:
        """The path prefix of its addresses; empty for the site's own desk."""
        return f"/{self.name}" if self.name else ""

    async def wait_for_run(
        self, principal: Principal, run_id: str, seconds: float
    ) -> tuple[Run | None, tuple[Message, ...]]:
        """Wait for a run, up to ``seconds`` and never longer than ``threads.max_wait``.

        Returns:
            As :meth:`aitp_desk.desk.threads.reader.ThreadReader.wait_for_run`.
        """
        return await self._reading.wait_for_run(
            principal, run_id, min(seconds, self.max_wait), self._posting.idle_before
        )

    async def wait_for_payment(
        self, principal: Principal, said: Message, seconds: float
    ) -> tuple[Message, ...]:
        """Wait for the outcome of a payment message, at most as long as :meth:`wait_for_run`.

        Returns:
            See :meth:`aitp_desk.desk.payments.replies.PaymentReplies.wait_for_replies`.
        """
        return await self._paid_replies.wait_for_replies(
            principal, said, min(seconds, self.max_wait), self._posting.idle_before
        )

    async def follow_thread(
        self,
        principal: Principal,
        thread_id: str,
        after: int | None,
        wording: EventFormat,
        *,
        param: str,
        in_words: bool = True,
    ) -> Stream:
        """Open a stream of a thread's events.

        See :meth:`aitp_desk.desk.threads.streams.ThreadStreams.open_thread`.
        """
        check_scope(principal)
        return await self._streams.open_thread(
            principal, thread_id, after, wording, param=param, in_words=in_words
        )

    async def follow_new_run(
        self,
        principal: Principal,
        start: Callable[[], Awaitable[Run]],
        word: Callable[[Run], RunEventFormat],
    ) -> Stream:
        """Start a run and open a stream of it.

        See :meth:`aitp_desk.desk.threads.streams.ThreadStreams.open_run`.
        """
        return await self._streams.open_run(principal, start, word)

    async def follow_pieces(
        self, principal: Principal, tell: Callable[[], AsyncIterator[bytes]]
    ) -> Stream:
        """Open a stream of prepared events.

        See :meth:`aitp_desk.desk.threads.streams.ThreadStreams.open_pieces`.
        """
        return await self._streams.open_pieces(principal, tell)

    async def thread_of(self, principal: Principal, name: str) -> str:
        """Return the thread id of a session.

        See :meth:`aitp_desk.desk.threads.sessions.SessionService.find_thread`.
        """
        return await self._sessions.find_thread(principal, name)

    async def session_of(self, principal: Principal, thread_id: str) -> str:
        """Return the session id of a thread.

        See :meth:`aitp_desk.desk.threads.sessions.SessionService.get_session_name`.
        """
        return await self._sessions.get_session_name(principal, thread_id)

    def new_session(self, principal: Principal) -> str:
        """Create a session and return its id."""
        return self._sessions.open_session(principal).id

    @property
    def resource_types(self) -> tuple[ResourceType, ...]:
        """The types of all resources, in the order of their declaration."""
        return self._resources.all_types

    def list_resources(self, principal: Principal) -> tuple[ResourceType, ...]:
        """Return the types of resources that a caller may read.

        See :meth:`aitp_desk.desk.direct.resources.Resources.list_types`.
        """
        return self._resources.list_types(principal)

    async def read_resource(
        self,
        principal: Principal,
        path: str,
        payment: Mapping[str, Any] | None = None,
        allowance: Allowance | None = None,
    ) -> ResourceView | CallStatus:
        """Read a resource. See :meth:`aitp_desk.desk.direct.paid_resources.PaidResources.read`."""
        return await self._paid_reading.read(principal, path, payment, allowance)

    @property
    def payment_methods(self) -> frozenset[str]:
        """The accepted payment methods, by their protocol names, such as ``x402``."""
        found = (one.capability.ways_to_pay() for one in self.judging.capabilities.all)
        return frozenset(way for ways in found for way in ways)

    async def call_status(self, principal: Principal, session_id: str) -> CallStatus:
        """Return the status of a call.

        See :meth:`aitp_desk.desk.conversations.service.ConversationService.call_status`.
        """
        return await self.asking.call_status(principal, session_id)

    def hold_key(
        self, principal: Principal, asked: DirectCall, request: RequestInfo
    ) -> AbstractAsyncContextManager[PreparedCall]:
        """Hold a request's key while a call is made with it in a conversation.

        See :meth:`aitp_desk.desk.direct.calls.DirectCalls.hold_key`.
        """
        return self.calling.hold_key(principal, asked, request)

    async def get_call(self, principal: Principal, name: str, call_id: str) -> CallStatus:
        """Return the status of a direct call.

        See :meth:`aitp_desk.desk.direct.calls.DirectCalls.get_own_call`.
        """
        return await self.calling.get_own_call(principal, name, call_id)

    async def describe_ended_call(self, call_id: str) -> CallStatus | None:
        """Return how a call ended, for a notification; None while it has not."""
        return await self.asking.describe_ended_call(call_id)

    @property
    def requires_intent(self) -> bool:
        """Whether calls that may change something must state their intent."""
        return self.calling.requires_intent

    @property
    def longest_eta(self) -> int | None:
        """The longest duration of an action in seconds; None if it is not known."""
        return self.asking.longest_eta

    @property
    def cache_counts(self) -> CacheCounts:
        """Counts of the answer cache, read-only."""
        return self.asking.cache_counts

    def clear_caches(self) -> None:
        """Drop all conversation content held in memory.

        See :mod:`aitp_desk.desk.maintenance.cache_eviction`.
        """
        self.asking.clear_caches()

    def on_people_acted(self) -> None:
        """Handle operators' messages and takeovers, in this process or another.

        Cached conversations are dropped, so they are read from the store again, and runs on threads
        that were taken over stop.
        """
        self.asking.clear_conversations()
        self._worker.stop_taken_over()

    async def check_ready(self) -> Readiness:
        """Return the desk's readiness: its components' health, its content, and its agent."""
        components = await self._checking.get_components()
        return make_readiness(components, self.knowledge, self._agent, self._source_notes())
