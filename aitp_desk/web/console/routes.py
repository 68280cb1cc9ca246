"""Assembles the console: its files and its API (``/console/api``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.auth.console_sessions import ConsoleSessions
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
from aitp_desk.desk.tickets.inbox import OperatorInbox
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.similarity import TicketSimilarity
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.access.audit import AuditKeys
from aitp_desk.protocols.base.protocol import EVENT_STREAM, ProtocolRoutes
from aitp_desk.store.base import Store
from aitp_desk.web.console.assets import CONSOLE_PATH, ConsoleFiles
from aitp_desk.web.console.health import HealthRoutes
from aitp_desk.web.console.live import LiveStreams
from aitp_desk.web.console.load import LoadRoutes
from aitp_desk.web.console.objects import OBJECTS
from aitp_desk.web.console.operator import MAX_BODY, OperatorActions
from aitp_desk.web.console.pulse import ChangeSignal
from aitp_desk.web.console.refusals import RefusalRoutes
from aitp_desk.web.console.sealed_values import SealedRoutes
from aitp_desk.web.console.sessions import SessionRoutes
from aitp_desk.web.console.threads.events_wire import ConsoleEventFormat
from aitp_desk.web.console.threads.routes import ThreadsRoutes
from aitp_desk.web.console.tickets.routes import TicketsRoutes
from aitp_desk.web.console.wire import render_error

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
        capabilities: render their messages for operators.
    """
    if sessions is None:
        return ()
    registries = {desk.name: desk.registry for desk in desks}
    inbox = OperatorInbox(store, registries, clock, capabilities)
    pulse = ChangeSignal(inbox.read_version)
    operator_actions = OperatorActions(audit, desks, broadcaster, pulse, clock)
    slugs = tuple(one.slug for one in capabilities.all if one.asks)
    signing_in = SessionRoutes(
        sessions, desks[0].site, inbox.agents, slugs, audit_log.note_refused_credential, clock
    )
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
        *tickets.routes(signing_in),
        *threads.routes(signing_in),
        signing_in.route("GET", events, live.follow_thread, gives=EVENT_STREAM),
        signing_in.route("GET", "live", live.follow_waiting, gives=EVENT_STREAM),
        signing_in.route("GET", "unanswered", RefusalRoutes(similarity, audit_log).show),
        signing_in.route("GET", "load", LoadRoutes(inbox).show),
        signing_in.route("GET", "health", HealthRoutes(health_checks).show),
        signing_in.route("POST", "sealed/{ref}", SealedRoutes(sealed).reveal, MAX_BODY),
    )
    owned = (f"{CONSOLE_PATH}/",)
    return (
        ProtocolRoutes("console", routes, owned, render_error, beside=pulse.run, objects=OBJECTS),
    )
