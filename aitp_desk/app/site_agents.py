"""Opens the content, the agent and the actions of each site agent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import msgspec
import structlog

from aitp_desk.actions.base import OfferedAction
from aitp_desk.actions.registry import SiteOffers, open_sources
from aitp_desk.agent.base import Agent, SiteFacts
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.generative.budget import DailyBudget
from aitp_desk.agent.generative.providers.chain import connect_models, describe_obstacle
from aitp_desk.agent.journal import AnswerJournal
from aitp_desk.app.peers import Peers
from aitp_desk.config import Config, Model
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.limits.token_usage import TokenUsage
from aitp_desk.desk.maintenance.enrichment import EnrichmentJob
from aitp_desk.egress import Egress
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.documents.titles import site_name
from aitp_desk.knowledge.semantics.models import open_meaning
from aitp_desk.knowledge.snapshot import AGENTS_FOLDER, Knowledge, open_knowledge
from aitp_desk.knowledge.web.schedule import ReadingSchedule
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.thread import Actor

_log = structlog.get_logger(__name__)

_REPORT_SECONDS = 1.0
"""How often the progress of vectors is reported."""


class SiteAgentContext(msgspec.Struct, frozen=True):
    """Holds what belongs to one site agent.

    Content, actions and limits belong to each agent; the store and the worker to all of them.

    Parameters:
        name: of a further site agent; empty for the site's main agent.
        config: the site's, with the agent's name, content and limits in it.
        speaks: the schemas of structured messages that it understands.
        journal: explains its answers to runs; None explains none.
    """

    name: str
    config: Config
    knowledge: Knowledge
    agent: Agent
    offers: SiteOffers
    speaks: tuple[str, ...] = ()
    journal: AnswerJournal | None = None

    @property
    def actor(self) -> Actor:
        """Return the actor that comes first on the agent's threads."""
        url = self.config.site.url
        return Actor(f"{url}/{self.name}" if self.name else url, self.speaks)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Return the offered actions, apart from answers from the content."""
        return tuple(one.action for one in self.offers.offered)


async def open_content(
    stack: AsyncExitStack,
    config: Config,
    egress: Egress,
    environment: Mapping[str, str],
    name: str = "",
    *,
    after: asyncio.Event | None = None,
) -> Knowledge:
    """Read a site agent's content, and watch it until the stack is closed.

    Parameters:
        environment: may hold keys for embedding services.
        name: of a further site agent; empty for the site's main agent.
        after: set when its vectors may be built; None for now.
    """
    web = config.content.web
    copies = config.data / AGENTS_FOLDER / name if name else config.data
    knowledge = await stack.enter_async_context(
        open_knowledge(
            config.content_folder,
            data=config.data,
            synonyms=config.content.synonyms,
            rounds=ReadingSchedule(web, egress, copies) if web.lists else None,
            below=name,
            languages=Languages(config.site.language, config.site.languages),
            enriched=config.content.enriched,
            published_at=config.content.published_at,
        )
    )
    meaning = open_meaning(
        config.content.meaning,
        knowledge,
        folder=config.folder,
        data=copies,
        egress=egress,
        environment=environment,
        after=after,
    )
    await stack.enter_async_context(meaning)
    return knowledge


async def open_agent(
    stack: AsyncExitStack,
    settings: Model,
    knowledge: Knowledge,
    *,
    tokens_used: TokenUsage,
    clock: Callable[[], float],
    agent: Agent | None,
    is_shared: bool,
    environment: Mapping[str, str],
) -> tuple[Agent, DailyBudget | None]:
    """Open the agent that answers, until the stack is closed.

    Parameters:
        clock: Unix seconds.
        agent: overrides the choice; None for a model or extraction.
        is_shared: whether other processes use the same budget.
        environment: may hold the keys of models.

    Returns:
        The agent, and the token budget of the day where that is a model; else None.
    """
    if agent is not None:
        return agent, None
    models = connect_models(settings, environment)
    if not models:
        return ExtractiveAgent(knowledge), None
    from aitp_desk.agent.generative.agent import open_model_agent

    used = await tokens_used.used_by_all()
    day = DailyBudget(
        settings.day_tokens,
        clock,
        used=used,
        keep=tokens_used.keep,
        read_used=tokens_used.used_by_all_processes if is_shared else None,
    )
    opened = open_model_agent(knowledge, settings, models=models, day=day)
    return await stack.enter_async_context(opened), day


class StandaloneAgent(msgspec.Struct, frozen=True):
    """Holds an agent without a desk: it answers from content, calls nothing.

    Parameters:
        site: the facts that the agent may state about the site.
    """

    agent: Agent
    knowledge: Knowledge
    site: SiteFacts


@asynccontextmanager
async def open_standalone_agent(
    config: Config,
    environment: Mapping[str, str],
    *,
    uses_model: bool = True,
    clock: Callable[[], float] = time.time,
    report: Callable[[int, int | None], None] | None = None,
) -> AsyncIterator[StandaloneAgent]:
    """Open a site's agent for commands, also while a desk serves the site.

    Parameters:
        environment: may hold the keys of models; without a model extraction answers.
        uses_model: whether a model may answer.
        clock: Unix seconds.
        report: gets how many vectors exist and how many will, while they are waited for.
    """
    async with AsyncExitStack() as stack:
        egress = await stack.enter_async_context(Egress())
        knowledge = await open_content(stack, config, egress, environment)
        if (progress := knowledge.progress) is not None:
            while not progress.settled.is_set():
                if report is not None:
                    report(progress.done, progress.total or None)
                with suppress(TimeoutError):
                    await asyncio.wait_for(progress.settled.wait(), _REPORT_SECONDS)
        agent: Agent = ExtractiveAgent(knowledge)
        if models := connect_models(config.model, environment) if uses_model else ():
            from aitp_desk.agent.generative.agent import open_model_agent

            day = DailyBudget(config.model.day_tokens, clock)
            opened = open_model_agent(knowledge, config.model, models=models, day=day)
            agent = await stack.enter_async_context(opened)
        site = config.site.named(site_name(knowledge.library.documents))
        yield StandaloneAgent(agent, knowledge, site_facts(site))


async def open_site_agents(
    stack: AsyncExitStack,
    config: Config,
    knowledge: Knowledge,
    agent: Agent,
    *,
    egress: Egress,
    environment: Mapping[str, str],
    given: Mapping[str, Sequence[OfferedAction]],
    peers: Peers,
    speaks: tuple[str, ...],
    told: Sequence[OfferedAction],
    after: asyncio.Event,
    explains: bool = False,
) -> tuple[SiteAgentContext, ...]:
    """Open the context of every site agent, until the stack is closed.

    Parameters:
        config: the site's.
        knowledge: of the site's main agent.
        agent: of the site's main desk.
        environment: may hold credentials for declared actions.
        given: actions in addition to the declared ones, by the names of the site agents.
        peers: the site's partners.
        speaks: the schemas of structured messages that all of them understand.
        told: the informational actions of capabilities, open to every caller.
        after: set when vectors may be built.
        explains: whether the answers of the site's main agent are explained.

    Returns:
        The contexts, the main agent's first.
    """

    async def open_one(
        name: str, own: Config, knowledge: Knowledge, agent: Agent
    ) -> SiteAgentContext:
        of_peers = peers.actions.get(name, ())
        taken = OWN_NAMES | {one.action.name for one in (*of_peers, *told)}
        offers = await stack.enter_async_context(
            open_sources(own, environment, taken, (*given.get(name, ()), *of_peers, *told))
        )
        if not name:
            told_before = offers.notes
            offers = msgspec.structs.replace(offers, notes=lambda: (*told_before(), *peers.notes()))
        return SiteAgentContext(name, own, knowledge, peers.find_agent(name, agent), offers, speaks)

    main = await open_one("", config, knowledge, agent)
    if explains:
        journal = AnswerJournal(knowledge, config.content_folder)
        main = msgspec.structs.replace(main, journal=journal)
    site_agents = [main]
    for further in config.agents:
        own = config.of_agent(further)
        read = await open_content(stack, own, egress, environment, further.name, after=after)
        site_agents.append(await open_one(further.name, own, read, _over(read, agent)))
    return tuple(site_agents)


def open_enrichment(
    config: Config,
    site_agents: Sequence[SiteAgentContext],
    *,
    environment: Mapping[str, str],
    day: DailyBudget | None,
    clock: Callable[[], float],
) -> EnrichmentJob | None:
    """Make the job that keeps enriched.jsonl up to date.

    Parameters:
        environment: may hold the model's key.
        day: the token budget of the day; None sets no limit.

    Returns:
        None where no schedule is set, or the model cannot be called.
    """
    if not config.enrich.every_hours:
        return None
    if reason := describe_obstacle(config.model, environment):
        _log.warning("content.enrich_not_scheduled", reason=reason)
        return None
    contents = [
        (site_agent.config.content_folder, site_agent.knowledge)
        for site_agent in site_agents
        if site_agent.config.content.enriched
    ]
    return EnrichmentJob(config, contents, environment=environment, day=day, clock=clock)


def _over(knowledge: Knowledge, agent: Agent) -> Agent:
    """Return the agent for a further agent's content, given the site's agent."""
    if isinstance(agent, ExtractiveAgent):
        return ExtractiveAgent(knowledge)
    from aitp_desk.agent.generative.agent import ModelAgent

    return agent.with_knowledge(knowledge) if isinstance(agent, ModelAgent) else agent
