"""Assembles the services that all desks of a process share."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from aitp_desk.agent.base import Agent
from aitp_desk.app.shared_state import SharedState, build_shared_state
from aitp_desk.auth.credentials.guess_limiter import GuessLimiter, make_code_limiter
from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.auth.keys.encryption import TextSealer
from aitp_desk.auth.keys.transcript_keys import TranscriptKeys
from aitp_desk.auth.keys.webhook_signatures import WebhookSigner
from aitp_desk.capability import Send
from aitp_desk.config import Config
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.access.idempotency import IdempotencyKeys
from aitp_desk.desk.access.sealed_values import SealedValues, Sealer
from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.desk.calls.async_calls import AsyncCalls
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.events.events import read_thread_events
from aitp_desk.desk.jobs.callbacks import Callbacks
from aitp_desk.desk.jobs.process_watch import ProcessWatch
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.jobs.scheduler import Scheduler
from aitp_desk.desk.limits.agent_policies import AgentPolicies
from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.desk.limits.tiers import Tiers
from aitp_desk.desk.limits.token_usage import TokenUsage
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.desk.plugins.outside.jobs import PluginJobs
from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.desk.plugins.outside.rounds import register_rounds
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.runs.summaries import ThreadSummarizer
from aitp_desk.desk.tasks.push import PushNotifications
from aitp_desk.desk.threads.disposal import ThreadDisposal
from aitp_desk.desk.threads.files import FileService
from aitp_desk.desk.tickets.notifications import TicketNotifications
from aitp_desk.egress import Egress
from aitp_desk.model.access.audit import AuditKeys
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.store.base import Store
from aitp_desk.store.changes import ChangeFeed
from aitp_desk.store.contents.base import FileContents
from aitp_desk.store.engine.engines import find_engine
from aitp_desk.store.valkey import ValkeyServer


class Services(msgspec.Struct, frozen=True):
    """Holds the services that all desks of a process share.

    Parameters:
        contents: keeps the bytes of files.
        disposal: deletes threads that are not to be kept.
        processes: tells which processes of the database are gone.
        jobs: the queue of background jobs.
        notices: notify operators of new tickets.
        schedules: runs recurring jobs.
        callbacks: notifies callers of the end of a call.
        async_calls: executes calls that continue after they were accepted.
        push: notifies callers of the progress of tasks.
        own_names: the names of all desks' agents on threads.
        slots: limits the streams open at all desks together.
        shared: what the processes of the desk share.
        audit: the keys of the audit log.
        audit_log: writes protocol events into the audit log.
        named_agents: stricter limits for named agents.
        tiers: callers with limits of their tier.
        tokens_used: the tokens that models have used on the day.
        capabilities: the families of structured messages that the site has enabled.
        sealer: encrypts values that are shown only on request.
        sealed: shows these to those who may read them.
        guesses: limits failed look-ups of secret codes; None for no limit.
        key_guesses: the same for invalid API keys.
        health_checks: the health of all components.
        send: sends the requests of capabilities to other servers.
        transcript_keys: sign transcripts of threads.
        hash_link: hashes the secret of a link, for storage.
        asked_from: hashes the origin of a request for a person, for storage.
        feed: carries changes to other processes.
    """

    store: Store
    events: Broadcaster
    idempotency: IdempotencyKeys
    files: FileService
    contents: FileContents
    disposal: ThreadDisposal
    summarizer: ThreadSummarizer
    processes: ProcessWatch
    jobs: JobQueue
    notices: TicketNotifications
    schedules: Scheduler
    callbacks: Callbacks
    async_calls: AsyncCalls
    push: PushNotifications
    own_names: OwnNames
    slots: ConcurrencySlots
    shared: SharedState
    audit: AuditKeys
    audit_log: AuditLog
    named_agents: AgentPolicies
    tiers: Tiers
    tokens_used: TokenUsage
    capabilities: PluginRegistry
    sealer: Sealer
    sealed: SealedValues
    guesses: GuessLimiter | None
    key_guesses: GuessLimiter | None
    health_checks: HealthChecks
    send: Send
    transcript_keys: TranscriptKeys
    hash_link: Callable[[str], bytes]
    asked_from: Callable[[bytes], bytes]
    feed: ChangeFeed
    clock: Callable[[], float]


def build_services(
    config: Config,
    *,
    store: Store,
    keys: DataKeys,
    egress: Egress,
    agent: Agent,
    actors: Mapping[str, Actor],
    tokens_used: TokenUsage,
    capabilities: PluginRegistry,
    health_checks: HealthChecks,
    contents: FileContents,
    valkey: ValkeyServer | None,
    feed: ChangeFeed,
    clock: Callable[[], float],
) -> Services:
    """Build the services that all desks share.

    Parameters:
        agent: of the site's main desk; it also summarizes the conversations of all desks.
        actors: of the desks, by the names of the desks.
        capabilities: those that the site has enabled.
        health_checks: the health of the desk.
        contents: keeps the bytes of files.
        valkey: the server through which processes share limits and answers; None for none.
        feed: carries changes to other processes.
        clock: Unix seconds.
    """
    name = f"{socket.gethostname()}/{health_checks.worker or config.server.port}"
    processes = ProcessWatch(store, name, clock)
    worker = processes.process
    is_shared = find_engine(config.store.url).is_shared
    events = Broadcaster(partial(read_thread_events, store), feed.publish if is_shared else None)
    jobs = JobQueue(
        store=store, worker=worker, clock=clock, is_shared=is_shared, offer=events.offer_work
    )
    webhooks = WebhookSigner(
        store=store,
        keys=keys,
        signing_keys=SigningKeys(keys) if config.oauth.enabled else None,
        clock=clock,
    )
    notices = TicketNotifications(
        store=store,
        egress=egress,
        webhooks=webhooks,
        settings=config.notify,
        jobs=jobs,
        clock=clock,
    )
    notices.register_kinds()
    callbacks = Callbacks(egress=egress, webhooks=webhooks, settings=config.callbacks)
    text_sealer = TextSealer(keys)
    sealer = Sealer(text_sealer, clock)
    shared = build_shared_state(
        config,
        valkey,
        events,
        process=worker,
        digest=make_digester(keys, "shared state"),
    )
    named_agents = AgentPolicies(config.agent_limits, clock)
    shared.counts.add("named agents", named_agents.counters)
    guesses = make_code_limiter(clock) if config.limits.enabled else None
    key_guesses = GuessLimiter(clock) if config.limits.enabled else None
    if guesses is not None:
        shared.counts.add("codes", guesses.counters)
    if key_guesses is not None:
        shared.counts.add("keys", key_guesses.counters)
    send = make_sender(egress)
    schedules = Scheduler(store, worker, clock, is_shared=is_shared)
    register_rounds(capabilities, schedules, send)
    PluginJobs(
        capabilities,
        store=store,
        jobs=jobs,
        actors=actors,
        audit=derive_audit_keys(keys),
        send=send,
        changed=events.notify_change,
        clock=clock,
    ).register_kinds()
    return Services(
        store=store,
        events=events,
        idempotency=IdempotencyKeys(make_digester(keys, "idempotency"), clock),
        files=FileService(
            store=store,
            contents=contents,
            settings=config.files,
            anonymous_days=config.threads.anonymous_ttl,
            digest=make_digester(keys, "files"),
            clock=clock,
        ),
        contents=contents,
        disposal=ThreadDisposal(store=store, jobs=jobs, events=events, clock=clock),
        summarizer=ThreadSummarizer(
            store=store, agent=agent, bounds=config.threads, capabilities=capabilities
        ),
        processes=processes,
        jobs=jobs,
        notices=notices,
        schedules=schedules,
        callbacks=callbacks,
        async_calls=AsyncCalls(store=store, jobs=jobs, events=events, clock=clock),
        push=PushNotifications(
            store=store,
            egress=egress,
            text_sealer=text_sealer,
            settings=config.callbacks,
            events=events,
            jobs=jobs,
            clock=clock,
        ),
        own_names=OwnNames(tuple(actors.values())),
        slots=ConcurrencySlots(
            "streams",
            most=config.events.max_streams,
            most_per_caller=config.events.max_streams_per_caller,
            most_per_address=config.events.max_streams_per_address,
        ),
        shared=shared,
        audit=derive_audit_keys(keys),
        audit_log=AuditLog(store, derive_audit_keys(keys), clock),
        named_agents=named_agents,
        tiers=Tiers(config.tiers),
        tokens_used=tokens_used,
        capabilities=capabilities,
        sealer=sealer,
        guesses=guesses,
        key_guesses=key_guesses,
        sealed=SealedValues(store, sealer, derive_audit_keys(keys), clock),
        health_checks=health_checks,
        send=send,
        transcript_keys=TranscriptKeys(keys),
        hash_link=keys.hash_link,
        asked_from=make_digester(keys, "asked from"),
        feed=feed,
        clock=clock,
    )


def make_digester(keys: DataKeys, purpose: str) -> Callable[[bytes], bytes]:
    """Make a keyed digest function for one purpose."""
    return partial(hmac.digest, keys.derive(purpose), digest="sha256")
