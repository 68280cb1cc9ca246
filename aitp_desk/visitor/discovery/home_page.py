"""Finds what a home page says about its manifest (AHP 0.1, section 3.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from aitp_desk.egress import Fetched
from aitp_desk.visitor.discovery.markup import MarkupReader

MAX_CHARACTERS = 256 * 1024
"""How much of a page is read."""
RELATIONS = frozenset({"agent-manifest", "ahp-manifest"})
NOTICE_LABEL, NOTICE_CLASS = "AI Agent Notice", "ahp-notice"

_ADDRESS = re.compile(r"(?:https?://[^\s<>\"'`]{1,2000}|(?<![\w/.])/[^\s<>\"'`]{1,2000})")
_LINK = re.compile(r"<([^<>]{1,2000})>([^<]{0,2000})")
_RELATION = re.compile(r";\s*rel\s*=\s*\"?([^\";,]{1,200})")
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


class Mention(msgspec.Struct, frozen=True):
    """An address of a manifest, as written, and where it is mentioned."""

    address: str
    reason: str


def find_mentions(found: Fetched) -> tuple[Mention, ...]:
    """Return the manifests that a home page names, in AHP's order of discovery."""
    page = _Page()
    if "html" in found.headers.get("Content-Type", "").lower():
        page.feed(found.body.decode("utf-8", "replace")[:MAX_CHARACTERS])
    by_notice = [
        Mention(address, "the notice for agents on the home page names it")
        for address in page.notice_addresses()
    ]
    by_link = [Mention(address, "the home page links it") for address in page.links]
    by_header = [
        Mention(address, "the Link header of the home page names it")
        for address, relation in list_links(found)
        if relation in RELATIONS
    ]
    return (*by_notice, *by_link, *by_header)


def list_links(found: Fetched) -> Iterator[tuple[str, str]]:
    """Yield the addresses of Link headers, each with one relation (RFC 8288)."""
    for name, value in found.headers.items():
        if name.lower() == "link":
            for link in _LINK.finditer(value[:16_384]):
                for relations in _RELATION.findall(link[2]):
                    for relation in relations.lower().split():
                        yield link[1], relation


class _Page(MarkupReader):
    """Collects the links to manifests and the text of the notice; builds no tree."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self._notice: list[str] = []
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        if tag == "link" and RELATIONS & set((own.get("rel") or "").lower().split()):
            self.links.append((own.get("href") or "").strip())
        is_notice = (
            own.get("aria-label") == NOTICE_LABEL
            or NOTICE_CLASS in (own.get("class") or "").split()
        )
        if (is_notice or self._depth) and tag not in _VOID:
            self._depth += 1

    def handle_endtag(self, tag: str) -> None:
        if self._depth and tag not in _VOID:
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            self._notice.append(data)

    def notice_addresses(self) -> Iterator[str]:
        """Yield the addresses in the notice that may be of a manifest: they end in .json."""
        for found in _ADDRESS.finditer(" ".join(self._notice)):
            address = found[0].rstrip(".,;:)")
            if address.partition("?")[0].endswith(".json"):
                yield address
