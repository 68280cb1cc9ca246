"""Answers without a search: what the site is, and how to contact it."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.agent.base import Answer, SiteFacts, Source
from aitp_desk.agent.extractive.dialogue.topics import write_introduction
from aitp_desk.agent.speech import speech_of
from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.library import Library

_MOST_FOLLOW_UPS = 3


def site_facts(site: Site) -> SiteFacts:
    """Return what the agent may say about the site itself."""
    ways = (site.contact.email, site.contact.phone, site.contact_url)
    return SiteFacts(
        name=site.name,
        url=site.url,
        description=site.description,
        contact=next((way for way in ways if way), None),
        answer_characters=site.answer_characters,
    )


def describe_site(site: Site, library: Library) -> Answer:
    """Return an introduction of the site: its description, and its topics."""
    said = write_introduction(site.name, site.description, library)
    about = _page_about(library)
    sources = (
        (Source(about.title, about.url, "direct"),)
        if about
        else (Source(site.name, "/", "direct"),)
    )
    others = [document.title for document in library.documents if document is not about]
    return Answer(said, sources, tuple(others[:_MOST_FOLLOW_UPS]))


def describe_contact(site: Site, library: Library) -> Answer:
    """Return how to contact the site's people, as configured."""
    contact, says = site.contact, speech_of(library.language).says
    ways = [
        *([says.mail.format(contact.email)] if contact.email else []),
        *([says.call.format(contact.phone)] if contact.phone else []),
        *([says.see.format(site.contact_url)] if contact.url else []),
    ]
    if not ways:
        return Answer(says.no_contact.format(site=site.name), found=False)
    source = contact.url if contact.url.startswith("/") else "/"
    text = says.reach.format(site=site.name, ways=", ".join(ways))
    return Answer(text, (Source("Contact", source, "direct"),))


def site_data(site: Site) -> tuple[str, Mapping[str, str]]:
    """Return the site's schema URL and data."""
    data = {"name": site.name, "url": f"{site.url}/", "description": site.description}
    return "https://schema.org/WebSite", _said(data)


def contact_data(site: Site) -> tuple[str, Mapping[str, str]]:
    """Return the contact's schema URL and data, without unset members."""
    contact = site.contact
    data = {"email": contact.email, "telephone": contact.phone, "url": site.contact_url}
    return "https://schema.org/ContactPoint", _said(data)


def _said(data: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in data.items() if value}


def _page_about(library: Library) -> Document | None:
    pages = {document.version_of or document.path: document for document in library.documents}
    return pages.get("about") or pages.get("index")
