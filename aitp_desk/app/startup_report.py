"""The start-up report: what a desk serves, from what content, and where."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from aitp_desk.agent.extractive.agent import EXTRACTIVE
from aitp_desk.agent.generative.providers.chain import has_extra
from aitp_desk.app.site_agents import SiteAgentContext
from aitp_desk.config import Config, default_url
from aitp_desk.knowledge.sources.admission import NO_CONTENT, describe_unread
from aitp_desk.model.text import write_count
from aitp_desk.model.web_address import is_loopback
from aitp_desk.protocols.a2a.card import DOOR_PATH as A2A_PATH
from aitp_desk.protocols.mcp.routes import MCP_PATH, speaks_mcp
from aitp_desk.protocols.metrics.routes import METRICS_PATH
from aitp_desk.protocols.nlweb.routes import ASK_PATH, WHO_PATH
from aitp_desk.protocols.openapi.routes import DOCUMENT_PATH
from aitp_desk.store.base import Store
from aitp_desk.store.contents.base import FileContents
from aitp_desk.store.engine.engines import find_engine

_IN_THE_CLEAR = (
    "site.url is plain HTTP: the safety and cost in application/vnd.hac+json responses can be"
    " changed on the way. Serve https, or set hac.enabled = false"
)
"""HAC 1.0, section 9.4."""
_BETTER = {
    1: "the extra semantic (1)",
    2: "questions by aitp-desk enrich (2)",
    3: "any model by [model] (3)",
}
"""Improvements of the answers: see docs/run/models.md."""
_PROBLEMS_TOLD = 10
"""How many unreadable files the report names."""


def report_start(
    store: Store, contents: FileContents, site_agents: Sequence[SiteAgentContext]
) -> tuple[str, ...]:
    """Return the start-up report for the site owner, line by line.

    Parameters:
        contents: keeps the bytes of files.
        site_agents: the contexts of all site agents, the main agent's first.
    """
    own, *further = site_agents
    config, url = own.config, own.config.site.url
    return (
        f"aitp-desk serves {config.site.name} on {default_url(config.server)}",
        f"  store      {store.name}",
        *([f"  files      new ones in {contents.name}"] if contents.cleans_up else []),
        *_report_shared(config),
        f"  agent      {_introduce(own)}",
        *(f"  setting    {note}" for note in config.notes),
        *_report_content(own),
        f"  home       {url}/",
        f"  threads    {url}/v1/threads",
        *(line for site_agent in further for line in _report_further(site_agent)),
        f"  AHP        {url}/.well-known/agent.json, {url}/agent/converse, {url}/llms.txt",
        *([f"  A2A        {url}{A2A_PATH}"] if config.a2a.enabled else []),
        *([f"  MCP        {url}{MCP_PATH}"] if speaks_mcp(config) else []),
        *([f"  NLWeb      {url}{ASK_PATH}, {url}{WHO_PATH}"] if config.nlweb.enabled else []),
        *([f"  OpenAPI    {url}{DOCUMENT_PATH}, {url}/docs"] if config.rest.enabled else []),
        *([f"  declared   {url}/agents.txt"] if config.agents_txt.enabled else []),
        *([f"  messages   {', '.join(config.capabilities)}"] if config.capabilities else []),
        *_report_chat(config),
        *([f"  console    {url}/console"] if config.console.enabled else []),
        f"  metrics    {url}{METRICS_PATH}",
        f"  health     {url}/health, {url}/ready",
        *([f"  problem    {_IN_THE_CLEAR}"] if _tells_in_the_clear(config) else []),
    )


def _report_chat(config: Config) -> tuple[str, ...]:
    """Name the sites that have the chat on their pages."""
    sites = ", ".join(config.widget.origins)
    return (f"  chat       {config.site.url}/widget.js, on {sites}",) if sites else ()


def _tells_in_the_clear(config: Config) -> bool:
    """Return whether HAC's safety and cost hints leave this machine over plain HTTP."""
    address = urlsplit(config.site.url)
    is_plain = address.scheme == "http" and not is_loopback(address.hostname or "")
    return config.hac.enabled and is_plain


