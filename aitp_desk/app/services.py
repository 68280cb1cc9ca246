"""What all desks of a process share, put together."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from aitp_desk.agent.base import Agent
from aitp_desk.auth.credentials.guess_limiter import Guesses, guesses_of_codes
from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.auth.keys.audit_keys import audit_keys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.auth.keys.encryption import Sealing
from aitp_desk.auth.keys.transcript_keys import TranscriptKeys
from aitp_desk.auth.keys.webhook_signatures import Webhooks
from aitp_desk.capability import Send
from aitp_desk.config import Config
from aitp_desk.desk.access.audit_log import Noting
from aitp_desk.desk.access.idempotency import Repeats
from aitp_desk.desk.access.sealed_values import SealedValues, Sealer
from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.desk.calls.async_calls import TakingOn
from aitp_desk.desk.events.broadcaster import Following
from aitp_desk.desk.events.events import read_happenings
from aitp_desk.desk.jobs.callbacks import Callbacks
from aitp_desk.desk.jobs.queue import Jobs
from aitp_desk.desk.jobs.scheduler import Schedules
from aitp_desk.desk.limits.agent_policies import NamedAgents
from aitp_desk.desk.limits.concurrency_slots import Places
from aitp_desk.desk.limits.tiers import Tiers
from aitp_desk.desk.limits.token_usage import TokensUsed
from aitp_desk.desk.maintenance.health_checks import Checking
from aitp_desk.desk.plugins.outside.jobs import Doing
from aitp_desk.desk.plugins.outside.requests import sending_by
from aitp_desk.desk.plugins.outside.rounds import go_rounds
from aitp_desk.desk.plugins.registry import Capabilities
from aitp_desk.desk.runs.summaries import Summarising
from aitp_desk.desk.tasks.push import TaskPushing
from aitp_desk.desk.threads.files import Filing
from aitp_desk.desk.tickets.notifications import Notifying
from aitp_desk.egress import Egress
from aitp_desk.model.access.audit import AuditKeys
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.store.base import Store


class Shared(msgspec.Struct, frozen=True):
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
    following: Following
    repeats: Repeats
    filing: Filing
    summarising: Summarising
    jobs: Jobs
    schedules: Schedules
    callbacks: Callbacks
    taking_on: TakingOn
    task_pushing: TaskPushing
    own_names: OwnNames
    places: Places
    audit: AuditKeys
    noting: Noting
    named_agents: NamedAgents
    tiers: Tiers
    tokens_used: TokensUsed
    capabilities: Capabilities
    sealer: Sealer
    sealed: SealedValues
    guesses: Guesses | None
    checking: Checking
    send: Send
    transcript_keys: TranscriptKeys
    hash_link: Callable[[str], bytes]
    asked_from: Callable[[bytes], bytes]
    clock: Callable[[], float]


def make_shared(
    config: Config,
    *,
    store: Store,
    keys: DataKeys,
    egress: Egress,
    agent: Agent,
    actors: Mapping[str, Actor],
    tokens_used: TokensUsed,
    capabilities: Capabilities,
    checking: Checking,
    clock: Callable[[], float],
) -> Shared:
    """Put together what all desks share.

    Parameters:
        agent: who answers at the site's own desk, and shortens conversations at all.
        actors: the desks' own, by the names of the desks.
        capabilities: those that the site has enabled.
        checking: knows how the desk is.
        clock: Unix seconds.
    """
    jobs = Jobs(store=store, clock=clock)
    Notifying(
        store=store,
        egress=egress,
        webhooks=make_webhooks(config, store, keys, clock),
        settings=config.notify,
        jobs=jobs,
        clock=clock,
    ).serve()
    callbacks = make_callbacks(config, store, keys, egress, clock)
    sealing = Sealing(keys)
    sealer = Sealer(sealing, clock)
    following = Following(partial(read_happenings, store))
    send, schedules = sending_by(egress), Schedules(store, clock)
    go_rounds(capabilities, schedules, send)
    Doing(
        capabilities,
        store=store,
        jobs=jobs,
        actors=actors,
        audit=audit_keys(keys),
        send=send,
        changed=following.changed,
        clock=clock,
    ).serve()
    return Shared(
        store=store,
        following=following,
        repeats=Repeats(digests(keys, "idempotency"), clock),
        filing=Filing(
            store=store,
            settings=config.files,
            anonymous_days=config.threads.anonymous_ttl,
            digest=digests(keys, "files"),
            clock=clock,
        ),
        summarising=Summarising(
            store=store, agent=agent, bounds=config.threads, capabilities=capabilities
        ),
        jobs=jobs,
        schedules=schedules,
        callbacks=callbacks,
        taking_on=TakingOn(store=store, jobs=jobs, following=following, clock=clock),
        task_pushing=TaskPushing(
            store=store,
            egress=egress,
            sealing=sealing,
            settings=config.callbacks,
            following=following,
            jobs=jobs,
            clock=clock,
        ),
        own_names=OwnNames(tuple(actors.values())),
        places=Places(
            "streams",
            most=config.events.max_streams,
            most_per_caller=config.events.max_streams_per_caller,
        ),
        audit=audit_keys(keys),
        noting=Noting(store, audit_keys(keys), clock),
        named_agents=NamedAgents(config.agent_limits, clock),
        tiers=Tiers(config.tiers),
        tokens_used=tokens_used,
        capabilities=capabilities,
        sealer=sealer,
        guesses=guesses_of_codes(clock) if config.limits.enabled else None,
        sealed=SealedValues(store, sealer, audit_keys(keys), clock),
        checking=checking,
        send=send,
        transcript_keys=TranscriptKeys(keys),
        hash_link=keys.hash_link,
        asked_from=digests(keys, "asked from"),
        clock=clock,
    )


def digests(keys: DataKeys, purpose: str) -> Callable[[bytes], bytes]:
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
) -> Webhooks:
    """What signs what the desk sends to others.

    Parameters:
        keys: the desk's data keys.
        clock: Unix seconds.
    """
    signing = SigningKeys(keys) if config.oauth.enabled else None
    return Webhooks(store=store, keys=keys, signing=signing, clock=clock)
