"""Serves the files that pages declare, whole or in part.

Source: RFC 9110, sections 8.8 (validators), 13 (conditional requests), 14 (ranges); RFC 6266. A
request for several ranges gets the whole file (RFC 9110, section 14.2 allows it).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.knowledge.media.payloads import LocalFile
from aitp_desk.knowledge.sources.file_state import make_state
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import RouteNotFound, Unavailable
from aitp_desk.protocols.base.protocol import TEXT, Call, FilePart, Reply, matches_etag

MOST_OPEN = 200
"""How many files are sent at once."""
MOST_PER_CALLER = 40
"""How many of them to one caller."""

_POLICY = (
    "Content-Security-Policy",
    (
        "default-src 'none'; media-src 'self'; img-src 'self'; style-src 'unsafe-inline'; sandbox;"
        " frame-ancestors 'none'"
    ),
)
"""Nothing in a file runs, whatever it contains."""
_POLICY_OF_SVG = (
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
)
"""An SVG picture is a document: it also loads nothing."""
_SHOWN = re.compile(r"(?:video|audio)/.+|image/(?!svg).+|text/(?:vtt|plain)")
"""Media types that a browser may show at their address; others are downloaded."""
_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})", re.ASCII)


class FileSender:
    """Opens declared files for sending, within a limit."""

    def __init__(self) -> None:
        self._slots = ConcurrencySlots("files", most=MOST_OPEN, most_per_caller=MOST_PER_CALLER)

    async def reply(self, local: LocalFile, call: Call) -> Reply:
        """Return the response to a request for a file.

        Raises:
            RouteNotFound: the file has gone.
            RateLimited: too many are being sent to this caller.
            Unavailable: it is changing at this moment, or too many are being sent.
        """
        headers = call.headers
        tag = f'"{sha256(repr(tuple(local.state)).encode()).hexdigest()[:32]}"'
        changed = datetime.fromtimestamp(local.state.changed // 10**9, UTC)
        fixed: tuple[tuple[str, str], ...] = (
            ("ETag", tag),
            ("Last-Modified", format_datetime(changed, usegmt=True)),
            ("Accept-Ranges", "bytes"),
            ("Cache-Control", "no-cache"),
            ("Vary", "Accept"),
            _POLICY_OF_SVG if local.media_type == "image/svg+xml" else _POLICY,
        )
        kind = _content_type(local)
        if _is_known(headers, tag, changed):
            return Reply(304, content_type=kind, headers=fixed)
        sent, status = range(local.size), 200
        wanted = headers.get("Range") if call.method == "GET" else None
        if wanted is not None and _holds(headers.get("If-Range"), tag, changed):
            chosen = _range(wanted, local.size)
            if chosen is not None and not chosen:
                unmet = ("Content-Range", f"bytes */{local.size}")
                text = f"This file has {local.size} bytes; the range begins after its end.\n"
                return Reply(416, text.encode(), TEXT, (*fixed, unmet))
            if chosen is not None:
                sent, status = chosen, 206
        part = await self._part(local, sent, call.principal)
        fixed = (*fixed, ("Content-Disposition", _disposition(local)))
        if status == 206:
            fixed = (*fixed, ("Content-Range", f"bytes {sent[0]}-{sent[-1]}/{local.size}"))
        return Reply(status, b"", kind, fixed, file=part)

    async def _part(self, local: LocalFile, sent: range, principal: Principal) -> FilePart:
        leave = self._slots.acquire(principal)
        try:
            descriptor = await asyncio.to_thread(_open, local)
        except BaseException:
            leave()
            raise

        def close() -> None:
            leave()
            os.close(descriptor)

        return FilePart(descriptor, sent.start, len(sent), close)


def _open(local: LocalFile) -> int:
    """Open the file that was read before, and no other at its path."""
    try:
        descriptor = os.open(local.file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise RouteNotFound("There is no longer a file at this address.") from None
    if make_state(os.fstat(descriptor)) != local.state:
        os.close(descriptor)
        raise Unavailable("This file has just changed. Request it again.", retry_after=2)
    return descriptor


def _content_type(local: LocalFile) -> str:
    is_text = local.media_type.startswith("text/")
    return f"{local.media_type}; charset=utf-8" if is_text else local.media_type


def _disposition(local: LocalFile) -> str:
    name = unquote(PurePosixPath(local.url).name)
    shown = _SHOWN.fullmatch(local.media_type) is not None
    plain = re.sub(r"[^\w.\- ]", "_", name, flags=re.ASCII)
    other = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'{"inline" if shown else "attachment"}; filename="{plain}"{other}'


def _is_known(headers: Mapping[str, str], tag: str, changed: datetime) -> bool:
    """Return whether the caller's copy is current (RFC 9110, section 13.2.2)."""
    if "If-None-Match" in headers:
        return matches_etag(headers, tag)
    since = _moment(headers.get("If-Modified-Since"))
    return since is not None and changed <= since


def _holds(condition: str | None, tag: str, changed: datetime) -> bool:
    """Return whether the caller's partial copy is current (RFC 9110, section 13.1.5)."""
    return condition is None or condition == tag or _moment(condition) == changed


def _moment(said: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(said or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _range(wanted: str, size: int) -> range | None:
    """Return a range's bytes, empty beyond the file; None if not single."""
    found = _RANGE.fullmatch(wanted.replace(" ", ""))
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return range(max(size - int(found[2]), 0), size)
    first = int(found[1])
    if not found[2]:
        return range(first, size)
    last = int(found[2])
    return range(first, min(last + 1, size)) if first <= last else None
