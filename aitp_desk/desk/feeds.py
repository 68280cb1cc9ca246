"""Lists of pages: what a search found, what lies in a folder (AHP 0.1, C.2, ``application/feed``).

A list is given page by page. The request has no place for a cursor, so a cursor is a query: sent as
the next ``query`` to the same capability it gives what comes next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Source, Turn
from aitp_desk.agent.converse import read_turn, within_reason
from aitp_desk.agent.extractive import cut, sources_of
from aitp_desk.agent.select import find
from aitp_desk.agent.trust import answers
from aitp_desk.desk.offer import Offer
from aitp_desk.knowledge.base import Document, Passage, is_elsewhere
from aitp_desk.knowledge.dates import published_at
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.words import STOP_WORDS, words_of
from aitp_desk.model.action import FEED

PAGE_ITEMS = 20
"""How many items a list gives at once."""
MOST_HITS = 500
"""How many passages of a search are listed by their pages."""
MAX_QUERY = 4096
_MAX_DESCRIPTION = 300
_NAMED_IN_TEXT = 5
_MOST_SOURCES = 4

_CURSOR = re.compile(r"after:(\d{1,6}) (.*)", re.DOTALL)
_SAYS_ALL = frozenset(
    "all any article articles blog browse content contents entire entries everything files folder "
    "latest list listed newest new news one pages page post posts published read recent recently "
    "section show site updated web website whole written".split()
)
"""Words that ask for a list of pages without saying which."""


class _Item(msgspec.Struct, frozen=True):
    document: Document
    url: str
    section: str = ""
    excerpt: str = ""


def list_hits(turn: Turn, library: Library, site_url: str) -> Offer:
    """The pages that a search finds, the best first."""
    after, question = _read_cursor(turn.question)
    turn = within_reason(msgspec.structs.replace(turn, question=question))
    asked = read_turn(turn, library)
    found = find(library, asked)
    items: dict[str, _Item] = {}
    sources: Sequence[Source] = ()
    if found and answers(asked, found[0], library):
        sources = sources_of(found)
        words = " ".join(wanted.term.word for wanted in asked.wanted)
        further = (hit.passage for hit in library.search(words, limit=MOST_HITS))
        for passage in (*(best.passage for best in found), *further):
            if passage.document not in items and (item := _hit(passage, library)):
                items[passage.document] = item
    listed = tuple(items.values())
    text = f"I found nothing about this in the pages of {turn.site.name}."
    if listed:
        text = f"{_count(listed)} of {turn.site.name} {_speak(listed)} of this: "
    return _feed(text, listed, sources, after, question, library, site_url)


def list_pages(turn: Turn, library: Library, site_url: str) -> Offer:
    """The pages of the folder that a question names, the newest first; all where it names none."""
    after, question = _read_cursor(turn.question)
    if turn.clarification is not None:
        question = turn.clarification
    where, documents = _named(question, library)
    if documents is None:
        folders = ", ".join(_folders(library)) or "none"
        text = f"{turn.site.name} has no folder of that name. Its folders: {folders}."
        return _feed(text, (), (), 0, question, library, site_url)
    newest = sorted(documents, key=_by_title)
    newest.sort(key=_by_moment, reverse=True)
    listed = tuple(_Item(document, document.url) for document in newest)
    sources = [Source(item.document.title, item.url, "direct") for item in listed[:_MOST_SOURCES]]
    text = f"{_count(listed)} in {where}, the newest first: " if listed else f"{where} is empty."
    return _feed(text, listed, sources, after, question, library, site_url)


def _feed(
    text: str,
    listed: Sequence[_Item],
    sources: Sequence[Source],
    after: int,
    question: str,
    library: Library,
    site_url: str,
) -> Offer:
    page = listed[after : after + PAGE_ITEMS]
    if listed:
        titles = "; ".join(item.document.title for item in page[:_NAMED_IN_TEXT])
        left = len(listed) - after - min(len(page), _NAMED_IN_TEXT)
        more = f"; and {left} more" if left > 0 else ""
        text = f"{text}{titles}{more}." if page else f"{text.rstrip(': ')}. There are no more."
    following = after + len(page)
    cursor = f"after:{following} {question}"
    payload = {
        "total": len(listed),
        "items": [_encode(item, library, site_url) for item in page],
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


def _encode(item: _Item, library: Library, site_url: str) -> dict[str, Any]:
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
        "published_at": published_at(document),
        "thumbnail_url": _absolute(library.shelf.thumbnail(document.path), site_url),
        "metadata": metadata,
    }


def _absolute(url: str | None, site_url: str) -> str | None:
    return url if url is None or is_elsewhere(url) else site_url + url


def _hit(passage: Passage, library: Library) -> _Item | None:
    document = library.document(passage.document)
    if document is None:
        return None
    excerpt = cut(" ".join(passage.text.split()), _MAX_DESCRIPTION)
    return _Item(document, passage.url, passage.heading, excerpt)


def _read_cursor(query: str) -> tuple[int, str]:
    found = _CURSOR.fullmatch(query)
    return (int(found[1]), found[2]) if found else (0, query)


def _named(question: str, library: Library) -> tuple[str, Sequence[Document] | None]:
    """What a question names: a folder, a server, a tag, or all pages; None where nothing is."""
    said = question.strip().strip("/").casefold()
    stem = library.vocabulary.stemmer.stem
    telling = [
        word for word in words_of(question) if word not in STOP_WORDS and word not in _SAYS_ALL
    ]
    stems = set(map(stem, words_of(question)))
    folders = _folders(library)
    named = [
        folder
        for folder in folders
        if folder.casefold() == said or set(map(stem, words_of(_last(folder)))) <= stems
    ]
    if named:
        folder = max(named, key=lambda name: (name.casefold() == said, name.count("/"), name))
        return folder, folders[folder]
    if not telling:
        return "this site", library.documents
    tags: dict[str, list[Document]] = {}
    for document in library.documents:
        listed = document.front.get("tags")
        for tag in listed if isinstance(listed, list) else ():
            tags.setdefault(str(tag), []).append(document)
    wanted = set(map(stem, telling))
    for tag, documents in tags.items():
        if wanted == set(map(stem, words_of(tag))):
            return f"“{tag}”", documents
    return "", None


def _folders(library: Library) -> dict[str, list[Document]]:
    """Every folder with the pages in it and below it."""
    folders: dict[str, list[Document]] = {}
    for document in library.documents:
        if document.is_elsewhere:
            folders.setdefault(document.folder, []).append(document)
            continue
        parts = document.folder.split("/") if document.folder else []
        for depth in range(1, len(parts) + 1):
            folders.setdefault("/".join(parts[:depth]), []).append(document)
    return dict(sorted(folders.items()))


def _last(folder: str) -> str:
    return folder.rpartition("/")[2]


def _count(listed: Sequence[_Item]) -> str:
    return "One page" if len(listed) == 1 else f"{len(listed)} pages"


def _speak(listed: Sequence[_Item]) -> str:
    return "speaks" if len(listed) == 1 else "speak"


def _by_title(document: Document) -> str:
    return document.title.casefold()


def _by_moment(document: Document) -> str:
    return published_at(document) or ""
