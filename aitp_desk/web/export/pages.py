"""The frame of exported pages, and those that only an export has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH
from aitp_desk.protocols.base.discovery_links import write_notice
from aitp_desk.web.pages.blocks.template import Markup, fill_template
from aitp_desk.web.pages.blocks.texts import Texts, find_language_tag, find_texts
from aitp_desk.web.pages.csp import IN_PAGES
from aitp_desk.web.pages.home import render_agents, render_pages
from aitp_desk.web.pages.renderer import Frame, render_frame


@cache
def static_frame(texts: Texts) -> Frame:
    """Return the frame of exported pages: no chat, hence no script."""
    nav = (
        '<a href="/#desk.pages">{{layout.pages}}</a>\n<a href="/#desk.agents">{{layout.agents}}</a>'
    )
    return Frame(
        home=texts.say("export.home"),
        here=texts.say("export.here"),
        nav=fill_template(texts.template(nav)),
        script=Markup(),
        policy=fill_template(
            '<meta http-equiv="Content-Security-Policy" content="$policy">\n'
            '<meta name="referrer" content="no-referrer">',
            policy=IN_PAGES,
        ),
        promise=texts.template("{{export.promise}}"),
        notice=Markup(write_notice(asks=False)),
    )


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_INDEX = _read("index.html")
_AGENTS = _read("agents.html")
_MISSING = _read("missing.html")


def render_index(site: Site, documents: Sequence[Document]) -> bytes:
    """Render the home page: all pages by folder.

    Parameters:
        documents: the site's content; pages from elsewhere are linked to.
    """
    texts = find_texts(site.language)
    description = site.description or texts.say("export.description", site=site.name)
    main = fill_template(
        _INDEX,
        site=site.name,
        description=description,
        pages=render_pages(texts, "layout.pages", documents),
        agents=render_agents(texts, fill_template(texts.template(_AGENTS))),
    )
    return render_frame(
        site,
        main,
        title=site.name,
        description=description,
        markdown=CONTENT_PATH,
        texts=texts,
        frame=static_frame(texts),
        language=find_language_tag(site.language),
    )


def render_missing(site: Site) -> bytes:
    """Render the page for addresses that lead nowhere (``404.html``)."""
    texts = find_texts(site.language)
    heading = texts.say("error.missing")
    return render_frame(
        site,
        fill_template(texts.template(_MISSING)),
        title=f"{heading} · {site.name}",
        description=heading,
        texts=texts,
        frame=static_frame(texts),
        language=find_language_tag(site.language),
    )
