"""Validates a document of either form beyond its syntax."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from aitp_desk.model.web_address import is_loopback, web_address
from aitp_desk.protocols.agents_txt.document import (
    AGENTS_JSON,
    AUTH_TYPES,
    LOCATIONS,
    PARAMETER_TYPES,
    PROTOCOLS,
    VERSION,
    WINDOWS,
    Auth,
    Capability,
    Document,
    Parameter,
    RateLimit,
)

Path = tuple[str | int, ...]

MAX_DESCRIPTION = 500
"""The longest description that every reader accepts, in characters."""
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that no value may contain (section 3.1): control characters and line ends."""
_ID = re.compile(r"[a-z0-9-]+", re.ASCII)
_METHOD = re.compile(r"[A-Z]+", re.ASCII)
WORD = re.compile(r"\w+", re.ASCII)
"""Names of parameters that every reader accepts."""
_SECRET = re.compile(
    r"(?:api|private|access)[_-]?key|key|token|secret|passw(?:or)?d", re.IGNORECASE
)
_SCHEMES = {"ws": "http", "wss": "https"}


class Finding(NamedTuple):
    """A fault at a member of the JSON form, whichever form the file has."""

    path: Path
    message: str
    is_error: bool = True


def validate(document: Document) -> Iterator[Finding]:
    """Yield all faults of a document (agents.txt 1.0, sections 3 to 8)."""
    yield from _check_head(document)
    yield from _check_site(document)
    ids: set[str] = set()
    if not document.capabilities:
        yield Finding(("capabilities",), "there is none, so agents can do nothing here.", False)
    host = _host(document.site.url)
    for place, capability in enumerate(document.capabilities):
        path = ("capabilities", place)
        if capability.id in ids:
            yield Finding((*path, "id"), f"{capability.id!r} occurs twice.")
        ids.add(capability.id)
        yield from _check_capability(capability, path, host)
    yield from _check_access(document)
    yield from _check_agents(document, ids)
    for found in _check_texts((), msgspec.to_builtins(document)):
        yield found._replace(path=_as_written(found.path))


def _check_head(document: Document) -> Iterator[Finding]:
    if not document.version:
        yield Finding(("specVersion",), f"is missing; it must be {VERSION}.")
    elif document.version.partition(".")[0] != VERSION.partition(".")[0]:
        yield Finding(
            ("specVersion",), f"{document.version!r} is not a known version; use {VERSION}."
        )
    if document.generated_at is not None:
        yield from _check_moment(document.generated_at, ("generatedAt",))
    pointer = document.metadata.get(AGENTS_JSON)
    if pointer is not None:
        yield from _check_url(pointer, ("metadata", AGENTS_JSON))


def _check_site(document: Document) -> Iterator[Finding]:
    site = document.site
    if not site.name:
        yield Finding(("site", "name"), "is missing.")
    if site.url:
        yield from _check_url(site.url, ("site", "url"))
    else:
        yield Finding(("site", "url"), "is missing.")
    if site.privacy_policy is not None:
        yield from _check_url(site.privacy_policy, ("site", "privacyPolicy"))
    if site.contact is not None and "@" not in site.contact:
        yield Finding(("site", "contact"), "is not a mail address.", False)


def _check_capability(capability: Capability, path: Path, host: str) -> Iterator[Finding]:
    if not _ID.fullmatch(capability.id):
        wrong = "is missing" if not capability.id else f"{capability.id!r} is not valid"
        yield Finding((*path, "id"), f"{wrong}; use lowercase letters, digits and hyphens.")
    at = (*path, "protocol")
    if not capability.protocol:
        yield Finding(at, f"is missing; it must be one of {_named(PROTOCOLS)}.")
    elif capability.protocol not in PROTOCOLS:
        yield Finding(at, _unknown(capability.protocol, PROTOCOLS))
    yield from _check_endpoint(capability, (*path, "endpoint"), host)
    if capability.method is not None and not _METHOD.fullmatch(capability.method):
        yield Finding((*path, "method"), f"{capability.method!r} is not a method of HTTP.")
    yield from _check_auth(capability.auth, (*path, "auth"))
    if capability.scopes and capability.auth.type not in {"oauth2", "bearer-token"}:
        yield Finding((*path, "scopes"), "applies only to the auth oauth2.", False)
    yield from _check_rate(capability.rate_limit, path)
    if capability.description is not None and len(capability.description) > MAX_DESCRIPTION:
        yield Finding(
            (*path, "description"),
            f"has more than {MAX_DESCRIPTION} characters, which some readers reject.",
            False,
        )
    if capability.openapi is not None:
        yield from _check_url(capability.openapi, (*path, "openapi"))
    named: set[tuple[str, str]] = set()
    for place, parameter in enumerate(capability.parameters):
        at = (*path, "parameters", place)
        if (parameter.name, parameter.location) in named:
            yield Finding(at, f"{parameter.name!r} occurs twice.")
        named.add((parameter.name, parameter.location))
        yield from _check_parameter(parameter, at)


def _check_endpoint(capability: Capability, path: Path, host: str) -> Iterator[Finding]:
    if not capability.endpoint:
        yield Finding(path, "is missing; it must be a full URL.")
        return
    scheme, colon, rest = capability.endpoint.partition(":")
    is_socket = capability.protocol == "WebSocket"
    url = capability.endpoint
    if is_socket and scheme in _SCHEMES:
        url = f"{_SCHEMES[scheme]}{colon}{rest}"
    elif is_socket:
        yield Finding(path, "is not the address of a WebSocket; write one such as wss://host/path.")
        return
    found = tuple(_check_url(url, path))
    yield from found
    if host and not found and _host(url) != host:
        yield Finding(
            path,
            f"is not on the site's host, {host}; a file declares only its own site.",
        )


