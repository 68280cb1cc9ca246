"""Adds HAC to any aiohttp application (HAC 1.0).

    from aiohttp import web
    from aitp_desk.protocols.hac import Context
    from aitp_desk.protocols.hac.middleware import described, hac_middleware

    @described(lambda request, book: Context(description=f"The book {book['title']}."))
    async def show(request: web.Request) -> web.Response:
        return web.json_response({"title": "Emma"})

    app = web.Application(middlewares=[hac_middleware(name="Library")])
    app.router.add_get("/books/1", show)

Handlers stay plain JSON handlers; clients that do not name the media type get the same responses as
before. The module needs aiohttp and msgspec, and nothing of the desk. Place this middleware outside
every other that answers requests itself, so that it wraps their refusals too.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Final, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

import msgspec
from aiohttp import ETag, hdrs, web
from aiohttp.typedefs import Middleware

from aitp_desk.protocols.hac.envelope import (
    Context,
    Discovery,
    HacError,
    NotHac,
    Resource,
)
from aitp_desk.protocols.hac.headers import BOUND_TO_BYTES, OF_BODY, seconds_of, tag_of, vary_of
from aitp_desk.protocols.hac.negotiation import Face, content_type, negotiate
from aitp_desk.protocols.hac.payload import read_payload
from aitp_desk.protocols.hac.status_recovery import WAIT, explain
from aitp_desk.protocols.hac.transport import InTheClear
from aitp_desk.protocols.hac.writer import wrap, write_discovery, write_error

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Describer = Callable[[web.Request, Any], Context | Awaitable[Context]]
"""Describes a decoded payload for an agent of this caller."""
Explainer = Callable[[web.Request, web.Response], HacError | None]
"""Explains a refusal; None where the status is enough."""
Resources = Sequence[Resource] | Callable[[web.Request], Sequence[Resource]]

_AnyHandler = TypeVar("_AnyHandler", bound=Callable[..., Any])

_ERROR: Final = web.ResponseKey("hac_error", HacError)
_READING: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_WITHOUT_BODY: Final = frozenset({204, 205, 206})
_JSON: Final = "application/json"
_NONE: Final[Mapping[Handler, Describer]] = {}

_log = logging.getLogger(__name__)


class _Described(NamedTuple):
    describe: Describer
    varies: tuple[str, ...]


_remembered: WeakKeyDictionary[Callable[..., Any], _Described] = WeakKeyDictionary()


def _say_nothing(_request: web.Request, _payload: Any) -> Context:
    return Context()


def described(
    describe: Describer = _say_nothing, *, varies: Sequence[str] = (hdrs.AUTHORIZATION,)
) -> Callable[[_AnyHandler], _AnyHandler]:
    """Give the responses of a handler a second representation.

    Parameters:
        describe: called with the request and the decoded payload of each success. It describes only
            what this caller may do (section 9.1). Without it nothing accompanies the payload, which
            is enough for a handler whose successes have no body.
        varies: the request headers that the description depends on, in addition to ``Accept``;
            empty where it is the same for every caller. They are named in ``Vary``.
    """

    def remember(handler: _AnyHandler) -> _AnyHandler:
        _remembered[handler] = _Described(describe, tuple(varies))
        return handler

    return remember


def refused(kind: type[web.HTTPError], error: HacError) -> web.HTTPError:
    """Return an HTTP error for a handler to raise, for agents and other clients.

    Parameters:
        kind: one without required arguments, such as :class:`aiohttp.web.HTTPConflict`.

    Returns:
        The exception. Its body is JSON, with ``error`` as in section 6.1; ``Retry-After`` is set
        where the error has a time to wait.
    """
    after = {} if error.retry_after is None else {hdrs.RETRY_AFTER: str(error.retry_after)}
    raised = kind(text=write_error(error).decode(), content_type=_JSON, headers=after)
    raised[_ERROR] = error
    return raised


def hac_middleware(
    *,
    name: str,
    description: str = "",
    version: str = "",
    resources: Resources = (),
    describe: Mapping[Handler, Describer] = _NONE,
    explained: Explainer | None = None,
    profile: str = "",
    root: str = "/",
    url: str = "",
) -> Middleware:
    """Return the middleware that serves HAC to clients that ask for it by ``Accept``.

    The JSON of a described handler is wrapped. Other handlers have no second representation; a
    client that accepts nothing else gets a 406 before the handler is called. Refusals use the error
    envelope at every address.

    Parameters:
        name: of the API, for people (section 7.2).
        description: its purpose, for a language model.
        version: of the API.
        resources: its entry points, or a function that returns them for a request.
        describe: descriptions of handlers, as an alternative to :func:`described`.
        explained: explains refusals that were not made by :func:`refused`.
        profile: the URI of what is served beyond the specification (section 8.3).
        root: the path of the discovery document.
        url: the public address of the API; without TLS beyond this machine a warning is logged at
            once. Empty: it is logged with the first such request.

    Raises:
        NotHac: the name is empty.
    """
    served = _Served(
        Discovery(name=name, description=description, version=version, resources=()),
        resources,
        {handler: _Described(one, (hdrs.AUTHORIZATION,)) for handler, one in describe.items()},
        explained,
        profile,
        root,
    )
    in_the_clear = InTheClear(url)

    @web.middleware
    async def hac(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not (in_the_clear.is_known or request.secure or request.transport is None):
            host, *_ = request.transport.get_extra_info("sockname") or ("",)
            in_the_clear.look_at(host)
        return await served.answer(request, handler)

    return hac


class _Served(NamedTuple):
    """What one application serves; the members are those of :func:`hac_middleware`."""

    about: Discovery
    resources: Resources
    descriptions: Mapping[Handler, _Described]
    explained: Explainer | None
    profile: str
    root: str

    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        accept = ",".join(request.headers.getall(hdrs.ACCEPT, ()))
        told = self._described(request)
        is_root = request.path == self.root and request.method in _READING
        has_face = told is not None or is_root or request.match_info.http_exception is not None
        names = (hdrs.ACCEPT, *(told.varies if told else ()))
        face = negotiate(accept, profile=self.profile, plain=None if told is None else (_JSON,))
        if not has_face and face is Face.HAC and _takes_nothing_else(accept):
            face = Face.NOT_ACCEPTABLE
        try:
            if face is Face.NOT_ACCEPTABLE:
                raise web.HTTPNotAcceptable
            if face is Face.PLAIN:
                response = await handler(request)
                body = None if told is None else _json_of(response)
                if body is not None:
                    response = _tagged(request, cast("web.Response", response), body)
            elif is_root:
                response = self._discovery(request)
            else:
                response = await self._told(request, handler, told, accept)
        except web.HTTPException as raised:
            if face is Face.PLAIN or raised.status < 400:
                _vary(raised, names)
                raise
            response = raised
        if face is not Face.PLAIN and response.status >= 400 and isinstance(response, web.Response):
            response = self._refusal(request, response)
        return _vary(response, names)

    def _described(self, request: web.Request) -> _Described | None:
        handler: Any = request.match_info.handler
        if isinstance(handler, type):
            handler = getattr(handler, request.method.lower(), None)
        return self.descriptions.get(handler) or _remembered.get(
            getattr(handler, "__func__", handler)
        )

    async def _told(
        self, request: web.Request, handler: Handler, told: _Described | None, accept: str
    ) -> web.StreamResponse:
        try:
            response = await handler(request)
            if told is None or not 200 <= response.status < 300:
                return response
            read = _payload_of(response)
            if read is not None:
                whole = cast("web.Response", response)
                return await self._wrapped(request, whole, *read, told.describe)
        except web.HTTPException:
            raise
        except TimeoutError:
            return web.HTTPGatewayTimeout()
        except Exception:  # noqa: BLE001 -- the boundary: no detail of a fault reaches an agent
            _log.exception("The function that describes %s failed", request.rel_url.raw_path)
            return web.HTTPInternalServerError()
        if request.method in _READING and not response.prepared and _takes_nothing_else(accept):
            _log.warning("%s is described but is not complete JSON", request.rel_url.raw_path)
            return web.HTTPNotAcceptable()
        return response

    async def _wrapped(
        self,
        request: web.Request,
        response: web.Response,
        body: bytes,
        payload: Any,
        describe: Describer,
    ) -> web.Response:
        told = describe(request, payload)
        context = await told if isawaitable(told) else told
        if not isinstance(context, Context):
            raise TypeError(
                f"The describing function returned {context!r}, which is not a Context."
            )
        document = wrap(body, context)
        for name in BOUND_TO_BYTES:
            response.headers.popall(name, None)
        response.headers[hdrs.CONTENT_TYPE] = content_type(self.profile)
        response.body = document
        return _tagged(request, response, document)

    def _discovery(self, request: web.Request) -> web.StreamResponse:
        found = self.resources(request) if callable(self.resources) else self.resources
        document = write_discovery(msgspec.structs.replace(self.about, resources=found))
        headers = {hdrs.CONTENT_TYPE: content_type(self.profile)}
        if callable(self.resources):
            headers[hdrs.VARY] = f"{hdrs.ACCEPT}, {hdrs.AUTHORIZATION}"
        return _tagged(request, web.Response(body=document, headers=headers), document)

    def _refusal(self, request: web.Request, response: web.Response) -> web.Response:
        error = response.get(_ERROR)
        if error is None and self.explained is not None:
            error = self.explained(request, response)
        if error is None:
            error = _explain(request, response, self.root)
        if response.status == 429 and error.retry_after is None:
            after = seconds_of(response.headers.get(hdrs.RETRY_AFTER)) or WAIT
            error = msgspec.structs.replace(error, retryable=True, retry_after=after)
        answer = _without_body(response, response.status, BOUND_TO_BYTES)
        answer.headers[hdrs.CONTENT_TYPE] = content_type(self.profile)
        if error.retry_after is not None:
            answer.headers[hdrs.RETRY_AFTER] = str(error.retry_after)
        answer.body = write_error(error)
        return answer


def _explain(request: web.Request, response: web.Response, root: str) -> HacError:
    """Explain a refusal that has only its status and perhaps a line of text."""
    said = ""
    if response.content_type == "text/plain" and isinstance(response.body, bytes):
        said = response.body.decode(response.charset or "utf-8", "replace")
    general = f"{response.status}: {response.reason}"
    allowed = response.headers.get(hdrs.ALLOW, "").replace(" ", "").split(",")
    return explain(
        response.status,
        message="" if said == general else said,
        retry_after=seconds_of(response.headers.get(hdrs.RETRY_AFTER)),
        root=root,
        here=request.rel_url.raw_path,
        allowed=allowed,
    )


def _takes_nothing_else(accept: str) -> bool:
    return negotiate(accept, is_served=False, plain=None) is Face.NOT_ACCEPTABLE


def _json_of(response: web.StreamResponse) -> bytes | None:
    """Return the body of a complete UTF-8 JSON success; None for any other."""
    if (
        not isinstance(response, web.Response)
        or response.prepared
        or response.status in _WITHOUT_BODY
        or not 200 <= response.status < 300
        or response.content_type != _JSON
        or (response.charset or "utf-8").lower() != "utf-8"
        or response.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity"
    ):
        return None
    return bytes(response.body) if isinstance(response.body, (bytes, bytearray)) else None


def _payload_of(response: web.StreamResponse) -> tuple[bytes, Any] | None:
    """Return the body and payload of a JSON success; None for any other."""
    body = _json_of(response)
    try:
        return None if body is None else (body, read_payload(body))
    except NotHac:
        return None


def _tagged(request: web.Request, response: web.Response, body: bytes) -> web.Response:
    """Return a response with its ETag, or 304 (RFC 9110, 13.1.2)."""
    if request.method not in _READING or response.status != 200:
        return response
    if hdrs.ETAG not in response.headers:
        response.etag = ETag(tag_of(body), is_weak=response.compression)
    mine, known = response.etag, {tag.value for tag in request.if_none_match or ()}
    if mine is None or not known & {mine.value, "*"}:
        return response
    return _without_body(response, 304, (hdrs.CONTENT_LENGTH,))


def _without_body(response: web.Response, status: int, gone: Sequence[str]) -> web.Response:
    """Return a new response with another's headers and cookies, except those of its body."""
    answer = web.Response(status=status, headers=response.headers)
    for name in (*gone, *OF_BODY):
        answer.headers.popall(name, None)
    answer.cookies.update(response.cookies)
    return answer


def _vary(response: web.StreamResponse, names: Sequence[str]) -> web.StreamResponse:
    """Name the request headers that a response depends on (section 2.5)."""
    if not response.prepared:
        held = ",".join(response.headers.getall(hdrs.VARY, ()))
        response.headers[hdrs.VARY] = vary_of(held, names)
    return response
