"""Assembles the services of a site agent's desk, as the protocols see them.

Services that all desks share come from :class:`~aitp_desk.app.services.Services`, those that the
desk shares with its runs from :class:`~aitp_desk.app.desk_parts.DeskParts`.
"""

from __future__ import annotations

from aitp_desk.app.desk_parts import DeskParts
from aitp_desk.app.peers import make_partner_finder
from aitp_desk.config import MAIL
from aitp_desk.desk.access.site_agents import SITE_AGENT, SiteAgent, SiteAgents
from aitp_desk.desk.calls.registry import ActionRegistry
from aitp_desk.desk.conversations.action_session import ActionSessions
from aitp_desk.desk.conversations.action_turn import ActionTurns
from aitp_desk.desk.conversations.agent_turn import AgentTurns
from aitp_desk.desk.conversations.answerer import Answerer
from aitp_desk.desk.conversations.driver import DialogueServices
from aitp_desk.desk.conversations.first_answers import FirstAnswers
from aitp_desk.desk.conversations.handover import Handover
from aitp_desk.desk.conversations.intake import TurnIntake
from aitp_desk.desk.conversations.page_search import PageSearch
from aitp_desk.desk.conversations.plugin_turn import PluginTurns
from aitp_desk.desk.conversations.service import ConversationService
from aitp_desk.desk.conversations.turn_writer import TurnWriter
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.direct.calls import DirectCalls
from aitp_desk.desk.direct.paid_resources import PaidResources
from aitp_desk.desk.direct.resources import Resources
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.maintenance.readiness import ReadinessReport
from aitp_desk.desk.payments.checkout import Checkout
from aitp_desk.desk.payments.replies import PaymentReplies
from aitp_desk.desk.plugins.judged_messages import JudgedMessageWriter
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.desk.plugins.outside.webhooks import health_notes
from aitp_desk.desk.plugins.verification import PaymentVerifier
from aitp_desk.desk.runs.service import RunService
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.desk.tasks.access import TaskAccess
from aitp_desk.desk.tasks.receivers import TaskReceivers
from aitp_desk.desk.tasks.service import TaskService
from aitp_desk.desk.tasks.turns import TaskTurns
from aitp_desk.desk.tasks.views import TaskViews
from aitp_desk.desk.threads.creation import ThreadCreation
from aitp_desk.desk.threads.deletion import ThreadDeletion
from aitp_desk.desk.threads.feedback import FeedbackService
from aitp_desk.desk.threads.grants import GrantService
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.desk.threads.open_requests import OpenRequests
from aitp_desk.desk.threads.participants import ParticipantService
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.desk.threads.streams import ThreadStreams
from aitp_desk.desk.threads.transcripts import TranscriptService
from aitp_desk.desk.tickets.contacts import ContactService
from aitp_desk.store.engine.engines import find_engine


def build_desk(parts: DeskParts, worker: RunWorker) -> Desk:
    """Build the desk of a site agent.

    Parameters:
        worker: executes the runs of all desks.
    """
    site_agent, services, context = parts.site_agent, parts.services, parts.context
    config, store, events = site_agent.config, context.store, services.events
    invoker, limiter = parts.invoker, parts.agent_tools.limiter
    renderer = PlainTextRenderer(services.capabilities, store)
    reader = ThreadReader(
        context,
        events,
        renderer,
        services.audit_log.note_operator_visit,
        make_partner_finder(config.peers),
    )
    messages, creation = _build_messages(parts, worker, renderer)
    sessions = SessionService(
        context,
        config.sessions,
        services.capabilities,
        has_peers=find_engine(config.store.url).is_shared,
    )
    events.on_change(sessions.on_change)
    registry = ActionRegistry(site_agent.knowledge, invoker.actions)
    agents = _build_agents(parts)
    open_requests = OpenRequests(
        services.capabilities, context, reader=reader, messages=messages, sessions=sessions
    )
    runs = RunService(
        context,
        agents=agents,
        creation=creation,
        messages=messages,
        reader=reader,
        idempotency=services.idempotency,
        events=events,
        worker=worker,
    )
    direct_calls = DirectCalls(
        invoker,
        limiter=limiter,
        idempotency=services.idempotency,
        requires_intent=config.actions.require_intent,
        check_callback=services.callbacks.check,
        checkout=Checkout(
            context,
            parts.settlement,
            invoker=invoker,
            desk_messages=parts.agent_tools.desk_messages,
            verification=PaymentVerifier(context, parts.judge, services.send),
            messages=messages,
            events=events,
        ),
    )
    resources = Resources(
        context,
        site_agent.offers.resources,
        invoker=invoker,
    )
    views = TaskViews(store, direct_calls, renderer, open_requests)
    access = TaskAccess(context, reader=reader, views=views, sessions=sessions)
    return Desk(
        name=context.name,
        site=config.site,
        signals=config.content.signals,
        limits=config.limits,
        max_wait=config.threads.max_wait,
        agents=agents,
        knowledge=site_agent.knowledge,
        registry=registry,
        limiter=limiter,
        conversations=_build_conversations(parts, sessions, registry),
        pages=PageSearch(site_agent.knowledge, registry, site_facts(config.site)),
        direct_calls=direct_calls,
        resources=resources,
        paid_resources=PaidResources(resources, direct_calls, limiter),
        creation=creation,
        messages=messages,
        reader=reader,
        participants=ParticipantService(context, events.notify_change),
        grants=GrantService(
            context,
            reader=reader,
            events=events,
            sessions=sessions,
            hash_link=services.hash_link,
        ),
        deletion=ThreadDeletion(
            context, reader=reader, events=events, sessions=sessions, stop=worker.stop_run
        ),
        transcripts=TranscriptService(context, reader, services.transcript_keys, config.site.url),
        disposal=services.disposal,
        feedback=FeedbackService(context, events.notify_change),
        contacts=ContactService(context, services.jobs.wake, has_mail=MAIL in config.transports),
        files=services.files,
        open_requests=open_requests,
        sessions=sessions,
        streams=ThreadStreams(
            reader=reader, events=events, settings=config.events, slots=services.slots
        ),
        runs=runs,
        tasks=TaskService(
            context,
            creation=creation,
            messages=messages,
            runs=runs,
            direct_calls=direct_calls,
            events=events,
            settlement=parts.settlement,
            turns=TaskTurns(
                context, views=views, access=access, sessions=sessions, push=services.push
            ),
        ),
        task_receivers=TaskReceivers(access, services.push),
        payment_replies=PaymentReplies(context, parts.settlement, reader),
        sealed=services.sealed,
        judge=parts.judge,
        readiness=ReadinessReport(
            services.health_checks,
            site_agent.knowledge,
            site_agent.agent,
            lambda: (*site_agent.offers.notes(), *health_notes(services.capabilities)),
        ),
        worker=worker,
    )


