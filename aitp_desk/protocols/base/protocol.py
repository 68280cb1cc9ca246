"""Defines what every protocol shares: a call, a reply, and a table of routes.

A handler is a coroutine ``(desk, call) -> Reply``. It decodes the call, calls the desk once and
encodes the reply; it never sees the HTTP server. The steps before it (host, identity, limits, body)
and around it (errors, common headers) are in ``http/dispatcher.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, Literal

import msgspec
from multidict import MultiMapping

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.limits.concurrency import ConcurrencySlot
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.desk.threads.streams import Stream
from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.affordances import Overview, Representation

REFUSED: Final = 400
"""The lowest status of a request that changed nothing."""
JSON: Final = "application/json"
ANY_TYPE: Final = "*/*"
"""The media type of a route that reads any body."""
FORM: Final = "multipart/form-data"
URLENCODED: Final = "application/x-www-form-urlencoded"
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"
EVENT_STREAM = "text/event-stream"


class Call(msgspec.Struct, frozen=True):
    """One request, read completely, from an identified caller.

    Parameters:
        path: the requested path, percent-encoded, without the query.
        params: the parameters of the route's path, decoded.
        query: the parameters of the query string; of a repeated one the first.
        headers: the request's headers; names match without regard to case.
        allowance: what the caller has left; None where nothing is counted. The desk lowers it where
            it knows of less.
        place: the request's slot among the concurrent requests; None where none is taken.
        mark: distinguishes the caller's credential from their other ones.
    """

    principal: Principal
    method: str
    path: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    headers: MultiMapping[str]
    body: bytes
    allowance: Allowance | None = None
    place: ConcurrencySlot | None = None
    mark: CredentialMark = UNMARKED

    def release_slot(self) -> None:
        """Release the concurrency slot: from now on this request only waits."""
        if self.place is not None:
            self.place.release()

    def get_list_header(self, header: str) -> str:
        """Return a list header, all its lines joined (RFC 9110, 5.3); empty without it."""
        return ", ".join(self.headers.getall(header, []))


class FilePart(msgspec.Struct, frozen=True):
    """A part of an open file, to be sent as a body.

    Parameters:
        descriptor: of the file.
        first: offset of the first byte.
        length: in bytes.
        close: closes the file; the sender calls it exactly once.
    """

    descriptor: int
    first: int
    length: int
    close: Callable[[], None]


class Reply(msgspec.Struct, frozen=True):
    """One response.

    Parameters:
        headers: those beyond the ones that every response carries.
        links: a Link header in addition to that of every response.
        pieces: a body too large for memory, instead of ``body``; its ``Content-Length`` is among
            the headers where it is known.
        stream: writes a continuing response, instead of ``body``, until nobody reads any more. It
            is called exactly once.
        file: the body in a file, instead of ``body``.
        seen: the description of the body for callers that ask for it, or the overview in its place;
            None without one.
    """

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    links: str = ""
    pieces: AsyncIterator[bytes] | None = None
    stream: Stream | None = None
    file: FilePart | None = None
    seen: Representation | Overview | None = None


Handler = Callable[[Desk, Call], Awaitable[Reply]]
Counted = Literal["static", "converse", "search"]


class Route(msgspec.Struct, frozen=True):
    """One row of a protocol's routing table.

    Parameters:
        path: a path; ``{name}`` matches one segment, ``{name:.*}`` the rest.
        counted: the limit that a request counts against; None for none.
        max_body: the largest body in bytes; 0 where none is read.
        max_body_for: the largest body of one caller, at most ``max_body``; None where it is the
            same for all.
        media_type: the required type of a body; :data:`ANY_TYPE` for any.
        identifies: whether the request's headers identify the caller; else the handler checks the
            credential itself, and the caller is unknown until then.
        cookie: the name of the cookie that alone identifies the caller; empty where credentials do.
        is_own: whether pages of every other origin are refused, including those that the owner has
            named.
        admit: refuses a caller before the body is read, or takes a slot; the function that it
            returns is called when the request is done. None where every caller is admitted.
        is_hot: whether the heads of usual requests are cached, for programs send them again.
        gives: the media types of a GET's response.
        gives_at: the media types at one path, where they differ; empty where the path has no
            resource.
        is_open: whether pages of every site may read it in a browser, because it serves discovery.
        is_page: whether browsers load pages here, or their pictures; that counts against no limit.
        is_for_widget: whether the chat component calls it, on the sites of ``widget.origins``.
        second: replaces ``handler`` for callers that ask for a description of the response and of
            the next requests (HAC); its replies have ``seen``. None without one.
    """

    method: Literal["GET", "POST", "PUT", "DELETE", "OPTIONS"]
    path: str
    handler: Handler
    counted: Counted | None
    max_body: int = 0
    media_type: str = JSON
    identifies: bool = True
    cookie: str = ""
    is_own: bool = False
    admit: Callable[[Desk, Principal], Callable[[], None]] | None = None
    is_hot: bool = False
    gives: tuple[str, ...] = (JSON,)
    gives_at: Callable[[Desk, str], tuple[str, ...]] | None = None
    is_open: bool = False
    is_page: bool = False
    is_for_widget: bool = False
    second: Handler | None = None
    max_body_for: Callable[[Desk, Principal], int] | None = None


class ProtocolRoutes(msgspec.Struct, frozen=True):
    """A protocol as the application mounts it.

    Parameters:
        name: its name in the documentation.
        routes: every address that it serves.
        owns: path prefixes whose unknown addresses are answered in this protocol's error form.
        render_error: renders a refusal in the protocol's own form, given the request's headers.
        desk: the desk that it serves; None for the whole site.
        action: the name that the limits of an agent must list to admit it; empty where they list
            each action separately.
        background: runs its background work for as long as the desk serves.
        objects: the JSON bodies of its requests and responses, which the OpenAPI document describes
            under their names.
    """

    name: str
    routes: tuple[Route, ...]
    owns: tuple[str, ...]
    render_error: Callable[[DeskError, Mapping[str, str]], Reply]
    desk: Desk | None = None
    action: str = ""
    background: Callable[[], AbstractAsyncContextManager[None]] | None = None
    objects: tuple[type[msgspec.Struct], ...] = ()


Describe = Callable[[Desk, Call, Reply], Awaitable[Representation]]
"""Describes a response and the requests that its caller may send next."""


def with_description(handler: Handler, describe: Describe) -> Handler:
    """Wrap a handler so that its reply is described; see :attr:`Route.second`."""

    async def answer(desk: Desk, call: Call) -> Reply:
        reply = await handler(desk, call)
        if reply.status >= REFUSED or reply.stream is not None:
            return reply
        try:
            seen = await describe(desk, call, reply)
        except DeskError:  # the request succeeded, but the caller may no longer see it
            seen = Representation("")
        return msgspec.structs.replace(reply, seen=seen)

    return answer


FOREVER = ("Cache-Control", "public, max-age=31536000, immutable")
"""The header of a resource whose address changes with its content."""


def make_etag(body: bytes) -> str:
    """Return a strong ``ETag`` of a body (RFC 9110, section 8.8.3)."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def matches_etag(headers: Mapping[str, str], tag: str) -> bool:
    """Return whether the caller holds this version of a document (RFC 9110, section 13.1.2).

    Parameters:
        headers: the request's; ``If-None-Match`` is read.
        tag: the strong ``ETag`` of the version.
    """
    known = {
        part.strip().removeprefix("W/") for part in headers.get("If-None-Match", "").split(",")
    }
    return tag in known or "*" in known
