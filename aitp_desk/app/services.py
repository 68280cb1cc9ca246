"""What all desks of a process share, put together."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from aitp_desk.agent.base import Agent
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
from aitp_desk.desk.threads.files import FileService
from aitp_desk.desk.tickets.notifications import TicketNotifications
from aitp_desk.egress import Egress
from aitp_desk.model.access.audit import AuditKeys
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.store.base import Store


class Services(msgspec.Struct, frozen=True):
    """What all desks of a process share.

    Parameters:
        jobs: what is to be done besides answering.
        schedules: what is done again and again.
        callbacks: how callers are told of the end of a call.
        taking_on: has calls carried out that go on after they were accepted.
        task_pushing: how callers are told how tasks go on.
        own_names: what the agents of all desks are called on threads.
        places: the streams that are open at all desks together.
        audit: the keys of the audit log.
        noting: notes in it what is seen at the protocols.
        named_agents: what agents may do less, by their names.
        tiers: which callers have limits of their own.
        tokens_used: what models have used on the day.
        capabilities: the families of structured messages that the site has enabled.
        sealer: seals what nobody is to read in passing.
        sealed: tells that to whoever may read it.
        guesses: bounds how many of their secrets are looked up in vain; None for no bound.
        checking: knows how all that is.
        send: asks other servers for them.
        transcript_keys: what signs transcripts of threads.
        hash_link: what is kept of the secret of a link.
        asked_from: what is kept of who has asked for a person.
    """

    store: Store
    following: Broadcaster
    repeats: IdempotencyKeys
    filing: FileService
    summarising: ThreadSummarizer
    jobs: JobQueue
    schedules: Scheduler
    callbacks: Callbacks
    taking_on: AsyncCalls
    task_pushing: PushNotifications
    own_names: OwnNames
    places: ConcurrencySlots
    audit: AuditKeys
    noting: AuditLog
    named_agents: AgentPolicies
    tiers: Tiers
    tokens_used: TokenUsage
    capabilities: PluginRegistry
    sealer: Sealer
    sealed: SealedValues
    guesses: GuessLimiter | None
    checking: HealthChecks
    send: Send
    transcript_keys: TranscriptKeys
    hash_link: Callable[[str], bytes]
    asked_from: Callable[[bytes], bytes]
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
    checking: HealthChecks,
    clock: Callable[[], float],
) -> Services:
    """Put together what all desks share.

    Parameters:
        agent: who answers at the site's own desk, and shortens conversations at all.
        actors: the desks' own, by the names of the desks.
        capabilities: those that the site has enabled.
        checking: knows how the desk is.
        clock: Unix seconds.
    """
    jobs = JobQueue(store=store, clock=clock)
    TicketNotifications(
        store=store,
        egress=egress,
        webhooks=make_webhooks(config, store, keys, clock),
        settings=config.notify,
        jobs=jobs,
        clock=clock,
    ).register_kinds()
    callbacks = make_callbacks(config, store, keys, egress, clock)
    sealing = TextSealer(keys)
    sealer = Sealer(sealing, clock)
    following = Broadcaster(partial(read_thread_events, store))
    send, schedules = make_sender(egress), Scheduler(store, clock)
    register_rounds(capabilities, schedules, send)
    PluginJobs(
        capabilities,
        store=store,
        jobs=jobs,
        actors=actors,
        audit=derive_audit_keys(keys),
        send=send,
        changed=following.notify_change,
        clock=clock,
    ).register_kinds()
    return Services(
        store=store,
        following=following,
        repeats=IdempotencyKeys(make_digester(keys, "idempotency"), clock),
        filing=FileService(
            store=store,
            settings=config.files,
            anonymous_days=config.threads.anonymous_ttl,
            digest=make_digester(keys, "files"),
            clock=clock,
        ),
        summarising=ThreadSummarizer(
            store=store, agent=agent, bounds=config.threads, capabilities=capabilities
        ),
        jobs=jobs,
        schedules=schedules,
        callbacks=callbacks,
        taking_on=AsyncCalls(store=store, jobs=jobs, following=following, clock=clock),
        task_pushing=PushNotifications(
            store=store,
            egress=egress,
            sealing=sealing,
            settings=config.callbacks,
            following=following,
            jobs=jobs,
            clock=clock,
        ),
        own_names=OwnNames(tuple(actors.values())),
        places=ConcurrencySlots(
            "streams",
            most=config.events.max_streams,
            most_per_caller=config.events.max_streams_per_caller,
        ),
        audit=derive_audit_keys(keys),
        noting=AuditLog(store, derive_audit_keys(keys), clock),
        named_agents=AgentPolicies(config.agent_limits, clock),
        tiers=Tiers(config.tiers),
        tokens_used=tokens_used,
        capabilities=capabilities,
        sealer=sealer,
        guesses=make_code_limiter(clock) if config.limits.enabled else None,
        sealed=SealedValues(store, sealer, derive_audit_keys(keys), clock),
        checking=checking,
        send=send,
        transcript_keys=TranscriptKeys(keys),
        hash_link=keys.hash_link,
        asked_from=make_digester(keys, "asked from"),
        clock=clock,
    )


def make_digester(keys: DataKeys, purpose: str) -> Callable[[bytes], bytes]:
    """What makes keyed digests for one purpose."""
    return partial(hmac.digest, keys.derive(purpose), digest="sha256")


def make_callbacks(
    config: Config, store: Store, keys: DataKeys, egress: Egress, clock: Callable[[], float]
) -> Callbacks:
    """What tells callers' servers of the end of calls; it may ask no others than ``egress`` does.

    Parameters:
        keys: the desk's data keys.
        clock: Unix seconds.
    """
    webhooks = make_webhooks(config, store, keys, clock)
    return Callbacks(egress=egress, webhooks=webhooks, settings=config.callbacks, clock=clock)


def make_webhooks(
    config: Config, store: Store, keys: DataKeys, clock: Callable[[], float]
) -> WebhookSigner:
    """What signs what the desk sends to others.

    Parameters:
        keys: the desk's data keys.
        clock: Unix seconds.
    """
    signing = SigningKeys(keys) if config.oauth.enabled else None
    return WebhookSigner(store=store, keys=keys, signing=signing, clock=clock)