def _build_messages(
    parts: DeskParts, worker: RunWorker, renderer: PlainTextRenderer
) -> tuple[MessageService, ThreadCreation]:
    services, context = parts.services, parts.context
    message_writer = JudgedMessageWriter(context, parts.judge)
    messages = MessageService(
        context,
        idempotency=services.idempotency,
        files=services.files,
        wake=worker.wake,
        changed=services.events.notify_change,
        message_writer=message_writer,
        renderer=renderer,
    )
    creation = ThreadCreation(
        context,
        messages=messages,
        idempotency=services.idempotency,
        message_writer=message_writer,
        renderer=renderer,
    )
    return messages, creation


def _build_agents(parts: DeskParts) -> SiteAgents:
    site, context = parts.site_agent.config.site, parts.context
    return SiteAgents(
        [
            SiteAgent(
                context.name or SITE_AGENT,
                context.actor.id,
                site.name,
                site.description,
                parts.site_agent.agent.name,
                int(context.clock()),
            )
        ]
    )


def _build_conversations(
    parts: DeskParts, sessions: SessionService, registry: ActionRegistry
) -> ConversationService:
    site_agent, services, context = parts.site_agent, parts.services, parts.context
    config, invoker, agent_tools = site_agent.config, parts.invoker, parts.agent_tools
    knowledge, requires_intent = site_agent.knowledge, config.actions.require_intent
    recorder = TurnRecorder(
        context,
        durable=config.store.query_turns == "durable" or find_engine(config.store.url).is_shared,
        most_turns=config.sessions.max_turns,
        changed=services.events.notify_change,
    )
    budgets = TokenBudgets(config.limits, services.tokens_used, services.tiers, context.clock)
    answerer = Answerer(
        agent=site_agent.agent,
        agent_tools=agent_tools,
        people=parts.people,
        knowledge=knowledge,
        site=config.site,
        budgets=budgets,
        matcher=parts.matcher,
    )
    action_turns = ActionTurns(
        DialogueServices(
            agent=site_agent.agent,
            invoker=invoker,
            agent_tools=agent_tools,
            sessions=sessions,
            recorder=recorder,
            budgets=budgets,
            facts=site_facts(config.site),
        ),
        requires_intent=requires_intent,
        check_callback=services.callbacks.check,
    )
    turn_writer = TurnWriter(
        people=parts.people,
        invoker=invoker,
        desk_messages=agent_tools.desk_messages,
        sessions=sessions,
        recorder=recorder,
        site_url=config.site.url,
    )
    handover = Handover(context.store, sessions, recorder, services.capabilities)
    intake = TurnIntake(
        action_turns=action_turns,
        plugin_turns=PluginTurns(
            parts.judge,
            store=context.store,
            sessions=sessions,
            recorder=recorder,
            settlement=parts.settlement,
        ),
        sessions=sessions,
        handover=handover,
        settlement=parts.settlement,
        knowledge=knowledge,
    )
    action_sessions = ActionSessions(
        intake=intake,
        action_turns=action_turns,
        answerer=answerer,
        turn_writer=turn_writer,
        sessions=sessions,
        handover=handover,
        limiter=agent_tools.limiter,
        budgets=budgets,
    )
    return ConversationService(
        agent_turns=AgentTurns(
            intake=intake,
            action_sessions=action_sessions,
            answerer=answerer,
            first_answers=FirstAnswers(
                answerer,
                knowledge,
                config.cache,
                context.clock,
                now=agent_tools.now,
                shared=services.shared.answers,
            ),
            turn_writer=turn_writer,
            sessions=sessions,
            handover=handover,
            budgets=budgets,
        ),
        action_sessions=action_sessions,
        action_turns=action_turns,
        registry=registry,
        agent_tools=agent_tools,
        sessions=sessions,
        matcher=parts.matcher,
        knowledge=knowledge,
    )
