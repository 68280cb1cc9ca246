"""What every door shares: a call that came in, a reply that goes out, and a table of routes.

A handler is a coroutine ``(desk, call) -> Reply``. It decodes, calls the desk once and encodes; it
never sees the HTTP server. What happens before it (host, identity, limits, body) and around it
(errors, common headers) is in ``front.py``.
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
"""From this status on nothing was done."""
JSON: Final = "application/json"
FORM: Final = "multipart/form-data"
URLENCODED: Final = "application/x-www-form-urlencoded"
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"
EVENT_STREAM = "text/event-stream"


class Call(msgspec.Struct, frozen=True):
    """One request, read whole, from a caller who has been identified.

    Parameters:
        path: the path as it was requested, percent-encoded, without the query.
        params: what the route's template found in the path, decoded.
        query: the query string's parameters; of a repeated one the first.
        headers: the request's headers; names match without regard to case.
        allowance: what the caller has left; None where nothing is counted. The desk makes it less
            where it knows of less.
        place: the request's place among those that are worked on; None where none is taken.
        mark: tells the caller's credential from others of theirs.
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
        """Let others go on: this request only waits from now on."""
        if self.place is not None:
            self.place.release()

    def get_list_header(self, header: str) -> str:
        """A header that holds a list, all its lines as one (RFC 9110, 5.3); empty without it."""
        return ", ".join(self.headers.getall(header, []))


class FilePart(msgspec.Struct, frozen=True):
    """A part of an open file, to be sent as a body.

    Parameters:
        descriptor: of the file.
        first: offset of the first byte.
        length: in bytes.
        close: closes the file; whoever sends the part calls it exactly once.
    """

    descriptor: int
    first: int
    length: int
    close: Callable[[], None]


class Reply(msgspec.Struct, frozen=True):
    """One response.

    Parameters:
        headers: those beyond the ones that every response carries.
        links: a Link header of its own, beside that of every response.
        pieces: a body too large to be held, in place of ``body``; its ``Content-Length`` is among
            the headers where it is known.
        stream: for a response that goes on, in place of ``body``: writes what comes, until nobody
            reads any more. It is called exactly once.
        file: for a response whose body, in place of ``body``, is in a file.
        seen: what is told of the body to whoever asks for that as well, or in its place what there
            is at all; None where nothing is.
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
Counted = Literal["static", "converse"]


class Route(msgspec.Struct, frozen=True):
    """One row of a door's table.

    Parameters:
        path: a path; ``{name}`` stands for one segment, ``{name:.*}`` for the rest.
        counted: the limit that a request is counted against; None for none.
        max_body: the most bytes that a body may have; 0 where none is read.
        max_body_for: the same for one caller, no more than ``max_body``; None where all may send
            as much.
        media_type: what a body has to be.
        identifies: whether who is calling is asked of the head; else the handler looks at the
            credential itself, and its caller is nobody known.
        cookie: the name of the cookie that alone says who is calling; empty where credentials do.
        is_own: whether pages of no other origin may ask for it, whichever the owner has named.
        admit: refuses a caller before the body is read, or takes a place for it; what it returns is
            called when the request is done. None where everybody may send one.
        is_hot: whether small whole requests take the swift way (``swift.py``). A hot route never
            answers with a stream or in pieces.
        gives: the media types of what a GET is answered with.
        gives_at: the same at one path, where they differ; none where nothing stands there.
        is_open: whether pages of every site may read it in a browser: what is there to be found.
        second: answers in place of ``handler`` whoever asks to be told with the answer what it is
            and what may be done with it now (HAC); its replies have ``seen``. None where nobody
            does.
    """

    method: Literal["GET", "POST", "DELETE", "OPTIONS"]
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
    second: Handler | None = None
    max_body_for: Callable[[Desk, Principal], int] | None = None


class Door(msgspec.Struct, frozen=True):
    """A protocol as the application mounts it.

    Parameters:
        name: how it is called in the documentation.
        routes: every address that it serves.
        owns: path prefixes whose unknown addresses are answered in this door's error form.
        render_error: a refusal in the protocol's own form, given the request's headers.
        desk: whose door it is; None for the site's own.
        action: what the limits of an agent have to list for it to come in here; empty where they
            list each of its actions by itself.
        beside: what it does beside answering, for as long as the desk serves.
    """

    name: str
    routes: tuple[Route, ...]
    owns: tuple[str, ...]
    render_error: Callable[[DeskError, Mapping[str, str]], Reply]
    desk: Desk | None = None
    action: str = ""
    beside: Callable[[], AbstractAsyncContextManager[None]] | None = None


Describe = Callable[[Desk, Call, Reply], Awaitable[Representation]]
"""Says of what was answered what it is, and what whoever asked may do with it now."""


def with_description(handler: Handler, describe: Describe) -> Handler:
    """A handler that answers as another does, and has it described; see :attr:`Route.second`."""

    async def answer(desk: Desk, call: Call) -> Reply:
        reply = await handler(desk, call)
        if reply.status >= REFUSED or reply.stream is not None:
            return reply
        try:
            seen = await describe(desk, call, reply)
        except DeskError:  # what was done is done, and is no more the caller's to see
            seen = Representation("")
        return msgspec.structs.replace(reply, seen=seen)

    return answer


FOREVER = ("Cache-Control", "public, max-age=31536000, immutable")
"""The header of what stands at an address that changes with it."""


def make_etag(body: bytes) -> str:
    """A strong ``ETag`` of a body, which is another when the body is (RFC 9110, section 8.8.3)."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def matches_etag(headers: Mapping[str, str], tag: str) -> bool:
    """Whether the caller holds this version of a document (RFC 9110, section 13.1.2).

    Parameters:
        headers: the request's; ``If-None-Match`` is read.
        tag: the version's ``ETag``, a strong one.
    """
    known = {
        part.strip().removeprefix("W/") for part in headers.get("If-None-Match", "").split(",")
    }
    return tag in known or "*" in known
