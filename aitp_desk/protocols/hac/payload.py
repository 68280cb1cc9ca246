"""Checks and reads payloads; a payload is sent unchanged (section 3.1)."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from aitp_desk.protocols.hac.envelope import NotHac

_LONE_HALF: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""An escaped lone surrogate, which JSON's grammar allows (RFC 8259, section 8.2)."""
# A number may have any size (section 6); beyond the range of a float it is read as infinite.
_read = msgspec.json.Decoder(float_hook=float).decode
_skim = msgspec.json.Decoder(msgspec.Raw).decode


def check_payload(payload: bytes) -> None:
    """Check whether a payload can be put into the envelope.

    Raises:
        NotHac: it is not one JSON value in UTF-8, or is nested too deeply to check.
    """
    _decode(payload, _skim, _skim)


def read_payload(payload: bytes) -> Any:
    """Read a payload; lone surrogates are read as U+FFFD.

    Raises:
        NotHac: as :func:`check_payload`.
    """
    return _decode(payload, msgspec.json.decode, _read)


def _decode(payload: bytes, decode: Any, decode_any: Any) -> Any:
    try:
        payload.decode()
        try:
            return decode(payload)
        except msgspec.DecodeError:
            return decode_any(_LONE_HALF.sub(_whole, payload))
    except RecursionError:
        raise NotHac("data: the payload is nested too deeply.") from None
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise NotHac(f"data: the payload is not JSON: {error}") from None


def _whole(found: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if found[1] else found[0]
