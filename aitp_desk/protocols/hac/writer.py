"""Writes the documents of HAC (HAC 1.0, sections 3, 6 and 7).

Members with default values are left out. Nothing here does I/O.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from aitp_desk.protocols.hac.envelope import Context, Discovery, HacError, Part, members_of
from aitp_desk.protocols.hac.negotiation import VERSION
from aitp_desk.protocols.hac.payload import check_payload

_VERSION: Final = b'"version":"%b",' % VERSION.encode()

# Without extra members an object is encoded directly; this text in the output shows others.
_HAS_EXTRA: Final = b'"extra":'


def wrap(payload: bytes, context: Context) -> bytes:
    """Write a success: exactly two members, of which ``data`` is the payload (section 3.1).

    Parameters:
        payload: one JSON value in UTF-8, as it is sent without HAC; not one byte is changed.

    Raises:
        NotHac: the payload is not one JSON value in UTF-8, or is nested too deeply to check.
    """
    check_payload(payload)
    before, after = wrapping(context)
    return before + payload + after


def wrapping(context: Context) -> tuple[bytes, bytes]:
    """Write the text before and after a payload that is sent in pieces.

    The pieces must form one JSON value in UTF-8; this is not checked.
    """
    return b'{"data":', b',"_hac":%b}' % _write(context, _VERSION)


def write_error(error: HacError) -> bytes:
    """Write an error: exactly one member (section 6.1)."""
    return b'{"error":%b}' % _write(error)


def write_discovery(discovery: Discovery) -> bytes:
    """Write the discovery document of an API: exactly one member (section 7.2)."""
    return b'{"_hac":%b}' % _write(discovery)


def _write(part: Part, before: bytes = b"") -> bytes:
    """Write an object without its defaults, with its extra members inline.

    Parameters:
        before: members that are written first, with the comma after the last.
    """
    written = _encode(part)
    if _HAS_EXTRA in written:
        written = _encode(_with_extra(part))
    if written == b"{}":
        return b"{%b}" % before.removesuffix(b",")
    return b"{%b%b" % (before, written[1:])


def _with_extra(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_with_extra(one) for one in value]
    if not isinstance(value, Part):
        return value
    told = {
        name: _with_extra(held)
        for name, default in members_of(type(value))
        if (held := getattr(value, name)) is not default and held != default
    }
    return told | dict(value.extra)


_encode = msgspec.json.Encoder(decimal_format="number").encode
