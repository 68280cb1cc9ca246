"""Middleware for aiohttp sites that leads agents to the site's desk.

    from aiohttp import web
    from aitp_desk.middleware import announce

    app = web.Application()
    announce(app)

It needs aiohttp and nothing else of the desk: the desk runs in another process, and its addresses
are proxied to it or are on another host.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import cache

from aiohttp import hdrs, web

from aitp_desk.protocols.base.accept import wants_manifest
from aitp_desk.protocols.base.discovery_links import (
    MANIFEST_PATH,
    NOTICE_CLASS,
    NOTICE_LABEL,
    RELATIONS,
    link_header,
    write_head_tags,
    write_notice,
)

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_OPAQUE = b"script|style|textarea|title|template|noscript|iframe|xmp"
_ATTRIBUTES = rb"(?:[^=>]++|=\s*+(?:\"[^\"]*+\"?|'[^']*+'?)?+)*+>?"
"""The rest of a tag after its name. An unterminated quote extends to the end of the page."""
_TOLD = (
    rb"(?P<comment>!--(?!-?>))|/(?P<closes>head|body)\s*>"
    rb"|(?P<opens>" + _OPAQUE + rb")(?=[\s/>])" + _ATTRIBUTES
)
_TOKEN = re.compile(
    rb"(?:[^<]++|<(?!"
    + re.sub(rb"\?P<\w+>", b"?:", _TOLD)
    + rb")(?:[a-z]"
    + _ATTRIBUTES
    + rb")?+)*+"
    rb"(?P<token><(?:" + _TOLD + rb"))",
    re.IGNORECASE,
)
"""The next relevant tag or comment, and all before it. Possessive, so that it is one pass."""
_END_OF_COMMENT = re.compile(rb"--!?>")
_BOUND_TO_BYTES = ("Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "Accept-Ranges")
"""Headers that would be wrong for a page with additions."""


def announce(app: web.Application, *, url: str = "", asks: bool = True) -> None:
    """Add the manifest link to all responses, and tags and notice to pages.

    Every response gets the Link header: errors, redirects and streams too. A request that prefers
    the manifest to a page is redirected there by a 302 (AHP 0.1, section 3.2). In an HTML page the
    tags are inserted before ``</head>`` and the notice before ``</body>``, each where there is such
    a tag and no copy yet. Streams, files, compressed pages, parts of a page and pages bound to
    their bytes, by a digest or because ranges may be requested, stay unchanged.

    Parameters:
        app: the outermost application, before it starts.
        url: the desk's address, where it is on another host; empty where its addresses are the
            site's.
        asks: whether the desk answers questions; False for a site that only serves its pages
            (MODE1).
    """
    url = url.rstrip("/")
    link = link_header(url)
    tags = write_head_tags(url).encode() + b"\n"
    section = write_notice(url, asks=asks, hidden=True).encode() + b"\n"

    async def name_manifest(_request: web.Request, response: web.StreamResponse) -> None:
        if not any(f'"{RELATIONS[0]}"' in held for held in response.headers.getall("Link", ())):
            response.headers.add("Link", link)

    @web.middleware
    async def announced(request: web.Request, handler: _Handler) -> web.StreamResponse:
        if request.method in {"GET", "HEAD"} and request.rel_url.raw_path != MANIFEST_PATH:
            accept = ",".join(request.headers.getall("Accept", ()))
            if wants_manifest(accept):
                return _redirect(url + MANIFEST_PATH)
        try:
            response = await handler(request)
        except web.HTTPException as error:
            _put_into(error, tags, section)
            raise
        if isinstance(response, web.Response):
            _put_into(response, tags, section)
        return response

    app.on_response_prepare.append(name_manifest)
    app.middlewares.insert(0, announced)


def _redirect(address: str) -> web.Response:
    headers = {"Location": address, "Vary": "Accept", "Cache-Control": "no-store"}
    return web.Response(status=302, headers=headers)


def _put_into(response: web.Response, tags: bytes, section: bytes) -> None:
    """Insert tags and notice into a response that is a whole HTML page."""
    if response.prepared or not _is_whole_page(response):
        return
    page = response.body
    if not page:  # a HEAD handler's length is that of the page without them
        response.headers.popall(hdrs.CONTENT_LENGTH, None)
    if not isinstance(page, bytes):
        return
    changed = add_to_page(page, tags, section)
    if changed is not page:
        response.body = changed
        if hdrs.CONTENT_LENGTH in response.headers:
            response.headers[hdrs.CONTENT_LENGTH] = str(len(changed))


def _is_whole_page(response: web.Response) -> bool:
    headers = response.headers
    return (
        response.content_type == "text/html"
        and response.status != 206
        and headers.get(hdrs.CONTENT_ENCODING, "identity").lower() == "identity"
        and not any(name in headers for name in (hdrs.CONTENT_RANGE, *_BOUND_TO_BYTES))
    )


def add_to_page(page: bytes, tags: bytes, section: bytes) -> bytes:
    """Return a page with tags in its head and the notice in its body.

    Parameters:
        page: HTML in an encoding compatible with ASCII; any other is returned unchanged.

    Returns:
        The same object, where there is no place or both are there already.
    """
    head, body = _places(page)
    if body is not None and (NOTICE_CLASS.encode() in page or NOTICE_LABEL.encode() in page):
        body = None
    if head is not None and any(f'"{relation}"'.encode() in page for relation in RELATIONS):
        head = None
    if body is not None:
        page = page[:body] + section + page[body:]
    if head is not None:
        page = page[:head] + tags + page[head:]
    return page


def _places(page: bytes) -> tuple[int | None, int | None]:
    """Return the ends of first head and last body, outside comments and raw text."""
    head, body = None, None
    at = 0
    while token := _TOKEN.match(page, at):
        at = token.end()
        if closed := token["closes"]:
            if closed.lower() == b"body":
                body = token.start("token")
            elif head is None:
                head = token.start("token")
        else:
            opened = token["opens"]
            ends = _end_of(opened.lower()) if opened else _END_OF_COMMENT
            end = ends.search(page, at)
            if end is None:
                break
            at = end.end()
    return head, body


@cache
def _end_of(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"</" + name + rb"\s*>", re.IGNORECASE)
