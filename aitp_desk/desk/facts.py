"""Answers that need no search: what the site is, and how to reach its people."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.agent.base import Answer, SiteFacts, Source
from aitp_desk.config import Site
from aitp_desk.knowledge.base import Document
from aitp_desk.knowledge.library import Library

_MOST_TITLES = 8
_MOST_FOLLOW_UPS = 3


def site_facts(site: Site) -> SiteFacts:
    """What the agent may say of the site itself."""
    ways = (site.contact.email, site.contact.phone, site.contact_url)
    return SiteFacts(
        name=site.name,
        url=site.url,
        description=site.description,
        contact=next((way for way in ways if way), None),
    )


def describe_site(site: Site, library: Library) -> Answer:
    """What this site is: its description, and what its pages are about."""
    titles = [document.title for document in library.documents[:_MOST_TITLES]]
    count = len(library.documents)
    said = [f"{site.name}: {site.description}" if site.description else f"{site.name}."]
    if titles:
        more = ", and more" if count > len(titles) else ""
        pages = "page" if count == 1 else "pages"
        said.append(f"It has {count} {pages}: {', '.join(titles)}{more}.")
    about = _page_about(library)
    sources = (
        (Source(about.title, about.url, "direct"),)
        if about
        else (Source(site.name, "/", "direct"),)
    )
    others = [document.title for document in library.documents if document is not about]
    return Answer(" ".join(said), sources, tuple(others[:_MOST_FOLLOW_UPS]))


def describe_contact(site: Site) -> Answer:
    """How to reach the people behind the site, as far as the owner has said."""
    contact = site.contact
    ways = [
        *([f"mail {contact.email}"] if contact.email else []),
        *([f"call {contact.phone}"] if contact.phone else []),
        *([f"see {site.contact_url}"] if contact.url else []),
    ]
    if not ways:
        return Answer(f"{site.name} has not said how to get in touch.", found=False)
    source = contact.url if contact.url.startswith("/") else "/"
    return Answer(
        f"To reach {site.name}: {', '.join(ways)}.", (Source("Contact", source, "direct"),)
    )


def site_data(site: Site) -> tuple[str, Mapping[str, str]]:
    """The same as data: the name of its shape, and its members."""
    data = {"name": site.name, "url": f"{site.url}/", "description": site.description}
    return "https://schema.org/WebSite", _said(data)


def contact_data(site: Site) -> tuple[str, Mapping[str, str]]:
    """How to reach its people as data; what the owner has not said is left out."""
    contact = site.contact
    data = {"email": contact.email, "telephone": contact.phone, "url": site.contact_url}
    return "https://schema.org/ContactPoint", _said(data)


def _said(data: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in data.items() if value}


def _page_about(library: Library) -> Document | None:
    return library.document("about") or library.document("index")
