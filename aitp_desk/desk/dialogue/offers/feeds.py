"""Lists pages as ``application/feed``: search hits, or a folder (AHP 0.1, C.2).

A list is returned page by page. The request has no field for a cursor, so a cursor is a query: sent
as the next ``query`` to the same action it returns the next items.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Source, Turn
from aitp_desk.agent.extractive.agent import cut_text, list_sources
from aitp_desk.agent.extractive.dialogue.context import limit_turn, read_turn
from aitp_desk.agent.extractive.selection import Candidate, find_candidates
from aitp_desk.agent.extractive.trust import is_trusted
from aitp_desk.agent.history.offer import Offer
from aitp_desk.knowledge.documents.base import Document, Passage, is_elsewhere
from aitp_desk.knowledge.documents.dates import find_publication_date
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, split_words
from aitp_desk.model.calls.action import FEED

PAGE_ITEMS = 20
"""Maximum number of items of one response."""
MAX_HITS = 500
"""Maximum number of search hits whose pages are listed."""
MAX_QUERY = 4096
_MAX_DESCRIPTION = 300
_NAMED_IN_TEXT = 5
_MOST_SOURCES = 4

_CURSOR = re.compile(r"after:(\d{1,6}) (.*)", re.DOTALL | re.ASCII)
_SAYS_ALL = frozenset(
    "all any article articles blog browse content contents entire entries everything files folder "
    "latest list listed newest new news one pages page post posts published read recent recently "
    "section show site updated web website whole written".split()
)
"""Words that ask for a list of pages without naming one."""


class PageHit(msgspec.Struct, frozen=True):
    """A page that a search has found, or of a list.

    Parameters:
        document: without its body.
        url: address of the found section.
        section: its heading.
        excerpt: its beginning.
        score: from 0 to 100, relative to the best page of the search.
    """

    document: Document
    url: str
    section: str = ""
    excerpt: str = ""
    score: int = 0


def list_hits(turn: Turn, library: Library, site_url: str) -> Offer:
    """Return the pages that a search finds, the best first."""
    after, question = _read_cursor(turn.question)
    found, hits = find_pages(msgspec.structs.replace(turn, question=question), library)
    sources = list_sources(found)
    items = {hit.document.path: hit for hit in hits}
    listed = [hit.document for hit in hits]
    text = f"I found nothing about this in the pages of {turn.site.name}."
    if listed:
        text = f"{_count(listed)} of {turn.site.name} {_are(listed)} about this: "
    return _feed(text, listed, sources, after, question, library, site_url, items)


def find_pages(
    turn: Turn, library: Library, limit: int = MAX_HITS
) -> tuple[Sequence[Candidate], Sequence[PageHit]]:
    """Return the best sections for a turn, and the pages of all that fit.

    The best come first. Both are empty if the content does not answer the question.
    """
    asked = read_turn(limit_turn(turn, library), library)
    found = find_candidates(library, asked)
    if not (found and is_trusted(found[0])):
        return (), ()
    best = found[0].rank or 1.0
    scored = [(one.passage, one.rank / best) for one in found]
    words = " ".join(wanted.term.word for wanted in asked.wanted)
    further = library.search(words, limit=MAX_HITS)
    scored += [(hit.passage, hit.score / (further[0].score or 1.0)) for hit in further]
    hits: dict[str, PageHit] = {}
    share = 1.0
    for passage, its_share in scored:
        if passage.document in hits:
            continue
        share = max(min(share, its_share), 0.0)  # the order is that of the best sections
        document = library.find_page(passage.document)
        if document is not None:
            hits[passage.document] = _hit(passage, document, round(100 * share))
        if len(hits) == limit:
            break
    return found, list(hits.values())


def list_pages(turn: Turn, library: Library, site_url: str) -> Offer:
    """Return the pages of the folder that a question names, the newest first.

    A question that names none lists all pages.
    """
    after, question = _read_cursor(turn.question)
    if turn.clarification is not None:
        question = turn.clarification
    where, documents = _named(question, library)
    if documents is None:
        folders = ", ".join(library.listing.folders) or "none"
        text = f"{turn.site.name} has no folder of that name. Its folders: {folders}."
        return _feed(text, (), (), 0, question, library, site_url)
    sources = [Source(page.title, page.url, "direct") for page in documents[:_MOST_SOURCES]]
    text = f"{where} is empty."
    if documents:
        text = f"{_count(documents)} in {where}, the newest first: "
    return _feed(text, documents, sources, after, question, library, site_url)


def _feed(
    text: str,
    listed: Sequence[Document],
    sources: Sequence[Source],
    after: int,
    question: str,
    library: Library,
    site_url: str,
    hits: Mapping[str, PageHit] | None = None,
) -> Offer:
    """Return one page of a list; ``hits`` are by page path."""
    page = listed[after : after + PAGE_ITEMS]
    items = [(hits or {}).get(one.path) or PageHit(one, one.url) for one in page]
    if listed:
        titles = "; ".join(document.title for document in page[:_NAMED_IN_TEXT])
        left = len(listed) - after - min(len(page), _NAMED_IN_TEXT)
        more = f"; and {left} more" if left > 0 else ""
        text = f"{text}{titles}{more}." if page else f"{text.rstrip(': ')}. There are no more."
    following = after + len(page)
    cursor = f"after:{following} {question}"
    payload = {
        "total": len(listed),
        "items": [_encode(item, library, site_url) for item in items],
        "next_cursor": cursor if following < len(listed) and len(cursor) <= MAX_QUERY else None,
    }
    return Offer(
        text,
        tuple(sources),
        tokens_used=-(-len(text) // CHARACTERS_PER_TOKEN),
        found=bool(listed),
        content_type=FEED,
        payload=msgspec.Raw(msgspec.json.encode(payload)),
    )


def _encode(item: PageHit, library: Library, site_url: str) -> dict[str, Any]:
    document = item.document
    metadata: dict[str, Any] = {"folder": document.folder}
    if item.section:
        metadata["section"] = item.section
    tags = document.front.get("tags")
    if isinstance(tags, list):
        metadata["tags"] = [str(tag) for tag in tags]
    return {
        "title": document.title,
        "url": _absolute(item.url, site_url),
        "description": document.description or item.excerpt,
        "published_at": find_publication_date(document),
        "thumbnail_url": _absolute(library.shelf.thumbnail(document.path), site_url),
        "metadata": metadata,
    }


def _absolute(url: str | None, site_url: str) -> str | None:
    return url if url is None or is_elsewhere(url) else site_url + url


def _hit(passage: Passage, document: Document, score: int) -> PageHit:
    excerpt = cut_text(" ".join(passage.text.split()), _MAX_DESCRIPTION)
    return PageHit(document, passage.url, passage.heading, excerpt, score)


def _read_cursor(query: str) -> tuple[int, str]:
    found = _CURSOR.fullmatch(query)
    return (int(found[1]), found[2]) if found else (0, query)


def _named(question: str, library: Library) -> tuple[str, Sequence[Document] | None]:
    """Return what a question names: a folder, a server, a tag or all pages.

    The pages are None if it names something unknown.
    """
    stem = library.vocabulary.stemmer.stem
    words = split_words(question)
    listing = library.listing
    folder = listing.find_folder(question.strip().strip("/"), frozenset(map(stem, words)))
    if folder is not None:
        return folder, listing.folders[folder]
    telling = [word for word in words if word not in STOP_WORDS and word not in _SAYS_ALL]
    if not telling:
        return "this site", listing.newest
    tagged = listing.find_tag(frozenset(map(stem, telling)))
    return ("", None) if tagged is None else (f"“{tagged[0]}”", tagged[1])


def _count(listed: Sequence[Document]) -> str:
    return "One page" if len(listed) == 1 else f"{len(listed)} pages"


def _are(listed: Sequence[Document]) -> str:
    return "is" if len(listed) == 1 else "are"
