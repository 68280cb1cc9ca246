"""Writes server-sent events: the frames of an event stream (HTML, section 9.2)."""

from __future__ import annotations

KEEPALIVE = b":\n\n"
"""A comment, which readers skip; it keeps the connection in use."""

UNBUFFERED = (("X-Accel-Buffering", "no"),)
"""Headers that stop proxies from buffering events."""


def write_frame(name: str, data: bytes, number: int | None = None) -> bytes:
    """Write one event.

    Parameters:
        name: its type, without line ends.
        data: UTF-8; line ends of every kind reach the reader as line feeds.
        number: its id, which a reconnecting reader sends as ``Last-Event-ID``; None for an event
            that a stream cannot resume from.
    """
    head = b"" if number is None else b"id: %d\n" % number
    return b"%bevent: %b\n%b" % (head, name.encode(), write_data(data))


def write_data(data: bytes) -> bytes:
    """Write one event without a type; see :func:`write_frame`."""
    body = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\ndata: ")
    return b"data: %b\n\n" % body
