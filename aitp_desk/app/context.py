"""The context of one site agent: its configuration, knowledge, agent and offers.

A site has one agent, and as many further ones as its owner adds (``[[agents]]``). All keep their
threads in one store, and one worker executes their runs. Content, actions and limits belong to each
agent.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from aitp_desk.actions.registry import SiteOffers
from aitp_desk.agent.base import Agent
from aitp_desk.app.services import Services
from aitp_desk.config import Config
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.dialogue.tools.person_requests import PersonRequests
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.plugins.desk_messages import DeskMessages
from aitp_desk.desk.plugins.judge import Judge
from aitp_desk.desk.runs.executor import RunExecutor
from aitp_desk.desk.runs.replier import RunReplier
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.thread import Actor


class SiteAgentContext(msgspec.Struct, frozen=True):
    """Holds what belongs to one site agent, and builds its services.

    Parameters:
        name: of a further site agent; empty for the site's main agent.
        config: the site's, with the agent's name, content and limits in it.
        speaks: the schemas of structured messages that it understands.
    """

    name: str
    config: Config
    knowledge: Knowledge
    agent: Agent
    offers: SiteOffers
    speaks: tuple[str, ...] = ()

    @property
    def actor(self) -> Actor:
        """Return the actor that comes first on the agent's threads."""
        url = self.config.site.url
        return Actor(f"{url}/{self.name}" if self.name else url, self.speaks)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Return the offered actions, apart from answers from the content."""
        return tuple(one.action for one in self.offers.offered)

    def make_invoker(self, shared: Services) -> ActionInvoker:
        """Make the invoker of its actions."""
        return ActionInvoker(
            desk=self.name,
            actor=self.actor.id,
            offered=self.offers.offered,
            store=shared.store,
            audit=shared.audit,
            sealer=shared.sealer,
            expires_seconds=self.config.actions.expire_hours * 60 * 60,
            clock=shared.clock,
            take_on=shared.taking_on.enqueue,
            begun=shared.taking_on.start_now,
        )

    def make_settlement(self, shared: Services, tooling: AgentTools) -> PaymentSettlement:
        """Make the service that waits for the outcome of paid calls."""
        return PaymentSettlement(
            shared.capabilities,
            store=shared.store,
            calls=tooling.invoking.calls,
            following=shared.following,
            clock=shared.clock,
        )

    def make_person_requests(self, shared: Services) -> PersonRequests:
        """Make the service that escalates to people."""
        return PersonRequests(
            self.config.tickets,
            desk=self.name,
            site=site_facts(self.config.site),
            digest=shared.asked_from,
            clock=shared.clock,
        )

    def make_run_executor(self, shared: Services, tooling: AgentTools) -> RunExecutor:
        """Make the executor of its runs."""
        replies = RunReplier(
            desk=self.name,
            store=shared.store,
            agent=self.agent,
            actor=self.actor.id,
            site=site_facts(self.config.site),
            tooling=tooling,
            people=self.make_person_requests(shared),
            language=lambda: self.knowledge.editions.library.language,
            filing=shared.filing,
            bounds=self.config.threads,
            clock=shared.clock,
            capabilities=shared.capabilities,
            paid_ends=self.make_settlement(shared, tooling),
        )
        return RunExecutor(
            desk=self.name,
            store=shared.store,
            replies=replies,
            speaking=tooling.speaking,
            following=shared.following,
            answered=shared.summarising.request_summary,
            clock=shared.clock,
        )

    def make_judge(self, shared: Services) -> Judge:
        """Make the judge that asks plugins about messages on its threads."""
        return Judge(
            shared.capabilities,
            store=shared.store,
            actor=self.actor.id,
            name=self.name,
            audit=shared.audit,
            sealer=shared.sealer,
            guesses=shared.guesses,
            checking=shared.checking,
            clock=shared.clock,
            wake=shared.jobs.wake,
        )

    def make_desk_messages(self, shared: Services) -> DeskMessages:
        """Make the writer of the desk's messages: judged, and asked by plugins."""
        return DeskMessages(self.make_judge(shared), shared.store, shared.clock)

    def make_agent_tools(self, shared: Services, invoking: ActionInvoker) -> AgentTools:
        """Make the agent's tools: actions, in its time zone, within its limits."""
        zone, clock = self.config.site.zone, shared.clock
        return AgentTools(
            invoking,
            limiter=RateLimiter(self.config.limits, clock, shared.named_agents, shared.tiers),
            now=lambda: datetime.fromtimestamp(clock(), zone),
            speaking=self.make_desk_messages(shared),
        )
