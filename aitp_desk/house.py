"""One site agent's desk, put together: with what it shares with the others, and what is its own.

A site has one agent, and as many further ones as its owner adds (``[[agents]]``). All keep their
threads in one store and have their runs done by one worker. What each answers from, what it may
call and how much it may be asked is its own.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from aitp_desk.actions.sources import Offers
from aitp_desk.agent.base import Agent
from aitp_desk.config import Config
from aitp_desk.desk.acting import Acting
from aitp_desk.desk.agents import SITE_AGENT, SiteAgent, SiteAgents
from aitp_desk.desk.answering import Answering
from aitp_desk.desk.asking import Asking
from aitp_desk.desk.attending import Attending
from aitp_desk.desk.budgets import Budgets
from aitp_desk.desk.calling_directly import CallingDirectly
from aitp_desk.desk.capabilities.in_sessions import InSessions
from aitp_desk.desk.capabilities.judging import Judging
from aitp_desk.desk.capabilities.posting import JudgedPosting
from aitp_desk.desk.capabilities.receiving import health_notes
from aitp_desk.desk.capabilities.telling import Telling
from aitp_desk.desk.deleting import Deleting
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.exchanging import Means
from aitp_desk.desk.facts import site_facts
from aitp_desk.desk.holding import Holding
from aitp_desk.desk.invoking import Invoking
from aitp_desk.desk.limits import Limiter
from aitp_desk.desk.people import People
from aitp_desk.desk.posting import Posting
from aitp_desk.desk.reading import Reading
from aitp_desk.desk.recording import Recording
from aitp_desk.desk.registry import Registry
from aitp_desk.desk.resources import Resources
from aitp_desk.desk.running import Running
from aitp_desk.desk.sessions import Sessions
from aitp_desk.desk.sharing import Sharing
from aitp_desk.desk.streams import Streams
from aitp_desk.desk.tasks import Tasks
from aitp_desk.desk.tooling import Tooling
from aitp_desk.desk.turns import Turns
from aitp_desk.desk.working import Worker
from aitp_desk.knowledge.watch import Knowledge
from aitp_desk.model.thread import Actor
from aitp_desk.shared import Shared


class House(msgspec.Struct, frozen=True):
    """What one site agent has of its own.

    Parameters:
        name: of a further site agent; empty for the site's own.
        config: the site's, with the agent's own name, content and limits in it.
        speaks: the schemas of structured messages that it understands.
    """

    name: str
    config: Config
    knowledge: Knowledge
    agent: Agent
    offers: Offers
    speaks: tuple[str, ...] = ()

    @property
    def actor(self) -> Actor:
        """The actor that stands first on its threads."""
        url = self.config.site.url
        return Actor(f"{url}/{self.name}" if self.name else url, self.speaks)

    def make_invoking(self, shared: Shared) -> Invoking:
        """What calls its actions."""
        return Invoking(
            desk=self.name,
            actor=self.actor.id,
            offered=self.offers.offered,
            store=shared.store,
            audit=shared.audit,
            expires_seconds=self.config.actions.expire_hours * 60 * 60,
            clock=shared.clock,
            take_on=shared.taking_on.enqueue,
            begun=shared.taking_on.begun,
        )

    def make_people(self, shared: Shared) -> People:
        """What has people asked."""
        return People(
            self.config.tickets,
            desk=self.name,
            site=site_facts(self.config.site),
            digest=shared.asked_from,
            clock=shared.clock,
        )

    def make_turns(self, shared: Shared, tooling: Tooling) -> Turns:
        """What takes its runs to their end."""
        return Turns(
            desk=self.name,
            store=shared.store,
            agent=self.agent,
            actor=self.actor,
            site=site_facts(self.config.site),
            tooling=tooling,
            people=self.make_people(shared),
            language=lambda: self.knowledge.editions.library.language,
            filing=shared.filing,
            following=shared.following,
            bounds=self.config.threads,
            answered=shared.summarising.consider,
            clock=shared.clock,
            capabilities=shared.capabilities,
        )

    def make_tooling(self, shared: Shared, invoking: Invoking) -> Tooling:
        """What hands its actions to its agent, in its time zone and within its limits."""
        zone, clock = self.config.site.zone, shared.clock
        return Tooling(
            invoking,
            limiter=Limiter(self.config.limits, clock, shared.named_agents, shared.tiers),
            now=lambda: datetime.fromtimestamp(clock(), zone),
        )

    def make_desk(self, shared: Shared, worker: Worker, tooling: Tooling) -> Desk:
        """Its desk, as the doors see it.

        Parameters:
            worker: of all desks, which takes up its runs.
        """
        config, store, following, clock = self.config, shared.store, shared.following, shared.clock
        site = config.site
        telling = Telling(shared.capabilities, store)
        judging = Judging(
            shared.capabilities,
            store=store,
            actor=self.actor.id,
            name=self.name,
            audit=shared.audit,
            clock=clock,
            wake=shared.jobs.wake,
        )
        posting = Posting(
            store=store,
            actor=self.actor,
            own_names=shared.own_names,
            threads=config.threads,
            repeats=shared.repeats,
            clock=clock,
            filing=shared.filing,
            wake=worker.wake,
            changed=following.changed,
            audit=shared.audit,
            judging=JudgedPosting(judging, store, clock),
            telling=telling,
        )
        reading = Reading(store, following, clock, telling)
        people = self.make_people(shared)
        sessions = Sessions(
            config.sessions,
            store,
            clock,
            desk=self.name,
            anonymous_days=config.threads.anonymous_ttl,
            capabilities=shared.capabilities,
        )
        following.heed(sessions.changed)
        registry = Registry(lambda: self.knowledge.editions, tooling.invoking.actions)
        limiter = tooling.limiter
        recording = Recording(
            desk=self.name,
            store=store,
            actor=self.actor,
            durable=config.store.query_turns == "durable",
            changed=following.changed,
            clock=clock,
        )
        budgets = Budgets(config.limits, shared.tokens_used, shared.tiers, clock)
        agents = SiteAgents(
            [
                SiteAgent(
                    self.name or SITE_AGENT,
                    self.actor.id,
                    site.name,
                    site.description,
                    self.agent.name,
                    int(clock()),
                )
            ]
        )
        runs = Running(
            store=store,
            agents=agents,
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
        )
        return Desk(
            name=self.name,
            site=site,
            signals=config.content.signals,
            limits=config.limits,
            max_wait=config.threads.max_wait,
            agents=agents,
            agent=self.agent,
            knowledge=self.knowledge,
            registry=registry,
            limiter=limiter,
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
            streams=Streams(
                reading=reading,
                following=following,
                settings=config.events,
                places=shared.places,
                idle_before=lambda: posting.idle_before,
            ),
            filing=shared.filing,
            deleting=Deleting(
                store=store,
                following=following,
                sessions=sessions,
                audit=shared.audit,
                clock=clock,
                stop=worker.stop,
            ),
            runs=runs,
            asking=Asking(
                answering=Answering(
                    agent=self.agent,
                    tooling=tooling,
                    people=people,
                    knowledge=self.knowledge,
                    site=site,
                    budgets=budgets,
                ),
                people=people,
                registry=registry,
                tooling=tooling,
                acting=Acting(
                    Means(
                        agent=self.agent,
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
                holding=Holding(store, sessions, recording),
                in_sessions=InSessions(
                    judging, store=store, sessions=sessions, recording=recording
                ),
                knowledge=self.knowledge,
                site=site,
                cache=config.cache,
                limiter=limiter,
                budgets=budgets,
                clock=clock,
            ),
            sessions=sessions,
            resources=Resources(
                self.offers.resources,
                invoking=tooling.invoking,
                store=store,
                audit=shared.audit,
                clock=clock,
            ),
            calling=calling,
            tasks=Tasks(
                desk=self.name,
                actor=self.actor,
                store=store,
                posting=posting,
                reading=reading,
                runs=runs,
                calling=calling,
                sessions=sessions,
                following=following,
                pushing=shared.task_pushing,
                clock=clock,
            ),
            worker=worker,
            source_notes=lambda: (
                *self.offers.notes(),
                *health_notes(shared.capabilities),
            ),
        )
