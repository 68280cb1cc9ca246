"""A site agent's desk, with all that its doors ask of it.

What there is of a kind for the whole site comes from :class:`~aitp_desk.app.services.Shared`, what
the agent has of its own from its :class:`~aitp_desk.app.context.House`.
"""

from __future__ import annotations

from aitp_desk.app.context import House
from aitp_desk.app.services import Shared
from aitp_desk.desk.access.site_agents import SITE_AGENT, SiteAgent, SiteAgents
from aitp_desk.desk.calls.registry import Registry
from aitp_desk.desk.conversations.action_turn import Acting
from aitp_desk.desk.conversations.answerer import Answering
from aitp_desk.desk.conversations.handover import Holding
from aitp_desk.desk.conversations.plugin_turn import InSessions
from aitp_desk.desk.conversations.service import Asking
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.dialogue.recorder import Recording
from aitp_desk.desk.dialogue.statements import Means
from aitp_desk.desk.dialogue.tools.agent_tools import Tooling
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.direct.calls import CallingDirectly
from aitp_desk.desk.direct.resources import Resources
from aitp_desk.desk.limits.token_budgets import Budgets
from aitp_desk.desk.payments.checkout import Paying
from aitp_desk.desk.payments.replies import PaidReplies
from aitp_desk.desk.plugins.judge import Judging
from aitp_desk.desk.plugins.judged_messages import JudgedPosting
from aitp_desk.desk.plugins.messages.plain_text import Telling
from aitp_desk.desk.plugins.outside.webhooks import health_notes
from aitp_desk.desk.plugins.verification import Verification
from aitp_desk.desk.runs.service import Running
from aitp_desk.desk.runs.worker import Worker
from aitp_desk.desk.tasks.service import Tasks
from aitp_desk.desk.threads.creation import Opening
from aitp_desk.desk.threads.deletion import Deleting
from aitp_desk.desk.threads.grants import Sharing
from aitp_desk.desk.threads.messages import Posting
from aitp_desk.desk.threads.open_requests import Awaiting
from aitp_desk.desk.threads.participants import Attending
from aitp_desk.desk.threads.reader import Reading
from aitp_desk.desk.threads.service import OnThreads
from aitp_desk.desk.threads.sessions import Sessions
from aitp_desk.desk.threads.streams import Streams
from aitp_desk.desk.threads.transcripts import Transcripts


def make_desk(house: House, shared: Shared, worker: Worker, tooling: Tooling) -> Desk:
    """Make the desk of a site agent, as the doors see it.

    Parameters:
        worker: of all desks, which takes up its runs.
    """
    config, store, following, clock = house.config, shared.store, shared.following, shared.clock
    site = config.site
    telling = Telling(shared.capabilities, store)
    judging = house.make_judging(shared)
    judged = JudgedPosting(judging, store, clock)
    posting = _make_posting(house, shared, judged, worker, telling)
    opening = Opening(
        posting=posting,
        store=store,
        actor=house.actor,
        own_names=shared.own_names,
        repeats=shared.repeats,
        clock=clock,
        audit=shared.audit,
        judging=judged,
        telling=telling,
    )
    reading = Reading(store, following, clock, telling, shared.noting.visited)
    sessions = Sessions(
        config.sessions,
        store,
        clock,
        desk=house.name,
        anonymous_days=config.threads.anonymous_ttl,
        capabilities=shared.capabilities,
    )
    following.heed(sessions.changed)
    threads = OnThreads(
        opening=opening,
        posting=posting,
        reading=reading,
        attending=Attending(store, clock, following.changed, shared.own_names, shared.audit),
        sharing=Sharing(
            store=store,
            reading=reading,
            following=following,
            sessions=sessions,
            audit=shared.audit,
            hash_link=shared.hash_link,
            clock=clock,
        ),
        deleting=Deleting(
            store=store,
            following=following,
            sessions=sessions,
            audit=shared.audit,
            clock=clock,
            stop=worker.stop,
        ),
        transcripts=Transcripts(
            store=store,
            reading=reading,
            keys=shared.transcript_keys,
            site=site.url,
            clock=clock,
        ),
    )
    registry = Registry(house.knowledge, tooling.invoking.actions)
    limiter = tooling.limiter
    agents = _site_agents(house, shared)
    awaiting = Awaiting(
        shared.capabilities,
        store=store,
        reading=reading,
        posting=posting,
        sessions=sessions,
        actor=house.actor.id,
        clock=clock,
    )
    runs = Running(
        store=store,
        agents=agents,
        opening=opening,
        posting=posting,
        reading=reading,
        repeats=shared.repeats,
        following=following,
        clock=clock,
        wake=worker.wake,
        stop=worker.stop,
    )
    calling = CallingDirectly(
        tooling.invoking,
        limiter=limiter,
        repeats=shared.repeats,
        requires_intent=config.actions.require_intent,
        check_callback=shared.callbacks.check,
        paying=Paying(
            house.make_paid_ends(shared, tooling),
            store=store,
            invoking=tooling.invoking,
            speaking=tooling.speaking,
            verification=Verification(judging, store, shared.send, clock),
            posting=posting,
            following=following,
            actor=house.actor,
            clock=clock,
        ),
    )
    return Desk(
        name=house.name,
        site=site,
        signals=config.content.signals,
        limits=config.limits,
        max_wait=config.threads.max_wait,
        agents=agents,
        agent=house.agent,
        knowledge=house.knowledge,
        registry=registry,
        limiter=limiter,
        judging=judging,
        threads=threads,
        posting=posting,
        reading=reading,
        awaiting=awaiting,
        paid_replies=PaidReplies(house.make_paid_ends(shared, tooling), reading, store),
        streams=Streams(
            reading=reading,
            following=following,
            settings=config.events,
            places=shared.places,
            idle_before=lambda: posting.idle_before,
        ),
        filing=shared.filing,
        sealed=shared.sealed,
        runs=runs,
        asking=_make_asking(house, shared, tooling, judging, sessions, registry),
        sessions=sessions,
        resources=Resources(
            house.offers.resources,
            invoking=tooling.invoking,
            store=store,
            audit=shared.audit,
            clock=clock,
        ),
        calling=calling,
        tasks=Tasks(
            desk=house.name,
            actor=house.actor,
            store=store,
            opening=opening,
            posting=posting,
            reading=reading,
            awaiting=awaiting,
            runs=runs,
            calling=calling,
            sessions=sessions,
            following=following,
            pushing=shared.task_pushing,
            paid_ends=house.make_paid_ends(shared, tooling),
            clock=clock,
        ),
        worker=worker,
        checking=shared.checking,
        source_notes=lambda: (
            *house.offers.notes(),
            *health_notes(shared.capabilities),
        ),
    )


