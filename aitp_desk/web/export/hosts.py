"""Files that configure static hosts, crawlers and search engines for an exported site."""

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
from aitp_desk.protocols.base.protocol import FOREVER, JSON, MARKDOWN
from aitp_desk.web.pages.assets import ICON, STYLE
from aitp_desk.web.pages.csp import ON_PAGES

MOST_IN_SITEMAP = 50_000
"""The limit of a sitemap (sitemaps.org)."""

_FOR_ALL = ("Access-Control-Allow-Origin", "*")
_FIVE_MINUTES = ("Cache-Control", "public, max-age=300")
_EVERYWHERE = (
    ("Link", link_header()),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    *ON_PAGES,
)


def write_headers() -> str:
    """Write the file ``_headers`` of Netlify and Cloudflare Pages."""
    return "\n".join(
        "\n".join((address, *(f"  {name}: {value}" for name, value in headers), ""))
        for address, headers in _rules().items()
    )


def write_vercel() -> str:
    """Write the file ``vercel.json``, which Vercel reads in the root of a project."""
    rules = [
        {
            "source": address.replace("*", "(.*)"),
            "headers": [{"key": name, "value": value} for name, value in headers],
        }
        for address, headers in _rules().items()
    ]
    return msgspec.json.format(msgspec.json.encode({"headers": rules})).decode() + "\n"


def _rules() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the headers of each address; ``*`` matches anything.

    Some hosts join the values of a header from several rules by commas, so no header is in two
    rules that match the same address.
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
    """Write ``robots.txt`` (RFC 9309): all may read, content signals, the sitemap."""
    lines = ["User-agent: *", f"Content-Signal: {write_content_signal(signals)}", "Allow: /", ""]
    if site.url:
        lines += [f"Sitemap: {site.url}/sitemap.xml", ""]
    return "\n".join(lines)


def write_sitemap(site: Site, documents: Iterable[Document]) -> str:
    """Write ``sitemap.xml`` (sitemaps.org): the home page, and each page by its folder.

    Parameters:
        site: whose ``url`` is set.
        documents: the site's own pages; those beyond the limit are left out.
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
    """Return the day of an ISO 8601 date or time; empty for anything else."""
    try:
        return date.fromisoformat(written[:10]).isoformat()
    except ValueError:
        return ""
