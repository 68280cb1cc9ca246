"""The links of a built site: what each page leads to, and what has no file or no id."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

OF_THE_DESK = {"/widget.js"}
"""Addresses that the desk answers."""


def links_of(page: Path) -> list[str]:
    """The addresses in a page: of links, scripts, style sheets and pictures."""
    attributes = [node.attributes for node in _parse(page).css("[href], [src]")]
    return [found for each in attributes if (found := each.get("href") or each.get("src"))]


def ids_of(page: Path) -> set[str]:
    """The ids of a page, to which fragments lead."""
    return {node.attributes["id"] or "" for node in _parse(page).css("[id]")}


def list_broken_links(site: Path) -> Iterator[str]:
    """List the links within a site that lead to no file, or to no id of a page."""
    for page in sorted(site.rglob("*.html")):
        for address in links_of(page):
            link = urlsplit(address)
            if link.scheme or link.netloc or address in OF_THE_DESK:
                continue
            target = (page.parent / unquote(link.path)).resolve() if link.path else page
            if target.is_dir():
                target /= "index.html"
            fragment = unquote(link.fragment)
            if not (target.is_file() and target.is_relative_to(site)):
                yield f"{page.relative_to(site)} leads to no file: {address}"
            elif fragment and target.suffix == ".html" and fragment not in ids_of(target):
                yield f"{page.relative_to(site)} leads to no id: {address}"


@cache
def _parse(page: Path) -> LexborHTMLParser:
    return LexborHTMLParser(page.read_text("utf-8"))
