"""Writes pages as results of NLWeb: with what they declare, else what is known of them.

Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from aitp_desk.agent.base import Relevance, Source
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.offers.feeds import PageHit
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.dates import find_first_publication, to_rfc3339
from aitp_desk.protocols.nlweb.objects import NLWebItem

_SCHEMA = "https://schema.org"
_WORTH: Mapping[Relevance, int] = {"direct": 85, "indirect": 65, "background": 45}
"""The least score of a source by its relevance, relative to the best one."""


def get_site_name(desk: Desk) -> str:
    """Return what callers name this desk's content by: the agent's name, or the host's."""
    return desk.name or urlsplit(desk.site.url).netloc


def write_hits(desk: Desk, hits: Iterable[PageHit], least_score: int) -> list[NLWebItem]:
    """Return the results of a search."""
    return [
        _write(desk, hit.document, hit.score, hit.excerpt)
        for hit in hits
        if hit.score >= least_score
    ]


def write_sources(desk: Desk, sources: Sequence[Source]) -> list[NLWebItem]:
    """Return the pages that an answer is made from, also those of partners."""
    editions = desk.knowledge.editions
    items: dict[str, NLWebItem] = {}
    for source in sources:
        path = source.url.partition("#")[0].removeprefix("/")
        document = editions.document(path)
        if path in items:
            continue
        if document is not None:
            items[path] = _write(desk, document, _WORTH[source.relevance], source.quote)
        elif not source.url.startswith("/"):
            items[path] = _cite(source)
    return list(items.values())


def _cite(source: Source) -> NLWebItem:
    """Return a page of another site, of which only its citation is known."""
    made = {
        "@context": _SCHEMA,
        "@type": "WebPage",
        "name": source.title,
        "url": source.url,
        "description": source.quote,
    }
    return NLWebItem(
        url=source.url,
        name=source.title,
        site=urlsplit(source.url).netloc,
        score=_WORTH[source.relevance],
        description=source.quote,
        schema_object={name: value for name, value in made.items() if value},
    )


def _write(desk: Desk, document: Document, score: int, excerpt: str) -> NLWebItem:
    url = document.url if document.is_elsewhere else f"{desk.site.url}{document.url}"
    description = document.description or excerpt
    library = desk.knowledge.editions.find_library_of(document)
    declared = library.schema_object(document.path)
    return NLWebItem(
        url=url,
        name=document.title,
        site=get_site_name(desk),
        score=score,
        description=description,
        schema_object=declared or _describe(document, url, description, library.language),
    )


def _describe(document: Document, url: str, description: str, language: str) -> dict[str, Any]:
    """Return a schema.org object for a page that declares none."""
    published = find_first_publication(document)
    made = {
        "@context": _SCHEMA,
        "@type": "WebPage" if published is None else "Article",
        "name": document.title,
        "url": url,
        "description": description,
        "datePublished": published,
        "dateModified": to_rfc3339(document.updated),
        "inLanguage": document.language or language,
    }
    return {name: value for name, value in made.items() if value}
