"""What tells hosts of static files, crawlers and search engines how to treat an exported site."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from html import escape

import msgspec

from aitp_desk.config import Signals, Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.protocols.ahp.content import FULL_CONTENT_PATH, write_content_signal
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH, link_header
from aitp_desk.protocols.base.door import FOREVER, JSON, MARKDOWN
from aitp_desk.web.pages.assets import ICON, STYLE
from aitp_desk.web.pages.csp import ON_PAGES

MOST_IN_SITEMAP = 50_000
"""A sitemap has room for no more (sitemaps.org)."""

_FOR_ALL = ("Access-Control-Allow-Origin", "*")
_FIVE_MINUTES = ("Cache-Control", "public, max-age=300")
_EVERYWHERE = (
    ("Link", link_header()),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    *ON_PAGES,
)


def write_headers() -> str:
    """The file ``_headers`` that Netlify and Cloudflare Pages read."""
    return "\n".join(
        "\n".join((address, *(f"  {name}: {value}" for name, value in headers), ""))
        for address, headers in _rules().items()
    )


def write_vercel() -> str:
    """The file ``vercel.json`` that Vercel reads in the root of a project."""
    rules = [
        {
            "source": address.replace("*", "(.*)"),
            "headers": [{"key": name, "value": value} for name, value in headers],
        }
        for address, headers in _rules().items()
    ]
    return msgspec.json.format(msgspec.json.encode({"headers": rules})).decode() + "\n"


def _rules() -> dict[str, tuple[tuple[str, str], ...]]:
    """The headers of each address, in which ``*`` stands for anything.

    Some hosts join by commas what several rules say of one header, so no header stands in two rules
    that fit the same address.
    """
    text = (("Content-Type", MARKDOWN), _FOR_ALL, _FIVE_MINUTES)
    return {
        "/*": _EVERYWHERE,
        MANIFEST_PATH: (("Content-Type", JSON), _FOR_ALL, _FIVE_MINUTES),
        CONTENT_PATH: text,
        FULL_CONTENT_PATH: text,
        "/*.md": text,
        **{asset.url: (FOREVER,) for asset in (STYLE, ICON)},
    }


def write_robots(site: Site, signals: Signals) -> str:
    """``robots.txt`` (RFC 9309): all may read, the owner's content signals, and the sitemap."""
    lines = ["User-agent: *", f"Content-Signal: {write_content_signal(signals)}", "Allow: /", ""]
    if site.url:
        lines += [f"Sitemap: {site.url}/sitemap.xml", ""]
    return "\n".join(lines)


def write_sitemap(site: Site, documents: Iterable[Document]) -> str:
    """``sitemap.xml`` (sitemaps.org): the home page, and each page at the address of its folder.

    Parameters:
        site: whose ``url`` is set.
        documents: pages of the site's own, as many as there is room for.
    """
    entries = [_entry(f"{site.url}/", None)]
    entries += (_entry(f"{site.url}{page.url}/", page.updated) for page in documents)
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
    """The day of an ISO 8601 date or time; empty where it is none."""
    try:
        return date.fromisoformat(written[:10]).isoformat()
    except ValueError:
        return ""
