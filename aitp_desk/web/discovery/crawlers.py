"""Writes ``robots.txt`` and ``sitemap.xml``, as the desk and an exported site have them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from html import escape

from aitp_desk.config import Signals, Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.protocols.ahp.content import write_content_signal

ROBOTS_PATH = "/robots.txt"
SITEMAP_PATH = "/sitemap.xml"
MOST_IN_SITEMAP = 50_000
"""The limit of a sitemap (sitemaps.org)."""


def write_robots(site: Site, signals: Signals) -> str:
    """Write ``robots.txt`` (RFC 9309): all may read, content signals, the sitemap."""
    lines = ["User-agent: *", f"Content-Signal: {write_content_signal(signals)}", "Allow: /", ""]
    if site.url:
        lines += [f"Sitemap: {site.url}{SITEMAP_PATH}", ""]
    return "\n".join(lines)


def write_sitemap(site: Site, documents: Iterable[Document], suffix: str = "") -> str:
    """Write ``sitemap.xml`` (sitemaps.org): the home page and each page.

    Parameters:
        site: whose ``url`` is set.
        documents: the site's own pages; those beyond the limit are left out.
        suffix: what follows the path of each page: a slash where pages are folders.
    """
    entries = [_entry(f"{site.url}/", None)]
    entries += (_entry(f"{site.url}{page.url}{suffix}", page.updated) for page in documents)
    return "\n".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
            *entries[:MOST_IN_SITEMAP],
            "</urlset>",
            "",
        )
    )


def _entry(address: str, updated: str | None) -> str:
    day = _day(updated or "")
    changed = f"<lastmod>{day}</lastmod>" if day else ""
    return f"<url><loc>{escape(address)}</loc>{changed}</url>"


def _day(written: str) -> str:
    """Return the day of an ISO 8601 date or time; empty for anything else."""
    try:
        return date.fromisoformat(written[:10]).isoformat()
    except ValueError:
        return ""
