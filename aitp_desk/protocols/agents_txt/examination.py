"""Examines a file of either form, also as a site serves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from aitp_desk.model.web_address import web_address
from aitp_desk.protocols.agents_txt.faults import ParseResult
from aitp_desk.protocols.agents_txt.json_form import examine_json
from aitp_desk.protocols.agents_txt.parser import examine_text
from aitp_desk.protocols.base.linter import Fault

TEXT_TYPE: Final = "text/plain; charset=utf-8"
JSON_TYPE: Final = "application/json; charset=utf-8"
"""The media types of the files (agents.txt 1.0, section 2.3)."""
_PLACES: Final = {
    JSON_TYPE: ("/.well-known/agents.json", "/agents.json"),
    TEXT_TYPE: ("/.well-known/agents.txt", "/agents.txt"),
}
PLACES: Final = tuple(place for places in _PLACES.values() for place in places)
"""The addresses where agents look for them (section 2)."""


def is_json(body: bytes) -> bool:
    """Return whether a file has the JSON form, which begins with a bracket."""
    return body.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in {b"{", b"["}


def examine(body: bytes) -> ParseResult:
    """Parse as much as possible of either form, and list all faults."""
    if is_json(body):
        return examine_json(body)
    try:
        return examine_text(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        return ParseResult(None, (Fault("", "is not UTF-8 here.", line),))


def examine_served(url: str, headers: Mapping[str, str], body: bytes) -> ParseResult:
    """Examine a fetched file, and how it is served (sections 2, 8.3 and 8.5).

    Parameters:
        url: that answered with it.
        headers: of the response; names match without regard to case.
    """
    read = examine(body)
    expected = JSON_TYPE if is_json(body) else TEXT_TYPE
    served = (*_check_serving(url, headers, expected), *_check_host(url, read))
    return ParseResult(read.document, (*served, *read.faults))


def _check_serving(url: str, headers: Mapping[str, str], expected: str) -> Iterator[Fault]:
    kind = headers.get("Content-Type", "")
    if kind.replace(" ", "").replace('"', "").lower() != expected.replace(" ", ""):
        yield Fault("Content-Type", f"is {kind!r}; it must be {expected}.")
    if headers.get("Access-Control-Allow-Origin") != "*":
        yield Fault(
            "Access-Control-Allow-Origin",
            "is not *, so agents in the pages of other sites cannot read the file.",
            is_error=False,
        )
    address = web_address(url)
    if address is not None and address.path not in _PLACES[expected]:
        places = " or ".join(_PLACES[expected])
        yield Fault(
            "",
            f"is at an address that agents do not request; it must be at {places}.",
            is_error=False,
        )


def _check_host(url: str, read: ParseResult) -> Iterator[Fault]:
    site = web_address(read.document.site.url) if read.document is not None else None
    address = web_address(url)
    if site is not None and address is not None and site.hostname != address.hostname:
        yield Fault(
            "Site-URL",
            f"names {site.hostname}, but the file is served by {address.hostname}; a file"
            " declares only its own site.",
        )
