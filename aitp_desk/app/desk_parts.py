"""Builds what the parts of one desk share: its context, judge, action invoker and settlement."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import msgspec

from aitp_desk.app.services import Services
from aitp_desk.app.site_agents import SiteAgentContext
from aitp_desk.config import Config
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.recovery import recover_run_calls
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.dialogue.tools.access_notice import AccessNotice
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.tools.person_requests import PersonRequests
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.plugins.desk_messages import DeskMessages
from aitp_desk.desk.plugins.judge import Judge
from aitp_desk.desk.runs.action_requests import ActionRequests
from aitp_desk.desk.runs.executor import RunExecutor
from aitp_desk.desk.runs.replier import RunReplier


class DeskParts(msgspec.Struct, frozen=True, eq=False):
    """The parts of one desk that its service and its runs share; each is built once.

    Parameters:
        judge: lets plugins judge messages on its threads.
        agent_tools: the agent's tools: actions, in its time zone, within its limits.
        settlement: waits for the outcome of paid calls.
        people: escalates to people.
        matcher: finds the action that words ask for; None if no words may begin one.
    """

    site_agent: SiteAgentContext
    services: Services
    context: DeskContext
    judge: Judge
    agent_tools: AgentTools
    settlement: PaymentSettlement
    people: PersonRequests
    matcher: ActionMatcher

    @property
    def invoker(self) -> ActionInvoker:
        """The invoker of its actions."""
        return self.agent_tools.invoker

    def make_run_executor(self) -> RunExecutor:
        """Make the executor of its runs."""
        site_agent, services, context = self.site_agent, self.services, self.context
        agent, journal = site_agent.agent, site_agent.journal
        replies = RunReplier(
            context,
            agent=agent if journal is None else journal.watch(agent),
            site=site_facts(site_agent.config.site),
            requests=ActionRequests(context.store, self.matcher, self.agent_tools),
            people=self.people,
            language=lambda: site_agent.knowledge.editions.library.language,
            files=services.files,
            settlement=self.settlement,
        )
        return RunExecutor(
            context,
            replies=replies,
            desk_messages=self.agent_tools.desk_messages,
            events=services.events,
            answered=services.summarizer.request_summary,
            recover_calls=partial(recover_run_calls, self.invoker, context.store),
        )


def build_parts(site_agent: SiteAgentContext, services: Services) -> DeskParts:
    """Build the parts of a site agent's desk."""
    config, clock = site_agent.config, services.clock
    context = DeskContext(
        name=site_agent.name,
        actor=site_agent.actor,
        own_names=services.own_names,
        threads=config.threads,
        store=services.store,
        audit=services.audit,
        clock=clock,
        process=services.processes.process,
    )
    people = PersonRequests(
        config.tickets,
        desk=site_agent.name,
        site=site_facts(config.site),
        digest=services.asked_from,
        clock=clock,
        zone=config.site.zone,
    )
    matcher = ActionMatcher(
        [one for one in site_agent.offers.offered if one.may_match],
        site_agent.knowledge,
        by_words=config.content.meaning.actions,
        requires_intent=config.actions.require_intent,
        notice=_make_notice(config),
    )
    judge = Judge(
        services.capabilities,
        context,
        sealer=services.sealer,
        guesses=services.guesses,
        health_checks=services.health_checks,
        wake=services.jobs.wake,
        asks_for_person=people.is_request,
        asks_for_action=matcher.is_request,
    )
    invoker = ActionInvoker(
        context,
        site_agent.offers.offered,
        sealer=services.sealer,
        expires_seconds=config.actions.expire_hours * 60 * 60,
        take_on=services.async_calls.enqueue,
        begun=services.async_calls.start_now,
    )
    limiter = RateLimiter(config.limits, clock, services.named_agents, services.tiers)
    limiter.share(services.shared.counts, site_agent.name)
    return DeskParts(
        site_agent=site_agent,
        services=services,
        context=context,
        judge=judge,
        agent_tools=AgentTools(
            invoker,
            limiter=limiter,
            now=lambda: datetime.fromtimestamp(clock(), config.site.zone),
            desk_messages=DeskMessages(context, judge),
        ),
        settlement=PaymentSettlement(
            context, services.capabilities, invoker.calls, services.events
        ),
        people=people,
        matcher=matcher,
    )


def _make_notice(config: Config) -> AccessNotice:
    has_sign_in = any(issuer.callers == "users" for issuer in config.issuers)
    page = (
        config.widget.sign_in_url
        if has_sign_in
        else config.agents_txt.auth_docs or config.site.contact_url
    )
    url = config.site.url + page if page.startswith("/") else page
    site = site_facts(config.site)
    return AccessNotice(site.name, has_sign_in, url, site.contact or "")
