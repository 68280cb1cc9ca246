"""Checks what a desk publishes of itself: every document and address, and the origin they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from yarl import URL

from aitp_desk.cli.commands.site.examination.findings import Findings
from aitp_desk.egress import Fetched
from aitp_desk.model.web_address import is_loopback
from aitp_desk.visitor import VisitError
from aitp_desk.visitor.discovery.descriptions import (
    CARD_PLACE,
    LLMS_PLACE,
    OPENAPI_PLACE,
)
from aitp_desk.visitor.discovery.endpoints import MANIFEST_PLACE, Discovery
from aitp_desk.visitor.discovery.manifest import list_manifest_endpoints, resolve
from aitp_desk.visitor.discovery.members import decode_object, list_of, object_of, text_of
from aitp_desk.visitor.fetcher import Fetcher
from aitp_desk.web.discovery.catalog import CATALOG_PATH
from aitp_desk.web.discovery.security_txt import SECURITY_PATH
from aitp_desk.web.widget.routes import LOADER_PATH

SNIPPET = (
    "pass it on to the desk: aitp-desk snippet nginx FOLDER prints the settings of the web server"
)
OAUTH_PLACE = "/.well-known/oauth-authorization-server"
_ALWAYS = {
    MANIFEST_PLACE: "application/json",
    LLMS_PLACE: "text/markdown",
    CATALOG_PATH: "application/json",
    LOADER_PATH: "text/javascript",
}
"""Documents that no setting of a desk switches off."""
_HTML = "text/html"


async def find_public_origin(fetcher: Fetcher) -> str:
    """Return the public origin that a desk at a local address names.

    Returns:
        empty unless the examined address is loopback and the desk names one that is not.
    """
    if not is_loopback(URL(fetcher.origin).host or ""):
        return ""
    catalog = decode_object(await _read(fetcher, CATALOG_PATH) or _NOTHING) or {}
    for url, _ in _list_addresses(fetcher.origin, CATALOG_PATH, catalog):
        if not is_loopback(URL(url).host or ""):
            return str(URL(url).origin())
    return ""


def report_discovery(found: Discovery, public: str, findings: Findings) -> None:
    """Report which protocols a visiting agent finds, and what it has to leave out.

    Parameters:
        public: the result of ``find_public_origin``.
    """
    kinds = ", ".join(endpoint.kind for endpoint in found.endpoints)
    if kinds:
        findings.approve("discovery", f"a visiting agent finds {kinds}")
    else:
        findings.fault("discovery", "a visiting agent finds no protocol", SNIPPET)
    for one in found.unused:
        if public and one.what == "agents_txt" and f"names {URL(public).host}," in one.reason:
            continue  # agents.txt is valid at the public address alone
        findings.fault("discovery", f"{one.what} at {one.url} is not usable", one.reason)


async def check_documents(fetcher: Fetcher, named: str, findings: Findings) -> None:
    """Check each document, the origin that it names, and each address that one advertises.

    Parameters:
        named: the origin that the documents must name.
    """
    documents: dict[str, Mapping[str, Any]] = {}
    advertised: dict[str, str] = {}
    for path in _LISTS:
        document = decode_object(await _read(fetcher, path) or _NOTHING)
        if document is None:
            continue
        documents[path] = document
        addresses = dict(_list_addresses(fetcher.origin, path, document))
        for url, kind in addresses.items():
            advertised.setdefault(URL(url).path_qs, kind)
        _check_origins(fetcher.origin, named, path, addresses, findings)
    answered = 0
    for path, kind in {**_ALWAYS, **advertised}.items():
        try:
            found = await fetcher.read(fetcher.origin + path, accept="application/json, */*;q=0.1")
            fault = find_fault(found, kind)
        except VisitError as error:
            findings.fault("addresses", f"{path} cannot be read: {error}", SNIPPET)
            continue
        if fault is None:
            answered += 1
        elif path == SECURITY_PATH or kind == _HTML:  # the website's own
            findings.warn("addresses", f"{path} {fault[0]}", "publish it, or pass it to the desk")
        else:
            findings.fault("addresses", f"{path} {fault[0]}", fault[1])
    if answered:
        findings.approve("addresses", f"{answered} addresses are answered by the desk")


_NOTHING = Fetched(404, {}, b"", "")


async def _read(fetcher: Fetcher, path: str) -> Fetched | None:
    try:
        return await fetcher.read(fetcher.origin + path, accept="application/json")
    except VisitError:
        return None  # reported with the addresses


def find_fault(found: Fetched, kind: str) -> tuple[str, str] | None:
    """Return what is wrong with a response to a GET, with advice; None if the desk answers.

    The desk answers a program in JSON or text, also to say that it wants another method or a
    credential. A web server that answers itself has a page.

    Parameters:
        kind: the media type that was declared for the address; empty for what is called.
    """
    is_page = _HTML in found.headers.get("Content-Type", _HTML).lower()
    if found.status == HTTPStatus.MISDIRECTED_REQUEST:
        return (
            "is refused for its host (421)",
            "let the web server pass Host on (nginx: proxy_set_header Host $host)",
        )
    if found.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return (
            f"fails with status {found.status}",
            "see whether the desk runs, and read its log and the web server's",
        )
    if found.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        who = "the website" if is_page else "the desk"
        return f"is answered by {who} with status {found.status}", SNIPPET
    if is_page and _HTML not in kind:
        return "is answered by a page of the website", SNIPPET
    return None


def _check_origins(
    origin: str, named: str, path: str, addresses: Mapping[str, str], findings: Findings
) -> None:
    """Report whether a document names the right origin; relative addresses are at ``origin``."""
    others = [url for url in addresses if str(URL(url).origin()) not in {origin, named}]
    if not others:
        findings.approve("origin", f"{path} names {named}")
        return
    other = URL(others[0]).origin()
    findings.fault(
        "origin",
        f"{path} names {other} instead of {named}",
        f'set site.url = "{named}" and start the desk again',
    )


def _list_addresses(
    origin: str, path: str, document: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the desk's addresses in a document, each with its declared media type."""
    for address, kind in _LISTS[path](document, origin + path):
        if address:
            yield resolve(origin + path, address), kind