def _make_posting(
    house: House, shared: Shared, judging: JudgedPosting, worker: Worker, telling: Telling
) -> Posting:
    return Posting(
        store=shared.store,
        actor=house.actor,
        own_names=shared.own_names,
        threads=house.config.threads,
        repeats=shared.repeats,
        clock=shared.clock,
        filing=shared.filing,
        wake=worker.wake,
        changed=shared.following.changed,
        audit=shared.audit,
        judging=judging,
        telling=telling,
    )


def _site_agents(house: House, shared: Shared) -> SiteAgents:
    site = house.config.site
    return SiteAgents(
        [
            SiteAgent(
                house.name or SITE_AGENT,
                house.actor.id,
                site.name,
                site.description,
                house.agent.name,
                int(shared.clock()),
            )
        ]
    )


def _make_asking(
    house: House,
    shared: Shared,
    tooling: Tooling,
    judging: Judging,
    sessions: Sessions,
    registry: Registry,
) -> Asking:
    config, store, clock = house.config, shared.store, shared.clock
    site = config.site
    people = house.make_people(shared)
    recording = Recording(
        desk=house.name,
        store=store,
        actor=house.actor,
        durable=config.store.query_turns == "durable",
        changed=shared.following.changed,
        clock=clock,
    )
    paid_ends = house.make_paid_ends(shared, tooling)
    budgets = Budgets(config.limits, shared.tokens_used, shared.tiers, clock)
    matcher = ActionMatcher(
        tooling.invoking.actions,
        house.knowledge,
        requires_intent=config.actions.require_intent,
    )
    return Asking(
        answering=Answering(
            agent=house.agent,
            tooling=tooling,
            people=people,
            knowledge=house.knowledge,
            site=site,
            budgets=budgets,
        ),
        people=people,
        registry=registry,
        tooling=tooling,
        acting=Acting(
            Means(
                agent=house.agent,
                invoking=tooling.invoking,
                tooling=tooling,
                sessions=sessions,
                recording=recording,
                budgets=budgets,
                facts=site_facts(site),
            ),
            requires_intent=config.actions.require_intent,
            check_callback=shared.callbacks.check,
        ),
        sessions=sessions,
        recording=recording,
        holding=Holding(store, sessions, recording, shared.capabilities),
        in_sessions=InSessions(
            judging, store=store, sessions=sessions, recording=recording, paid_ends=paid_ends
        ),
        paid_ends=paid_ends,
        matcher=matcher if config.content.meaning.actions else None,
        knowledge=house.knowledge,
        site=site,
        cache=config.cache,
        limiter=tooling.limiter,
        budgets=budgets,
        clock=clock,
    )
