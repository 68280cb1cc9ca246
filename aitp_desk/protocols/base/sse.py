"""Server-sent events: the frames of an event stream (HTML, section 9.2)."""

from __future__ import annotations

KEEPALIVE = b":\n\n"
"""A comment: readers skip it, and the connection is in use."""

UNBUFFERED = (("X-Accel-Buffering", "no"),)
"""Headers that have proxies pass events on as they come."""


def write_frame(name: str, data: bytes, number: int | None = None) -> bytes:
    """One event.

    Parameters:
        name: its type; no line ends.
        data: UTF-8; where it has several lines, whichever way they end, the reader gets them with
            line feeds between.
        number: its id, which a reader who comes back sends as ``Last-Event-ID``; None for an event
            that is not to be resumed from.
    """
    head = b"" if number is None else b"id: %d\n" % number
    body = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\ndata: ")
    return b"%bevent: %b\ndata: %b\n\n" % (head, name.encode(), body)
