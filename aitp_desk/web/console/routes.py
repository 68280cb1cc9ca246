"""Assembles the console: its files and its API (``/console/api``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from aitp_desk.auth.console_sessions import ConsoleSessions, Session
from aitp_desk.auth.credentials.guess_limiter import GuessLimiter
from aitp_desk.auth.credentials.proof_cache import CredentialEpoch
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.config import Config
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.access.idempotency import IdempotencyKeys
from aitp_desk.desk.access.sealed_values import SealedValues
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.tickets.bindings import OperatorBindings
from aitp_desk.desk.tickets.inbox import MAX_HOURS, OperatorInbox
from aitp_desk.desk.tickets.insights.figures import FigureReader
from aitp_desk.desk.tickets.insights.questions import QuestionReview
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.similarity import TicketSimilarity
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.knowledge.refusals import RefusalGroup
from aitp_desk.model.access.audit import AuditKeys
from aitp_desk.model.component import Component, state_of
from aitp_desk.model.timestamps import write_timestamp
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Call, ProtocolRoutes, Reply
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console.load import HOUR
from aitp_desk.store.records.console import LoadHour
from aitp_desk.web.console.assets import CONSOLE_PATH, ConsoleFiles
from aitp_desk.web.console.insights.objects import INSIGHT_OBJECTS
from aitp_desk.web.console.insights.routes import InsightsRoutes
from aitp_desk.web.console.live import LiveStreams
from aitp_desk.web.console.objects import (
    OBJECTS,
    ConsoleComponent,
    ConsoleHealth,
    ConsoleHour,
    ConsoleLoad,
    ConsoleQuestions,
    ConsoleSealed,
    ConsoleUnanswered,
    ConsoleWaiting,
    EmptyBody,
)
from aitp_desk.web.console.operator import MAX_BODY, OperatorActions
from aitp_desk.web.console.platforms import PlatformRoutes
from aitp_desk.web.console.pulse import ChangeSignal
from aitp_desk.web.console.sessions import SessionRoutes
from aitp_desk.web.console.threads.events_wire import ConsoleEventFormat
from aitp_desk.web.console.threads.routes import ThreadsRoutes
from aitp_desk.web.console.tickets.routes import TicketsRoutes
from aitp_desk.web.console.wire import (
    decode_body,
    decode_count,
    encode,
    render_error,
)


class SealedRoutes:
    """Reveals a sealed value of any desk, after recording it in the audit log."""

    def __init__(self, sealed: SealedValues) -> None:
        self._sealed = sealed

    async def reveal(self, _session: Session, call: Call) -> Reply:
        """``POST sealed/{ref}``: the value; the page asks each time that it shows it.

        It changes nothing but the audit log, and is no GET so that no page of another site can have
        a browser send it.
        """
        decode_body(call.body, EmptyBody)
        revealed = await self._sealed.reveal(call.principal, call.params["ref"], everywhere=True)
        return Reply(200, encode(ConsoleSealed(revealed.value)))


_MOST = 100
"""How many groups of questions are listed."""
_OTHERS = 5
"""How many other wordings of a group are listed."""


class RefusalRoutes:
    """Serves visitors' questions that the content did not answer."""

    def __init__(self, similarity: TicketSimilarity, audit_log: AuditLog) -> None:
        self._similarity = similarity
        self._audit_log = audit_log

    async def show(self, _session: Session, call: Call) -> Reply:
        """``GET unanswered``: groups of questions, the most frequent first."""
        await self._audit_log.note_operator_list(call.principal, "threads", "")
        groups = await self._similarity.list_unanswered()
        return Reply(200, encode(ConsoleUnanswered([_write_group(one) for one in groups[:_MOST]])))


def _write_group(one: RefusalGroup) -> ConsoleQuestions:
    return ConsoleQuestions(
        question=one.newest.question,
        others=one.others[:_OTHERS],
        times=one.times,
        last_at=write_timestamp(one.newest.at),
        thread=one.newest.thread_id,
        agent=one.newest.desk or None,
    )


DEFAULT_HOURS: Final = 24


class LoadRoutes:
    """Serves the figures."""

    def __init__(self, inbox: OperatorInbox) -> None:
        self._inbox = inbox

    async def show(self, session: Session, call: Call) -> Reply:
        """``GET load``: by the hour, and now."""
        asked = decode_count(call.query, "hours", DEFAULT_HOURS, MAX_HOURS)
        hours = await self._inbox.read_load(asked)
        waiting = await self._inbox.count_waiting(session.operator)
        now = ConsoleWaiting(waiting.open, waiting.taken, waiting.oldest_open_seconds)
        return Reply(200, encode(ConsoleLoad(HOUR, [_write_hour(hour) for hour in hours], now)))


def _write_hour(hour: LoadHour) -> ConsoleHour:
    """Write the figures of an hour."""
    return ConsoleHour(
        at=write_timestamp(hour.at),
        messages=hour.messages,
        visitors_messages=hour.visitors_messages,
        tickets=hour.tickets,
        ended=hour.ended,
        waited_seconds=hour.waited_seconds,
    )


