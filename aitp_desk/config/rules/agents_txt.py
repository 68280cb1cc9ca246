"""Rules for the settings of agents.txt beyond their types."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from aitp_desk.config.problem import Problem
from aitp_desk.config.sections.protocols.agents_txt import AgentsTxt, OwnCapability
from aitp_desk.model.web_address import is_loopback, web_address

_SECTION = "agents_txt.capability"
_AS_HTTP = {"ws": "http", "wss": "https"}


def check_agents_txt(settings: AgentsTxt, site_url: str) -> Iterator[Problem]:
    """Yield faults that would break agents.txt 1.0; no URL is repeated.

    Parameters:
        site_url: the desk's public URL.
    """
    for key, url in (
        ("privacy_policy", settings.privacy_policy),
        ("auth_docs", settings.auth_docs),
    ):
        if wrong := _wrong_link(url):
            yield Problem(f"agents_txt.{key}", wrong)
    address = web_address(site_url)
    host = (address.hostname or "") if address is not None else ""
    seen: set[str] = set()
    for place, capability in enumerate(settings.capability, 1):
        if not capability.id:
            yield Problem(f"{_SECTION}.id", f"table {place} of [[{_SECTION}]] has no valid name.")
        elif capability.id in seen:
            yield Problem(f"{_SECTION}.id", f"{capability.id!r} is used twice.")
        seen.add(capability.id)
        yield from _check(capability, host)


def _check(capability: OwnCapability, host: str) -> Iterator[Problem]:
    named = repr(capability.id)
    if wrong := _wrong_endpoint(capability, host):
        yield Problem(f"{_SECTION}.endpoint", f"the value of {named} {wrong}.")
    for key, url in (
        ("auth_endpoint", capability.auth_endpoint),
        ("auth_docs", capability.auth_docs),
        ("registration_endpoint", capability.registration_endpoint),
        ("openapi", capability.openapi),
    ):
        if wrong := _wrong_link(url):
            yield Problem(f"{_SECTION}.{key}", f"the value of {named} {wrong}")
    if capability.auth in {"bearer-token", "oauth2"} and not capability.auth_endpoint:
        yield Problem(
            f"{_SECTION}.auth_endpoint",
            f"{named} has none, but {capability.auth} needs the token endpoint.",
        )
    names = [(one.name, one.location) for one in capability.parameters]
    for place, (name, location) in enumerate(names):
        if not name:
            yield Problem(f"{_SECTION}.parameters.name", f"a parameter of {named} has no name.")
        elif (name, location) in names[:place]:
            yield Problem(f"{_SECTION}.parameters.name", f"{name!r} of {named} is used twice.")


def _wrong_endpoint(capability: OwnCapability, host: str) -> str | None:
    """Return the fault of an endpoint (sections 8.1 and 8.5); None for none."""
    url = capability.endpoint
    if not url:
        return "is missing; it takes a URL, or a path on the site"
    if url.startswith("/"):
        return _wrong_path(url)
    if capability.protocol == "WebSocket":
        scheme, colon, rest = url.partition(":")
        if scheme not in _AS_HTTP:
            return "is not a WebSocket address; it takes one that begins with wss://"
        url = f"{_AS_HTTP[scheme]}{colon}{rest}"
    if wrong := _wrong_url(url):
        return wrong
    if host and urlsplit(url).hostname != host:
        return f"is on another host; the file may only describe {host}"
    return None


def _wrong_link(url: str) -> str | None:
    """Return the fault of a link to a document; None for none."""
    wrong = _wrong_path(url) if not url or url.startswith("/") else _wrong_url(url)
    return wrong and f"{wrong}; it takes an https URL, or a path on the site such as /privacy."


def _wrong_path(path: str) -> str | None:
    is_path = path.isascii() and path.isprintable() and " " not in path
    return None if is_path and not path.startswith("//") else "is not a path on the site"


def _wrong_url(url: str) -> str | None:
    address = web_address(url)
    if address is None:
        return "is not a web address"
    if address.username is not None or address.password is not None:
        return "contains a user name or password"
    if address.scheme != "https" and not is_loopback(address.hostname or ""):
        return "is not encrypted"
    return None
