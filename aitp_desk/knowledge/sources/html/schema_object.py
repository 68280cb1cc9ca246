"""Finds the thing that a page is about among its JSON-LD (schema.org).

The object is kept as data for protocols that return it; no answer is taken from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.knowledge.sources.html.json_ld import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_THINGS,
    is_described,
    list_types,
)
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json

MAX_BYTES = 16 * 1024
"""Maximum size of an object; of a larger one the members that fit are kept."""
_OF_THE_PAGE = frozenset("WebPage ItemPage CollectionPage AboutPage ContactPage".split())
_AROUND = frozenset(
    "WebSite Organization Corporation Person BreadcrumbList ItemList ListItem SearchAction"
    " ReadAction SiteNavigationElement WPHeader WPFooter WPSideBar ImageObject".split()
)
"""Types of what surrounds the subject of a page."""


def find_schema_object(declarations: Iterable[str]) -> dict[str, Any]:
    """Return the object that describes a page's subject best; empty if none does.

    A product or recipe comes before an article, and that before the page itself. The site, its
    organization and the way to the page describe no subject.

    Parameters:
        declarations: the JSON-LD of the page. What is not strict JSON is left out.
    """
    found: dict[int, Mapping[str, Any]] = {}
    left = MAX_CHARACTERS
    for text in declarations:
        left -= len(text)
        if left < 0:
            break
        try:
            declared = decode_json(text.encode())
        except (InvalidRequest, UnicodeEncodeError):
            continue
        for thing in _list_things(declared, ""):
            rank = _rank(thing)
            if rank is not None:
                found.setdefault(rank, thing)
    return _fit(found[min(found)]) if found else {}


def _list_things(declared: Any, context: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the things of a declaration, each with the context that it has."""
    if depth > MAX_DEPTH:
        return
    if isinstance(declared, list):
        for one in declared[:MAX_THINGS]:
            yield from _list_things(one, context, depth + 1)
    elif isinstance(declared, dict):
        context = declared.get("@context", context)
        if "@type" in declared:
            yield {"@context": context, **declared} if context else declared
        for name in ("@graph", "mainEntity"):  # items of a list have pages of their own
            if isinstance(declared.get(name), (list, dict)):
                yield from _list_things(declared[name], context, depth + 1)


def _rank(thing: Mapping[str, Any]) -> int | None:
    """Return how likely a thing is the page's subject, 0 the most; None for no subject."""
    types = list_types(thing)
    if not types:
        return None
    if not _AROUND.isdisjoint(types):
        return 2 if is_described(thing) else None
    if not _OF_THE_PAGE.isdisjoint(types):
        return 3
    return 0 if is_described(thing) else 1


def _fit(thing: Mapping[str, Any]) -> dict[str, Any]:
    """Return the thing, without the members that exceed :data:`MAX_BYTES`."""
    kept: dict[str, Any] = {}
    left = MAX_BYTES
    for name, value in thing.items():
        try:
            size = len(msgspec.msgpack.encode({name: value}))
        except OverflowError:  # a whole number that few programs can read
            continue
        if size <= left:
            kept[name] = value
            left -= size
    return kept
