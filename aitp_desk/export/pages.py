"""The pages that only an exported site has, and what stands around all of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from aitp_desk.announcing.tags import notice
from aitp_desk.config import Site
from aitp_desk.knowledge.base import Document
from aitp_desk.pages.fill import Markup, fill
from aitp_desk.pages.home import render_agents, render_pages
from aitp_desk.pages.policy import IN_PAGES
from aitp_desk.pages.render import Frame, render_frame
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH

STATIC = Frame(
    home="Home",
    here="This site",
    nav=Markup('<a href="/#desk.pages">Pages</a>\n<a href="/#desk.agents">For agents</a>'),
    script=Markup(),
    policy=fill(
        '<meta http-equiv="Content-Security-Policy" content="$policy">\n'
        '<meta name="referrer" content="no-referrer">',
        policy=IN_PAGES,
    ),
    promise="These are the pages of $site. This page loads nothing from any other site.",
    notice=Markup(notice(asks=False)),
)
"""There is nothing to ask, hence no box and no script."""


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_INDEX = _read("index.html")
_AGENTS = Markup(_read("agents.html"))
_MISSING = _read("missing.html")


def render_index(site: Site, documents: Sequence[Document]) -> bytes:
    """The home page: all pages by folder.

    Parameters:
        documents: the site's content; pages from elsewhere are linked to.
    """
    description = site.description or f"The pages of {site.name}."
    main = fill(
        _INDEX,
        site=site.name,
        description=description,
        pages=render_pages("Pages", documents),
        agents=render_agents(_AGENTS),
    )
    return render_frame(
        site,
        main,
        title=site.name,
        description=description,
        markdown=CONTENT_PATH,
        frame=STATIC,
    )


def render_missing(site: Site) -> bytes:
    """The page for addresses that lead to nothing (``404.html``)."""
    return render_frame(
        site,
        Markup(_MISSING),
        title=f"There is no such page · {site.name}",
        description="There is no such page.",
        frame=STATIC,
    )