Addresses = Iterator[tuple[str, str]]


def _list_catalog(catalog: Mapping[str, Any], _url: str) -> Addresses:
    for entry in list_of(catalog, "linkset"):
        for links in (one for one in entry.values() if isinstance(one, list)):
            for link in links:
                yield text_of(link, "href"), text_of(link, "type")


def _list_manifest(manifest: Mapping[str, Any], url: str) -> Addresses:
    for endpoint in list_manifest_endpoints(manifest, url, "It was read"):
        yield endpoint.url, "text/markdown" if endpoint.kind == "llms_txt" else ""
    for link in object_of(manifest, "links").values():
        if isinstance(link, str):
            yield link, _HTML


def _list_card(card: Mapping[str, Any], _url: str) -> Addresses:
    for interface in list_of(card, "supportedInterfaces"):
        yield text_of(interface, "url"), ""


def _list_issuer(metadata: Mapping[str, Any], _url: str) -> Addresses:
    for member in metadata:
        if member.endswith(("_endpoint", "_uri")):
            yield text_of(metadata, member), ""


def _list_servers(description: Mapping[str, Any], _url: str) -> Addresses:
    for server in list_of(description, "servers"):
        yield text_of(server, "url"), _HTML


_LISTS: Mapping[str, Callable[[Mapping[str, Any], str], Addresses]] = {
    CATALOG_PATH: _list_catalog,
    MANIFEST_PLACE: _list_manifest,
    CARD_PLACE: _list_card,
    OAUTH_PLACE: _list_issuer,
    OPENAPI_PLACE: _list_servers,
}
"""What lists the addresses in each document."""
