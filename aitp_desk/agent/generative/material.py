"""Tracks the passages that a model received for a reply, and its citations."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.agent.base import Relevance, Source
from aitp_desk.agent.extractive.agent import MAX_SOURCES
from aitp_desk.agent.extractive.dialogue.context import read_message
from aitp_desk.agent.extractive.embedding import learn_question
from aitp_desk.agent.extractive.question import shorten_message
from aitp_desk.agent.generative.passages import (
    Excerpt,
    PageExcerpts,
    group_by_page,
    search_excerpts,
)
from aitp_desk.agent.generative.prompt import parse_arguments
from aitp_desk.agent.generative.providers.base import Citation
from aitp_desk.knowledge.library import Library

_NEAREST = 2
"""How many passages are listed if a model cites none."""


class ReplySources:
    """The excerpts of one reply; their pages in the order that the API counts.

    Parameters:
        room: the most tokens of one search.
    """

    def __init__(self, library: Library, room: int) -> None:
        self._library = library
        self._room = room
        self._sent: list[Excerpt] = []
        self._pages: list[PageExcerpts] = []
        self._cited: dict[str, Excerpt] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no excerpt was sent."""
        return not self._sent

    @property
    def texts(self) -> list[str]:
        """Return all excerpts that were sent, with their addresses."""
        return [f"{excerpt.passage.url}\n{excerpt.text}" for excerpt in self._sent]

    def add(self, found: Sequence[Excerpt]) -> None:
        """Register excerpts that are sent."""
        self._sent += found
        self._pages += group_by_page(found)

    async def search(self, arguments: str) -> tuple[Excerpt, ...]:
        """Run a search of the model and register its new excerpts as sent."""
        query = parse_arguments(arguments).get("query")
        if not isinstance(query, str) or not query.strip():
            return ()
        await learn_question(read_message(shorten_message(query), self._library), self._library)
        known = {excerpt.passage.url for excerpt in self._sent}
        found = tuple(
            excerpt
            for excerpt in search_excerpts(query, self._library, room=self._room)
            if excerpt.passage.url not in known
        )
        self.add(found)
        return found

    def add_citation(self, cited: Citation) -> None:
        """Register a cited passage, if the model was sent one from there."""
        for page in (*self._pages[cited.index : cited.index + 1], *self._pages):
            if page.url == cited.source:
                block = min(cited.block, len(page.excerpts) - 1)
                excerpt = page.excerpts[block]
                self._cited.setdefault(excerpt.passage.url, excerpt)
                return

    def reset(self) -> None:
        """Discard the citations: the text that cited them is void."""
        self._cited.clear()

    def sources(self) -> tuple[Source, ...]:
        """Return the cited passages; else those nearest to the question."""
        if self._cited:
            return tuple(_source(cited, "direct") for cited in self._cited.values())[:MAX_SOURCES]
        return tuple(_source(sent, "background") for sent in self._sent[:_NEAREST])


def _source(excerpt: Excerpt, relevance: Relevance) -> Source:
    quote = excerpt.text.partition("\n")[0]
    return Source(excerpt.passage.name, excerpt.passage.url, relevance, quote)
