"""Serves NLWeb: questions at ``/ask``, and which site agents answer them at ``/who``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from secrets import token_hex
from typing import Final
from urllib.parse import urlsplit

from aitp_desk.agent.base import Clarification
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.model.errors import AgentNotFound, DeskError
from aitp_desk.protocols.base.protocol import (
    EVENT_STREAM,
    JSON,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
)
from aitp_desk.protocols.base.sse import UNBUFFERED
from aitp_desk.protocols.nlweb.objects import OBJECTS
from aitp_desk.protocols.nlweb.request_wire import (
    MAX_BODY,
    MAX_RESULTS,
    AskedQuestion,
    decode_ask,
    decode_who,
    read_ask,
    read_who,
)
from aitp_desk.protocols.nlweb.results import get_site_name, write_hits, write_sources
from aitp_desk.protocols.nlweb.who_wire import encode_agents
from aitp_desk.protocols.nlweb.wire import (
    Generated,
    Part,
    ResponseFormat,
    Results,
    Summary,
    choose_format,
    render_error,
    word_question,
)

ASK_PATH: Final = "/ask"
WHO_PATH: Final = "/who"
PagesAt = Callable[[Desk, str], tuple[str, ...]]
"""Returns the media types of a path's page or file; empty without one."""


class NLWebHandlers:
    """Serves NLWeb for all site agents.

    Parameters:
        desks: of all site agents, the main one first.
        get_page: answers with the page or the file at an address, which wins without a question.
        get_page_below: the same for further site agents.
        pages_at: returns the media types of that page or file.
    """

    def __init__(
        self,
        desks: Sequence[Desk],
        *,
        get_page: Handler,
        get_page_below: Handler,
        pages_at: PagesAt,
    ) -> None:
        self._desks = tuple(desks)
        self._get_page = get_page
        self._get_page_below = get_page_below
        self._pages_at = pages_at

    async def get_answer(self, desk: Desk, call: Call) -> Reply:
        """``GET /ask?query=…``; without a question the content's page of this address."""
        if self._is_page(desk, call):
            return await (self._get_page_below if desk.name else self._get_page)(desk, call)
        return await _answer(desk, call, read_ask(call.query))

    async def post_question(self, desk: Desk, call: Call) -> Reply:
        """``POST /ask``."""
        return await _answer(desk, call, decode_ask(call.body))

    async def get_agents(self, desk: Desk, call: Call) -> Reply:
        """``GET /who``; without a query the content's page of this address, if there is one."""
        if self._is_page(desk, call):
            return await self._get_page(desk, call)
        return Reply(200, encode_agents(self._desks, *read_who(call.query), ASK_PATH))

    async def post_who(self, _desk: Desk, call: Call) -> Reply:
        """``POST /who``."""
        return Reply(200, encode_agents(self._desks, *decode_who(call.body), ASK_PATH))

    def _is_page(self, desk: Desk, call: Call) -> bool:
        return "query" not in call.query and bool(self._pages_at(desk, call.path))

    def protocols(self) -> tuple[ProtocolRoutes, ...]:
        """Return the routes of each site agent."""
        return tuple(map(self._protocol, self._desks))

    def _protocol(self, desk: Desk) -> ProtocolRoutes:
        ask = f"{desk.base_path}{ASK_PATH}"
        routes = (
            Route("GET", ask, self.get_answer, "converse", gives=(JSON, EVENT_STREAM)),
            Route("POST", ask, self.post_question, "converse", MAX_BODY),
        )
        if desk.name:
            return ProtocolRoutes(
                f"nlweb of {desk.name}", routes, (ask,), render_error, desk, objects=OBJECTS
            )
        who = (
            Route("GET", WHO_PATH, self.get_agents, "static", is_open=True),
            Route("POST", WHO_PATH, self.post_who, "static", MAX_BODY),
        )
        owns = (ASK_PATH, WHO_PATH)
        return ProtocolRoutes("nlweb", (*routes, *who), owns, render_error, objects=OBJECTS)


async def _answer(desk: Desk, call: Call, asked: AskedQuestion) -> Reply:
    """Answer a question; with events, unless it is refused before the first one."""
    _check_sites(desk, asked.sites)
    written = choose_format(asked, f"query_{token_hex(12)}")
    parts = _find_parts(desk, call, asked)
    if not asked.streams:
        return Reply(200, written.encode([part async for part in parts]))
    first = await anext(parts)
    stream = await desk.streams.open_pieces(call.principal, lambda: _tell(first, parts, written))
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


async def _tell(
    first: Part, parts: AsyncIterator[Part], written: ResponseFormat
) -> AsyncIterator[bytes]:
    """Yield the events of an answer, whose first part is there."""
    yield written.write_part(first)
    try:
        async for part in parts:
            yield written.write_part(part)
    except DeskError as error:
        yield written.write_failure(error)
    if end := written.write_end():
        yield end


async def _find_parts(desk: Desk, call: Call, asked: AskedQuestion) -> AsyncIterator[Part]:
    """Yield the parts of an answer: what was found, then what the site's agent says."""
    ask = AskRequest(CONTENT_SEARCH, asked.text, earlier=asked.earlier, locale=asked.locale)
    if asked.mode != "generate":
        hits = await desk.pages.find(ask, min(asked.most, MAX_RESULTS), call.allowance)
        yield Results(write_hits(desk, hits, asked.least_score))
    if asked.mode == "list":
        return
    said = (await desk.conversations.ask(call.principal, ask, call.allowance)).outcome
    if isinstance(said, Clarification):
        yield said if asked.mode == "generate" else Summary(word_question(said))
    elif asked.mode == "generate":
        yield Generated(said.text, write_sources(desk, said.sources))
    else:
        yield Summary(said.text)


def _check_sites(desk: Desk, named: Sequence[str]) -> None:
    """Refuse a question about content that another site agent has, or none.

    Raises:
        AgentNotFound: none of the named ones is this desk's.
    """
    own = {get_site_name(desk), desk.site.name, desk.name or SITE_AGENT}
    if not desk.name:
        own |= {urlsplit(desk.site.url).hostname or "", desk.site.url}
    if named and {name.lower() for name in own}.isdisjoint(named):
        raise AgentNotFound(
            f"The agent at this address answers for {get_site_name(desk)!r} alone."
            f" GET {WHO_PATH} lists all site agents with their addresses.",
            param="site",
        )
