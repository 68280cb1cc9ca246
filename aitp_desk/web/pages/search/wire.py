"""The forms of search results: an object for scripts, a page without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config import Site
from aitp_desk.knowledge.search.headings import MAX_QUERY, HeadingEntry
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import find_language_tag, find_texts
from aitp_desk.web.pages.renderer import read_template, render_frame

_RESULTS = read_template("results.html")


class PageHit(msgspec.Struct, frozen=True):
    """A page or a section that was found."""

    title: Annotated[str, Meta(description="The title of the page.")]
    heading: Annotated[
        str, Meta(description="The heading of the section; empty for the page itself.")
    ]
    url: Annotated[
        str,
        Meta(description="Its address, from / on; of a page on another server an absolute URL."),
    ]


class PageHits(msgspec.Struct, frozen=True, tag_field="object", tag="list"):
    """Pages and sections whose titles and headings have the words, best first."""

    query: Annotated[str, Meta(description="What was searched for.", max_length=MAX_QUERY)]
    data: Annotated[tuple[PageHit, ...], Meta(description="The pages and sections.")]


OBJECTS = (PageHits,)


def encode_hits(query: str, found: Sequence[HeadingEntry]) -> bytes:
    """Encode the results."""
    hits = tuple(PageHit(one.title, one.heading, one.url) for one in found)
    return msgspec.json.encode(PageHits(query, hits))


def render_results(
    site: Site, query: str, found: Sequence[HeadingEntry], brand: Brand = PLAIN
) -> bytes:
    """Render the page with the results; without a query, only the form."""
    texts = find_texts(site.language)
    entry = '<li><a href="$url">$name</a>$page</li>'
    entries = join_markup(
        fill_template(
            entry,
            url=one.url,
            name=one.heading or one.title,
            page=fill_template("<span>$it</span>", it=one.title) if one.heading else "",
        )
        for one in found
    )
    shown = Markup()
    if found:
        count = fill_template('<p class="lead">$it</p>', it=texts.count("search.found", len(found)))
        shown = fill_template("$count\n<ol>\n$entries\n</ol>", count=count, entries=entries)
    elif query:
        ask = texts.template('<p class="lead">{{search.none}} <a href="/">{{error.ask}}</a></p>')
        shown = fill_template(ask)
    heading = texts.say("search.of", query=query) if query else texts.say("search.title")
    main = fill_template(texts.template(_RESULTS), heading=heading, found=shown)
    return render_frame(
        site,
        main,
        title=f"{heading} · {site.name}",
        description=heading,
        texts=texts,
        language=find_language_tag(site.language),
        query=query,
        brand=brand,
    )