def _check_auth(auth: Auth, path: Path) -> Iterator[Finding]:
    if auth.type not in AUTH_TYPES:
        yield Finding((*path, "type"), _unknown(auth.type, AUTH_TYPES))
    if auth.token_endpoint is None and auth.type in {"bearer-token", "oauth2"}:
        yield Finding(
            (*path, "tokenEndpoint"), f"is missing; {auth.type} needs the token endpoint."
        )
    if auth.docs_url is None and auth.type in {"api-key", "hmac"}:
        yield Finding(
            (*path, "docsUrl"),
            f"is missing; agents need it to learn how to get the credential for {auth.type}.",
            False,
        )
    if auth.registration_endpoint is not None and auth.type != "oauth2":
        yield Finding((*path, "registrationEndpoint"), "applies only to the auth oauth2.", False)
    for name, url in (
        ("tokenEndpoint", auth.token_endpoint),
        ("docsUrl", auth.docs_url),
        ("registrationEndpoint", auth.registration_endpoint),
    ):
        if url is not None:
            yield from _check_url(url, (*path, name))


def _check_parameter(parameter: Parameter, path: Path) -> Iterator[Finding]:
    if not WORD.fullmatch(parameter.name):
        yield Finding(
            (*path, "name"),
            f"{parameter.name!r} has other characters than letters, digits and _; some"
            " readers reject it.",
            is_error=not parameter.name,
        )
    if parameter.location not in LOCATIONS:
        yield Finding((*path, "in"), _unknown(parameter.location, LOCATIONS))
    if parameter.type not in PARAMETER_TYPES:
        yield Finding((*path, "type"), _unknown(parameter.type, PARAMETER_TYPES))


def _check_rate(limit: RateLimit | None, path: Path) -> Iterator[Finding]:
    if limit is None:
        return
    if limit.requests < 1:
        yield Finding((*path, "rateLimit", "requests"), "is less than 1.")
    if limit.window not in WINDOWS:
        yield Finding((*path, "rateLimit", "window"), _unknown(limit.window, WINDOWS))


def _check_access(document: Document) -> Iterator[Finding]:
    for kind, patterns in (
        ("allow", document.access.allow),
        ("disallow", document.access.disallow),
    ):
        for place, pattern in enumerate(patterns):
            if not pattern.startswith(("/", "*")):
                yield Finding(
                    ("access", kind, place),
                    f"{pattern!r} is not a path; it must begin with / or *.",
                )


def _check_agents(document: Document, ids: Collection[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for name, policy in document.agents.items():
        path = ("agents", name)
        if not name or " " in name or "/" in name or CONTROL.search(name):
            yield Finding(
                path,
                f"{name!r} never matches: an agent is identified by the first word of its"
                " User-Agent, up to a slash.",
            )
        if name.casefold() in seen:
            yield Finding(path, f"{name!r} occurs twice; upper and lower case are the same here.")
        seen.add(name.casefold())
        yield from _check_rate(policy.rate_limit, path)
        at = (*path, "capabilities")
        if policy.capabilities is not None and not policy.capabilities:
            yield Finding(at, "is empty, so this agent may use nothing.", False)
        for capability in policy.capabilities or ():
            if capability not in ids:
                yield Finding(at, f"there is no capability {capability!r} in this file.")


def _check_url(url: str, path: Path) -> Iterator[Finding]:
    """Check an address; the message never repeats it, for possible secrets."""
    address = web_address(url)
    if address is None:
        yield Finding(path, "is not a full URL; write one such as https://www.example.com/search.")
        return
    if address.username is not None or address.password is not None:
        yield Finding(path, "contains a user name or password; this file must have no secrets.")
    elif any(_SECRET.fullmatch(name) for name, _ in parse_qsl(address.query)):
        yield Finding(
            path, "seems to contain a secret in its query; this file must have no secrets."
        )
    if address.scheme != "https" and not is_loopback(address.hostname or ""):
        yield Finding(path, "is not encrypted; only addresses of this machine may use http.")


def _check_texts(path: Path, value: Any) -> Iterator[Finding]:
    """Yield the members whose text contains a forbidden character."""
    match value:
        case str() if CONTROL.search(value):
            yield Finding(path, "contains a line break or another control character.")
        case dict():
            for name, member in value.items():
                yield from _check_texts((*path, name), member)
        case list() | tuple():
            for place, member in enumerate(value):
                yield from _check_texts((*path, place), member)
        case _:
            pass


def _as_written(path: Path) -> Path:
    """Return the path of an unknown member as the file has it."""
    for place, name in enumerate(path):
        if name == "further" and path[:place] not in {("agents",), ("metadata",)}:
            return path[:place] + path[place + 1 :]
    return path


def _unknown(value: str, known: tuple[str, ...]) -> str:
    return f"is {value!r}; it must be one of {_named(known)}."


def _named(known: tuple[str, ...]) -> str:
    return ", ".join(known)


def _host(url: str) -> str:
    address = web_address(url)
    return (address.hostname or "") if address is not None else ""


def _check_moment(text: str, path: Path) -> Iterator[Finding]:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        yield Finding(path, "is not an ISO 8601 timestamp; write one such as 2026-01-31T12:00:00Z.")
        return
    if moment.tzinfo is None or not text.endswith("Z"):
        yield Finding(
            path,
            "is not written as 2026-01-31T12:00:00Z, in UTC; some readers reject it.",
            is_error=False,
        )