def _report_content(site_agent: SiteAgentContext) -> tuple[str, ...]:
    editions, web = site_agent.knowledge.editions, site_agent.config.content.web
    documents = write_count(len(editions.documents), "document")
    passages = write_count(len(editions.library.passages), "passage")
    own, *further = editions.languages
    kept = sum(document.is_elsewhere for document in editions.documents)
    told = editions.problems[:_PROBLEMS_TOLD]
    rest = len(editions.problems) - len(told)
    actions = [offered.action.name for offered in site_agent.offers.offered]
    unread = describe_unread(site_agent.config.content_folder, data=site_agent.config.data)
    elsewhere = f"{kept} of these, read again now and every {web.every_minutes} minutes"
    is_empty = not (editions.documents or editions.problems or web.lists)
    return (
        f"  content    {documents}, {passages} from {site_agent.config.content_folder}",
        *([f"  problem    this folder {NO_CONTENT}"] if is_empty else []),
        *([f"  unread     {unread}"] if unread else []),
        *([f"  languages  {own}, and some in {', '.join(further)}"] if further else []),
        *_report_meaning(site_agent),
        *_report_questions(site_agent),
        _report_level(site_agent),
        *([f"  elsewhere  {elsewhere}"] if web.lists else []),
        *([f"  actions    {', '.join(actions)}"] if actions else []),
        *(f"  problem    {problem}" for problem in (*site_agent.offers.notes(), *told)),
        *([f"  problems   and {rest} more; aitp-desk check lists them all"] if rest else []),
    )


def _report_shared(config: Config) -> tuple[str, ...]:
    """Describe what several processes count together, apart from what the database holds."""
    if config.valkey.url:
        return ("  shared     limits and answers, through valkey.url",)
    if find_engine(config.store.url).is_shared:
        return ("  unshared   rate limits and cached answers: valkey.url shares them",)
    return ()


def _report_meaning(site_agent: SiteAgentContext) -> tuple[str, ...]:
    progress = site_agent.knowledge.progress
    if progress is None:
        return ()
    state = "keyword search until all passages have vectors"
    if site_agent.knowledge.library.vectors is not None:
        state = write_count(progress.total, "vector")
    return (f"  meaning    {progress.model}, {state}",)


def _report_questions(site_agent: SiteAgentContext) -> tuple[str, ...]:
    """Describe the questions that enrich the passages."""
    questions = site_agent.knowledge.library.questions
    if questions is None:
        return ()
    count = f"{len(questions)} for {write_count(questions.passages, 'passage')}"
    left_out = questions.left_out
    stale = f"; {left_out} are out of date: run aitp-desk enrich" if left_out else ""
    return (f"  questions  {count}{stale}",)


def _report_level(site_agent: SiteAgentContext) -> str:
    """Describe how well the desk can answer, and what would make it better."""
    reached = {
        1: site_agent.knowledge.progress is not None,
        2: site_agent.knowledge.library.questions is not None,
        3: site_agent.agent.name != EXTRACTIVE,
    }
    level = max((number for number, is_there in reached.items() if is_there), default=0)
    better = [told for number, told in _BETTER.items() if not reached[number]]
    hint = f"; better with {', '.join(better)}" if better else ""
    return f"  level      {level} of 3{hint}"


def _report_further(site_agent: SiteAgentContext) -> tuple[str, ...]:
    return (f"  threads    {site_agent.actor.id}/v1/threads", *_report_content(site_agent))


def _introduce(site_agent: SiteAgentContext) -> str:
    name, model = site_agent.agent.name, site_agent.config.model
    if name == EXTRACTIVE and not has_extra(model):
        return f"{name} (without the extra {model.provider} no model is used)"
    if name == EXTRACTIVE and model.key_variable:
        return f"{name} (no {model.key_variable}: no model is used)"
    return name
