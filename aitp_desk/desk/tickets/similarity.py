"""Finds tickets similar to a ticket, and groups unanswered questions, for operators."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from itertools import groupby

import structlog

from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.refusals import RefusalGroup, group_refusals
from aitp_desk.knowledge.search.tokenizer import fold_text
from aitp_desk.knowledge.semantics.base import ModelUnusable
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console import refusals as refusal_reads
from aitp_desk.store.reads.console import tickets as ticket_reads

MAX_TICKETS = 500
"""How many earlier tickets, the newest, a ticket is compared with."""
MAX_MESSAGES = 5_000
"""How many of the newest messages are searched for unanswered questions."""
MAX_QUESTIONS = 500
"""How many of these questions, the newest, are grouped."""
SIMILAR = 5
_SECONDS = 5.0
"""Timeout of the embedding model; after that, words are compared."""
_LEAST_COSINE, _LEAST_SHARED = 0.6, 0.4
_WORD = re.compile(r"\w+")

_log = structlog.get_logger(__name__)


class TicketSimilarity:
    """Compares texts by meaning if the content has vectors, otherwise by words.

    Parameters:
        contents: of each site agent, by its name; empty for the site's own.
    """

    def __init__(self, store: Store, contents: Mapping[str, Knowledge]) -> None:
        self._store = store
        self._contents = contents

    async def find_similar_tickets(self, ticket: StoredTicket) -> list[StoredTicket]:
        """Return at most five earlier tickets of the same site agent, most similar first."""
        content = self._contents.get(ticket.desk)
        if content is None or not ticket.about:
            return []
        earlier = [
            one
            for one in await ticket_reads.tickets_before(self._store, ticket.id, MAX_TICKETS)
            if one.about and one.desk == ticket.desk
        ]
        scores = await self._scores(ticket.about, [one.about for one in earlier], content.library)
        best = sorted(zip(scores, earlier, strict=True), key=lambda pair: -pair[0])
        return [one for score, one in best[:SIMILAR] if score]

    async def list_unanswered(self) -> list[RefusalGroup]:
        """Return recent questions that site agents did not answer, most frequent first.

        Where a site agent's content has vectors, questions with the same meaning are grouped.
        """
        found = await refusal_reads.newest_refusals(self._store, MAX_MESSAGES)
        newest = sorted(found, key=lambda one: -one.at)[:MAX_QUESTIONS]
        groups: list[RefusalGroup] = []
        by_desk = sorted(newest, key=lambda one: one.desk)
        for desk, some in groupby(by_desk, key=lambda one: one.desk):
            content = self._contents.get(desk)
            if content is not None:
                groups += await group_refusals(some, content.library.vectors)
        return sorted(groups, key=lambda one: (-one.times, -one.newest.at))

    async def _scores(self, text: str, others: list[str], library: Library) -> list[float]:
        """Return the similarity of a text to each other; 0 below the threshold."""
        if library.vectors is not None:
            try:
                async with asyncio.timeout(_SECONDS):
                    first, *rows = await library.vectors.rows([text, *others])
            except (ModelUnusable, TimeoutError) as error:
                _log.warning("tickets_not_compared", reason=str(error) or "too slow")
            else:
                likeness = library.vectors.likeness
                cosines = [likeness(first, row) for row in rows]
                return [one if one >= _LEAST_COSINE else 0.0 for one in cosines]
        said = find_stems(text, library)
        shares = [compute_share(said, find_stems(other, library)) for other in others]
        return [one if one >= _LEAST_SHARED else 0.0 for one in shares]


def find_stems(text: str, library: Library) -> set[str]:
    """Return the stems of the words of a text that carry meaning."""
    stop, stem = speech_of(library.language).stop, library.vocabulary.stemmer.stem
    return {stem(word) for word in _WORD.findall(fold_text(text)) if word not in stop}


def compute_share(one: set[str], other: set[str]) -> float:
    """Return the share of words that two texts have in common, 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other) or 1)
