"""Writes the catalog of a site's APIs, with what describes each (RFC 9727).

It is a set of links (RFC 9264) with the relations of RFC 8631, and as a text for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

CATALOG_PATH: Final = "/.well-known/api-catalog"
INDEX_PATH: Final = "/.well-known/"
RELATION: Final = "api-catalog"
LINKSET_TYPE: Final = "application/linkset+json"
LINKSET: Final = f'{LINKSET_TYPE}; profile="https://www.rfc-editor.org/info/rfc9727"'
ITEM: Final = "item"
DESCRIPTION: Final = "service-desc"
"""For programs, such as an OpenAPI document."""
DOCUMENTATION: Final = "service-doc"
"""For people."""
METADATA: Final = "service-meta"
"""Of the site or its API, for programs."""
STATUS: Final = "status"


class CatalogLink(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One link, as the set of links has it.

    Parameters:
        href: a URL.
        type: the media type of what is there; empty where it is not read but called.
        title: what it is.
    """

    href: str
    type: str = ""
    title: str = ""


class CatalogEntry(msgspec.Struct, frozen=True):
    """An API, or the site.

    Parameters:
        anchor: its address.
        title: what it is.
        links: by their relations.
    """

    anchor: str
    title: str
    links: Mapping[str, Sequence[CatalogLink]]


def write_linkset(url: str, entries: Sequence[CatalogEntry]) -> bytes:
    """Write the catalog as a set of links.

    Parameters:
        url: the site's.
        entries: the site's first, then one for each API.
    """
    apis = [CatalogLink(href=entry.anchor, title=entry.title) for entry in entries[1:]]
    return msgspec.json.encode(
        {
            "linkset": [
                {"anchor": f"{url}{CATALOG_PATH}", ITEM: apis},
                *({"anchor": entry.anchor, **entry.links} for entry in entries),
            ]
        }
    )


def write_list(entries: Sequence[CatalogEntry]) -> str:
    """Write the catalog as a text, a line for each address."""
    lines: list[str] = []
    for entry in entries:
        lines += [f"{entry.title}: {entry.anchor}"]
        lines += [
            f"  {link.title}: {link.href}" for links in entry.links.values() for link in links
        ]
        lines.append("")
    return "\n".join(lines)
