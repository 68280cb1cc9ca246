"""Finds the pages for a question; nothing is stored and no agent is asked."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.agent.base import SiteFacts, Turn
from aitp_desk.agent.extractive.embedding import learn_turn
from aitp_desk.desk.calls.registry import CONTENT_SEARCH, ActionRegistry
from aitp_desk.desk.dialogue.offers.feeds import PageHit, find_pages
from aitp_desk.desk.dialogue.turn import AskRequest, list_earlier
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.knowledge.snapshot import Knowledge


class PageSearch:
    """Searches the content of one desk, which is open to every caller.

    Parameters:
        facts: what is known of the site.
    """

    def __init__(self, knowledge: Knowledge, registry: ActionRegistry, facts: SiteFacts) -> None:
        self._knowledge = knowledge
        self._registry = registry
        self._facts = facts

    async def find(
        self, ask: AskRequest, limit: int, allowance: Allowance | None = None
    ) -> Sequence[PageHit]:
        """Return the pages that fit a question, the best first; none if nothing does.

        Parameters:
            ask: its query, its earlier questions and its language count.
            limit: the most pages.
            allowance: the caller's, which may leave the search out.

        Raises:
            Forbidden: the named agent may not search the content.
        """
        action = self._registry.get_action(CONTENT_SEARCH)
        if allowance is not None:
            allowance.check_action(action.name)
        library = self._knowledge.editions.find_library(ask.locale)
        turn = Turn(ask.query, self._facts, list_earlier(ask), locale=ask.locale)
        await learn_turn(turn, library)
        return find_pages(turn, library, limit)[1]
