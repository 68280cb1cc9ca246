"""Makes the answers that need no agent, in the best type the client accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from aitp_desk.agent.base import (
    CHARACTERS_PER_TOKEN,
    Answer,
    Clarification,
    Said,
    Source,
    Turn,
)
from aitp_desk.agent.extractive.agent import cut_text
from aitp_desk.agent.history.offer import Offer, negotiate
from aitp_desk.config import Site
from aitp_desk.desk.calls.registry import CONTACT, CONTENT_SEARCH, LIST_PAGES, SITE_INFO
from aitp_desk.desk.dialogue.offers.descriptions import describe
from aitp_desk.desk.dialogue.offers.facts import (
    contact_data,
    describe_contact,
    describe_site,
    site_data,
)
from aitp_desk.desk.dialogue.offers.feeds import list_hits, list_pages
from aitp_desk.desk.dialogue.offers.page_offers import find_resource
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.media.payloads import Resource, with_absolute_urls
from aitp_desk.model.calls.action import DATA, FEED, TEXT_ANSWER, Action

_MOST_TITLES = 8

Make = Callable[[Turn, Library], Said | None]
"""Makes an answer of one type; None if nothing of it answers the question."""


class ContentOffers:
    """Makes the answers of one site's built-in actions.

    Parameters:
        site: the site; ``site.url`` makes addresses absolute.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._makers: Mapping[tuple[str, str], Make] = {
            (SITE_INFO, TEXT_ANSWER): lambda _turn, library: describe_site(site, library),
            (SITE_INFO, DATA): self._site_data,
            (CONTACT, TEXT_ANSWER): lambda _turn, library: describe_contact(site, library),
            (CONTACT, DATA): self._contact_data,
            (CONTENT_SEARCH, FEED): self._hits,
            (LIST_PAGES, FEED): self._pages,
        }

    def make_offer(
        self, action: Action, accepts: tuple[str, ...] | None, turn: Turn, library: Library
    ) -> Said | None:
        """Return the answer in the negotiated type, or a question to the client.

        Parameters:
            accepts: content types that the client accepts; see :func:`negotiate`.

        Returns:
            None if the agent is to answer, in text.

        Raises:
            UnsupportedType: the client accepts none of the types, and the action is strict.
        """
        if accepts is None and action.answer_types[0] == TEXT_ANSWER:
            return _within(self._make(action, TEXT_ANSWER, turn, library), turn.max_tokens)
        made: dict[str, Said | None] = {}

        def fits(kind: str) -> bool:
            if kind not in made:
                made[kind] = self._make(action, kind, turn, library)
            return kind == TEXT_ANSWER or made[kind] is not None

        chosen, fallback_from = negotiate(accepts, action, fits)
        fits(chosen)
        said, richest = made[chosen], made.get(action.answer_types[0])
        if said is None and richest is not None:
            said = _in_words(richest, fallback_from)
        elif said is None and action.answer_types[0] != TEXT_ANSWER:
            said = self._nothing(action.answer_types[0], library)
        return _within(said, turn.max_tokens)

    def _make(self, action: Action, kind: str, turn: Turn, library: Library) -> Said | None:
        make = self._makers.get((action.name, kind))
        if make is not None:
            return make(turn, library)
        if kind == TEXT_ANSWER:
            return None
        found = find_resource(kind, turn, library, is_sought=action.name != CONTENT_SEARCH)
        return self._give(found, library) if isinstance(found, Resource) else found

    def _give(self, resource: Resource, library: Library) -> Offer:
        """Return a resource as an answer; the page that declares it is its source."""
        url = self._site.url
        is_own = resource.content_type.startswith("x-")
        payload = resource.payload if is_own else with_absolute_urls(resource.payload, url)
        page = library.document(resource.page)
        address = f"/{resource.page}" if page is None else page.url
        text = describe(resource, payload, url + address)
        title = resource.title if page is None else page.title
        return Offer(
            text,
            (Source(title, address, "direct"),),
            tokens_used=-(-len(text) // CHARACTERS_PER_TOKEN),
            content_type=resource.content_type,
            payload=msgspec.Raw(msgspec.json.encode(payload)),
        )

    def _nothing(self, kind: str, library: Library) -> Offer:
        """Return that nothing of a type fits, with the available titles."""
        titles = dict.fromkeys(one.resource.title for one in library.shelf.list_by_type(kind))
        listed = "; ".join(list(titles)[:_MOST_TITLES])
        more = f"; and {len(titles) - _MOST_TITLES} more" if len(titles) > _MOST_TITLES else ""
        there = f" It has: {listed}{more}." if titles else ""
        text = f"{self._site.name} has nothing of this kind that matches.{there}"
        return Offer(text, tokens_used=-(-len(text) // CHARACTERS_PER_TOKEN), found=False)

    def _hits(self, turn: Turn, library: Library) -> Offer:
        return list_hits(turn, library, self._site.url)

    def _pages(self, turn: Turn, library: Library) -> Offer:
        return list_pages(turn, library, self._site.url)

    def _site_data(self, _turn: Turn, library: Library) -> Offer:
        return _data(describe_site(self._site, library), *site_data(self._site))

    def _contact_data(self, _turn: Turn, library: Library) -> Offer:
        return _data(describe_contact(self._site, library), *contact_data(self._site))


def _data(words: Answer, schema: str, data: Mapping[str, Any]) -> Offer:
    payload = msgspec.json.encode({"schema": schema, "data": data})
    return Offer(
        words.text,
        words.sources,
        words.follow_ups,
        tokens_used=words.tokens_used,
        found=words.found,
        content_type=DATA,
        payload=msgspec.Raw(payload),
    )


def _in_words(richest: Said, fallback_from: str | None) -> Said:
    """Return the plain-language description of an offer (AHP 0.1, section 6.6, rule 4)."""
    if not isinstance(richest, Offer):
        return richest
    return msgspec.structs.replace(
        richest,
        content_type=TEXT_ANSWER,
        payload=None,
        fallback_from=fallback_from if richest.found else None,
    )


def _within(said: Said | None, max_tokens: int | None) -> Said | None:
    if said is None or isinstance(said, Clarification) or max_tokens is None:
        return said
    text = cut_text(said.text, max_tokens * CHARACTERS_PER_TOKEN)
    return msgspec.structs.replace(said, text=text)
