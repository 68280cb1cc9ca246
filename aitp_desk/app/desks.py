"""Assembles the services of a site agent's desk.

Services that all desks share come from :class:`~aitp_desk.app.services.Services`, those of the
agent from its :class:`~aitp_desk.app.context.SiteAgentContext`.
"""

from __future__ import annotations

from aitp_desk.app.context import SiteAgentContext
from aitp_desk.app.services import Services
from aitp_desk.desk.access.site_agents import SITE_AGENT, SiteAgent, SiteAgents
from aitp_desk.desk.calls.registry import ActionRegistry
from aitp_desk.desk.conversations.action_turn import ActionTurns
from aitp_desk.desk.conversations.answerer import Answerer
from aitp_desk.desk.conversations.driver import DialogueServices
from aitp_desk.desk.conversations.handover import Handover
from aitp_desk.desk.conversations.plugin_turn import PluginTurns
from aitp_desk.desk.conversations.service import ConversationService
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.direct.calls import DirectCalls
from aitp_desk.desk.direct.resources import Resources
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.payments.checkout import Checkout
from aitp_desk.desk.payments.replies import PaymentReplies
from aitp_desk.desk.plugins.judge import Judge
from aitp_desk.desk.plugins.judged_messages import JudgedMessageWriter
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.desk.plugins.outside.webhooks import health_notes
from aitp_desk.desk.plugins.verification import PaymentVerifier
from aitp_desk.desk.runs.service import RunService
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.desk.tasks.service import TaskService
from aitp_desk.desk.threads.creation import ThreadCreation
from aitp_desk.desk.threads.deletion import ThreadDeletion
from aitp_desk.desk.threads.grants import GrantService
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.desk.threads.open_requests import OpenRequests
from aitp_desk.desk.threads.participants import ParticipantService
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.service import ThreadService
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.desk.threads.streams import ThreadStreams
from aitp_desk.desk.threads.transcripts import TranscriptService


def build_desk(
    house: SiteAgentContext, shared: Services, worker: RunWorker, tooling: AgentTools
) -> Desk:
    """Build the desk of a site agent, as the protocols see it.

    Parameters:
        worker: executes the runs of all desks.
    """
    config, store, following, clock = house.config, shared.store, shared.following, shared.clock
    site = config.site
    telling = PlainTextRenderer(shared.capabilities, store)
    judging = house.make_judge(shared)
    judged = JudgedMessageWriter(judging, store, clock)
    posting = _make_posting(house, shared, judged, worker, telling)
    opening = ThreadCreation(
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
    reading = ThreadReader(store, following, clock, telling, shared.noting.note_operator_visit)
    sessions = SessionService(
        config.sessions,
        store,
        clock,
        desk=house.name,
        anonymous_days=config.threads.anonymous_ttl,
        capabilities=shared.capabilities,
    )
    following.on_change(sessions.on_change)
    threads = ThreadService(
        opening=opening,
        posting=posting,
        reading=reading,
        attending=ParticipantService(
            store, clock, following.notify_change, shared.own_names, shared.audit
        ),
        sharing=GrantService(
            store=store,
            reading=reading,
            following=following,
            sessions=sessions,
            audit=shared.audit,
            hash_link=shared.hash_link,
            clock=clock,
        ),
        deleting=ThreadDeletion(
            store=store,
            following=following,
            sessions=sessions,
            audit=shared.audit,
            clock=clock,
            stop=worker.stop_run,
        ),
        transcripts=TranscriptService(
            store=store,
            reading=reading,
            keys=shared.transcript_keys,
            site=site.url,
            clock=clock,
        ),
    )
    registry = ActionRegistry(house.knowledge, tooling.invoking.actions)
    limiter = tooling.limiter
    agents = _site_agents(house, shared)
    awaiting = OpenRequests(
        shared.capabilities,
        store=store,
        reading=reading,
        posting=posting,
        sessions=sessions,
        actor=house.actor.id,
        clock=clock,
    )
    runs = RunService(
        store=store,
        agents=agents,
        opening=opening,
        posting=posting,
        reading=reading,
        repeats=shared.repeats,
        following=following,
        clock=clock,
        wake=worker.wake,
        stop=worker.stop_run,
    )
    calling = DirectCalls(
        tooling.invoking,
        limiter=limiter,
        repeats=shared.repeats,
        requires_intent=config.actions.require_intent,
        check_callback=shared.callbacks.check,
        paying=Checkout(
            house.make_settlement(shared, tooling),
            store=store,
            invoking=tooling.invoking,
            speaking=tooling.speaking,
            verification=PaymentVerifier(judging, store, shared.send, clock),
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
        paid_replies=PaymentReplies(house.make_settlement(shared, tooling), reading, store),
        streams=ThreadStreams(
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
        tasks=TaskService(
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
            paid_ends=house.make_settlement(shared, tooling),
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
    house: SiteAgentContext,
    shared: Services,
    judging: JudgedMessageWriter,
    worker: RunWorker,
    telling: PlainTextRenderer,
) -> MessageService:
    return MessageService(
        store=shared.store,
        actor=house.actor,
        own_names=shared.own_names,
        threads=house.config.threads,
        repeats=shared.repeats,
        clock=shared.clock,
        filing=shared.filing,
        wake=worker.wake,
        changed=shared.following.notify_change,
        audit=shared.audit,
        judging=judging,
        telling=telling,
    )


def _site_agents(house: SiteAgentContext, shared: Services) -> SiteAgents:
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
    house: SiteAgentContext,
    shared: Services,
    tooling: AgentTools,
    judging: Judge,
    sessions: SessionService,
    registry: ActionRegistry,
) -> ConversationService:
    config, store, clock = house.config, shared.store, shared.clock
    site = config.site
    people = house.make_person_requests(shared)
    recording = TurnRecorder(
        desk=house.name,
        store=store,
        actor=house.actor,
        durable=config.store.query_turns == "durable",
        changed=shared.following.notify_change,
        clock=clock,
    )
    paid_ends = house.make_settlement(shared, tooling)
    budgets = TokenBudgets(config.limits, shared.tokens_used, shared.tiers, clock)
    matcher = ActionMatcher(
        tooling.invoking.actions,
        house.knowledge,
        requires_intent=config.actions.require_intent,
    )
    return ConversationService(
        answering=Answerer(
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
        acting=ActionTurns(
            DialogueServices(
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
        holding=Handover(store, sessions, recording, shared.capabilities),
        in_sessions=PluginTurns(
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
