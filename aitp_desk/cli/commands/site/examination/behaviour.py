"""Checks what a proxy may change: CORS, streams, large bodies; and the desk's health."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aitp_desk.cli.commands.site.examination.connection import HEALTH_PATH, SECONDS
from aitp_desk.cli.commands.site.examination.documents import SNIPPET
from aitp_desk.cli.commands.site.examination.findings import Findings
from aitp_desk.egress import Egress, EgressError, TooSlow
from aitp_desk.protocols.base.sse import KEEPALIVE
from aitp_desk.visitor import VisitError
from aitp_desk.visitor.discovery.endpoints import MANIFEST_PLACE
from aitp_desk.visitor.discovery.members import decode_object, list_of, text_of
from aitp_desk.visitor.fetcher import Fetcher

READY_PATH = "/ready"
THREADS_PATH = "/v1/threads"
OPEN_PATH = "/v1/thread"
STREAM_SECONDS = 20.0
"""How long a stream may be silent; by default a desk writes every 15 seconds.

The first event proves nothing: web servers pass on what came together with the headers.
"""
_ELSEWHERE = "https://elsewhere.example"
_ALLOWED = "Access-Control-Allow-Origin"


async def check_health(fetcher: Fetcher, findings: Findings) -> None:
    """Check that the desk runs, and is ready."""
    for path in (HEALTH_PATH, READY_PATH):
        try:
            found = await fetcher.read(fetcher.origin + path, accept="application/json")
        except VisitError as error:
            findings.fault("health", f"{path} cannot be read: {error}", SNIPPET)
            continue
        told = decode_object(found)
        notes = [str(note) for note in list_of(told, "notes")]
        if told is None:
            advice = SNIPPET if found.status != 503 else "read the desk's log"
            findings.fault("health", f"{path} answers with status {found.status}", advice)
        elif notes:
            findings.warn("health", f"{path} notes: {' '.join(notes)}", "read the desk's log")
        else:
            state = text_of(told, "status") or "ok"
            findings.approve("health", f"{path} says {state}")


async def check_cors(
    egress: Egress, origin: str, named: str, widget_origins: Iterable[str], findings: Findings
) -> None:
    """Check what pages of other sites may read and call.

    Parameters:
        named: the origin that the desk names, whose pages have the chat.
        widget_origins: sites with the chat, and others that may call the API.
    """
    headers = {"Origin": _ELSEWHERE, "Accept": "application/json"}
    try:
        found = await egress.preview(f"{origin}{MANIFEST_PLACE}", seconds=SECONDS, headers=headers)
    except EgressError as error:
        findings.fault("cors", f"{MANIFEST_PLACE} cannot be read: {error}", SNIPPET)
        return
    allowed = _list_values(found.headers, _ALLOWED)
    if allowed == ["*"]:
        findings.approve("cors", "pages of every site may read what is public")
    elif allowed:
        findings.fault(
            "cors",
            f"the manifest is sent with {_ALLOWED}: {', '.join(allowed)}",
            "leave CORS to the desk: remove such headers from the web server",
        )
    else:
        advice = "right for a desk within a company (cors.open_discovery = false); else see whether"
        findings.warn(
            "cors", "no page of another site may read what is public", f"{advice} a proxy drops it"
        )
    for one in dict.fromkeys((named, *widget_origins)):
        advice = "pass OPTIONS and Origin on to the desk unchanged"
        if one != named:
            advice = f'add "{one}" to widget.origins, and {advice}'
        await _check_preflight(egress, origin, one, advice, findings)


async def _check_preflight(
    egress: Egress, origin: str, page: str, advice: str, findings: Findings
) -> None:
    headers = {"Origin": page, "Access-Control-Request-Method": "POST"}
    try:
        found = await egress.preview(
            f"{origin}{THREADS_PATH}", seconds=SECONDS, headers=headers, method="OPTIONS"
        )
    except EgressError as error:
        findings.fault("cors", f"OPTIONS {THREADS_PATH} fails: {error}", SNIPPET)
        return
    if found.status < 300 and _list_values(found.headers, _ALLOWED) == [page]:
        findings.approve("cors", f"the chat on {page} may call the desk")
    else:
        findings.fault("cors", f"the chat on {page} may not call the desk", advice)


async def check_stream(fetcher: Fetcher, egress: Egress, findings: Findings) -> None:
    """Check that a stream arrives while it goes on.

    The stream is of an empty thread, which is opened for this and deleted.
    """
    url = fetcher.origin + THREADS_PATH
    try:
        opened = await fetcher.send(fetcher.origin + OPEN_PATH, {}, method="POST", attempts=1)
        thread = text_of(decode_object(opened), "id")
    except VisitError as error:
        findings.fault("stream", f"{OPEN_PATH} cannot be called: {error}", SNIPPET)
        return
    if not thread:
        what = f"not tried: POST {OPEN_PATH} answers with status {opened.status}"
        findings.warn("stream", what, "try it with a desk that strangers may write to")
        return
    try:
        headers = {"Accept": "text/event-stream"}
        found = await egress.preview(
            f"{url}/{thread}/events", seconds=STREAM_SECONDS, headers=headers, until=KEEPALIVE
        )
    except TooSlow:
        findings.fault(
            "stream",
            f"a stream is silent for {STREAM_SECONDS:g} seconds: it is buffered",
            "switch buffering and compression off for streams (nginx: proxy_buffering off, and no"
            " text/event-stream in gzip_types)",
        )
    except EgressError as error:
        findings.fault("stream", f"a stream fails: {error}", SNIPPET)
    else:
        if found.status == 200 and KEEPALIVE in found.first:
            findings.approve("stream", "a stream arrives while it goes on")
        else:
            what = f"a stream answers with status {found.status}"
            findings.fault("stream", what, "let the web server pass streams on unchanged")
    finally:
        try:
            deleted = await fetcher.send(f"{url}/{thread}", method="DELETE", attempts=1)
            fault = "" if deleted.status < 300 else f"status {deleted.status}"
        except VisitError as error:
            fault = str(error)
        if fault:
            findings.warn("stream", f"{thread} was not deleted: {fault}", "pass DELETE on")


async def check_body(fetcher: Fetcher, size: int, findings: Findings) -> None:
    """Check that a body as large as the desk accepts reaches it.

    The body is no JSON, so the desk refuses it and stores nothing.

    Parameters:
        size: of the body, in bytes.
    """
    headers = {"Content-Type": "application/json"}
    shown = f"{size / 2**20:.3g} MiB"
    advice = "raise the limit of the web server (nginx: client_max_body_size)"
    try:
        found = await fetcher.send(
            fetcher.origin + OPEN_PATH,
            b"{" + b" " * (size - 1),
            method="POST",
            headers=headers,
            attempts=1,
        )
    except VisitError as error:
        findings.fault("body", f"a body of {shown} is not answered: {error}", advice)
        return
    is_of_desk = "json" in found.headers.get("Content-Type", "").lower()
    if is_of_desk and found.status != 413:
        findings.approve("body", f"a body of {shown} reaches the desk")
    else:
        findings.fault("body", f"a body of {shown} is refused ({found.status})", advice)


def _list_values(headers: Any, name: str) -> list[str]:
    """Return all values of a header that may be repeated by mistake."""
    return [part.strip() for line in headers.getall(name, []) for part in line.split(",")]