class HealthRoutes:
    """Serves the health of the desk."""

    def __init__(self, health_checks: HealthChecks) -> None:
        self._health_checks = health_checks

    async def show(self, _session: Session, _call: Call) -> Reply:
        """``GET health``: of the desk and of each component."""
        components = await self._health_checks.get_components()
        data = [_write_component(one) for one in components]
        return Reply(200, encode(ConsoleHealth(state_of(components), data)))


def _write_component(component: Component) -> ConsoleComponent:
    """Write a component; ``elsewhere`` marks an outside system that is only watched."""
    return ConsoleComponent(
        component.name,
        component.state,
        write_timestamp(component.since),
        component.reason,
        component.part == "elsewhere",
    )


HOUR_SECONDS = 3600


def make_sessions(
    config: Config,
    *,
    store: Store,
    keys: DataKeys,
    epoch: CredentialEpoch,
    guesses: GuessLimiter | None,
    clock: Callable[[], float],
) -> ConsoleSessions | None:
    """Make the sessions of operators; None where the console is disabled.

    Parameters:
        keys: the desk's data keys.
        epoch: that of credentials.
        guesses: limits failed look-ups of API keys.
        clock: Unix seconds.
    """
    if not config.console.enabled:
        return None
    return ConsoleSessions(
        store=store,
        keys=keys,
        epoch=epoch,
        guesses=guesses,
        seconds=config.console.hours * HOUR_SECONDS,
        clock=clock,
    )


def make_routes(
    config: Config,
    sessions: ConsoleSessions | None,
    *,
    desks: Sequence[Desk],
    audit_log: AuditLog,
    store: Store,
    audit: AuditKeys,
    broadcaster: Broadcaster,
    slots: ConcurrencySlots,
    clock: Callable[[], float],
    capabilities: PluginRegistry,
    health_checks: HealthChecks,
    sealed: SealedValues,
    idempotency: IdempotencyKeys,
    keys: DataKeys,
) -> tuple[ProtocolRoutes, ...]:
    """Return the console's routes; empty where it is disabled.

    Parameters:
        desks: of all site agents, the main one first.
        audit_log: audits what operators read.
        audit: the keys of the audit log.
        slots: limits open streams.
        clock: Unix seconds.
        sealed: reveals values to operators who may read them.
        idempotency: detects repeated requests.
        keys: the desk's data keys.
        capabilities: render their messages for operators.
    """
    if sessions is None:
        return ()
    registries = {desk.name: desk.registry for desk in desks}
    inbox = OperatorInbox(store, registries, clock, capabilities)
    pulse = ChangeSignal(inbox.read_version)
    operator_actions = OperatorActions(audit, desks, broadcaster, pulse, clock)
    slugs = tuple(one.slug for one in capabilities.all if one.asks)
    platforms = tuple(
        name for name, settings in config.transports.items() if settings.get("operators")
    )
    signing_in = SessionRoutes(
        sessions,
        desks[0].site,
        inbox.agents,
        slugs,
        audit_log.note_refused_credential,
        clock,
        platforms,
    )
    bindings = PlatformRoutes(store, OperatorBindings(store, audit, clock), platforms)
    judging = {desk.name: desk.judge for desk in desks}
    similarity = TicketSimilarity(store, {desk.name: desk.knowledge for desk in desks})
    tickets = TicketsRoutes(
        inbox, EscalationService(store, clock), operator_actions, audit_log, similarity
    )
    stepping_in = Takeover(store, clock, judging)
    threads = ThreadsRoutes(
        inbox, stepping_in, operator_actions, capabilities, idempotency, audit_log
    )
    by_name = {desk.name: desk for desk in desks}
    contents = {desk.name: desk.knowledge for desk in desks}
    insights = InsightsRoutes(
        FigureReader(store, clock),
        QuestionReview(store, contents, keys.derive("answered questions"), clock),
        operator_actions,
        audit_log,
        tuple(contents),
        desks[0].site.url,
    )
    live = LiveStreams(
        inbox,
        by_name,
        pulse,
        slots,
        config.events.heartbeat_seconds,
        ConsoleEventFormat(capabilities),
        broadcaster,
    )
    events = "threads/{thread_id}/events"
    routes = (
        *ConsoleFiles(config.site.url).routes(),
        *signing_in.routes(),
        *bindings.routes(signing_in),
        *tickets.routes(signing_in),
        *threads.routes(signing_in),
        *insights.routes(signing_in),
        signing_in.route("GET", events, live.follow_thread, gives=EVENT_STREAM),
        signing_in.route("GET", "live", live.follow_waiting, gives=EVENT_STREAM),
        signing_in.route("GET", "unanswered", RefusalRoutes(similarity, audit_log).show),
        signing_in.route("GET", "load", LoadRoutes(inbox).show),
        signing_in.route("GET", "health", HealthRoutes(health_checks).show),
        signing_in.route("POST", "sealed/{ref}", SealedRoutes(sealed).reveal, MAX_BODY),
    )
    owned = (f"{CONSOLE_PATH}/",)
    return (
        ProtocolRoutes(
            "console",
            routes,
            owned,
            render_error,
            background=pulse.run,
            objects=(*OBJECTS, *INSIGHT_OBJECTS),
        ),
    )
