"""Parses a token in compact form before anything in it is trusted.

JWTs come from strangers, and their header says how to read them. The parser does not follow it: it
refuses a token that needs more than one signature over one JSON object (RFC 8725, sections 3.1 to
3.11). Two parsers cannot read a token differently: base64url is canonical, and JSON members are
unique.

Sources: RFC 7515 (JWS, sections 3.1, 4.1 and 5.2), RFC 7519 (JWT, sections 5 and 7.2).
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec

from aitp_desk.auth.jwt.base64url import decode_base64url
from aitp_desk.model.errors import TokenRefused

MAX_TOKEN_CHARACTERS = 8192
"""A longer token is refused unread."""
MAX_KEY_ID_CHARACTERS = 256

_POINTS_TO_KEYS = ("jku", "jwk", "x5u", "x5c")
"""Headers by which a token brings its own key, or says where it is (RFC 8725, section 3.10)."""
_WANTS_MORE = ("crit", "b64", "cty", "enc", "zip")
"""Headers of extensions, of encryption and compression, and of nested tokens."""


class CompactToken(msgspec.Struct, frozen=True):
    """A parsed token; nothing of it is verified.

    Parameters:
        text: the token as sent.
        algorithm: the header's ``alg``.
        key_id: the header's ``kid``; None if it has none.
        type: the header's ``typ`` in lowercase, without ``application/``; empty if it has none.
        claims: its claims; NaN, Infinity and oversized numbers were refused.
    """

    text: str
    algorithm: str
    key_id: str | None
    type: str
    claims: dict[str, Any]


def read_compact(text: str) -> CompactToken:
    """Parse a token.

    Raises:
        TokenRefused: it is too long, is not a JWT of three parts, or needs more than a signature.
    """
    if len(text) > MAX_TOKEN_CHARACTERS:
        raise TokenRefused(f"The token is longer than {MAX_TOKEN_CHARACTERS} characters.")
    parts = text.split(".")
    if len(parts) == 5:
        raise TokenRefused("The token is encrypted; this desk accepts only signed tokens.")
    if len(parts) != 3:
        raise TokenRefused("The token is not a JWT: it does not have three parts.")
    header = _read_object(parts[0], "header")
    for name in _POINTS_TO_KEYS:
        if name in header:
            raise TokenRefused(
                f"The token's header has {name}; keys are never taken from a token or from a URL"
                " in it."
            )
    for name in _WANTS_MORE:
        if name in header:
            raise TokenRefused(
                f"The token's header has {name}; this desk accepts only plain signed tokens."
            )
    algorithm = header.get("alg")
    if not isinstance(algorithm, str):
        raise TokenRefused("The alg in the token's header must be a string.")
    key_id = header.get("kid")
    if key_id is not None and not (isinstance(key_id, str) and is_key_id(key_id)):
        raise TokenRefused(
            f"The token's kid must be printable text of at most {MAX_KEY_ID_CHARACTERS} characters."
        )
    type_ = header.get("typ", "")
    if not isinstance(type_, str):
        raise TokenRefused("The token's typ must be a string.")
    claims = _read_object(parts[1], "claims")
    _decode(parts[2], "signature")
    return CompactToken(text, algorithm, key_id, type_.lower().removeprefix("application/"), claims)


def is_key_id(text: str) -> bool:
    """Return whether a text may be a key's id."""
    return 0 < len(text) <= MAX_KEY_ID_CHARACTERS and text.isprintable()


def _decode(part: str, what: str) -> bytes:
    """Decode a part of a token.

    Parameters:
        what: the part's name in the error.
    """
    decoded = decode_base64url(part)
    if decoded is None:
        raise TokenRefused(f"The token's {what} is not base64url without padding.")
    return decoded


def _read_object(part: str, what: str) -> dict[str, Any]:
    data = _decode(part, what)
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=_no_number
        )
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise TokenRefused(f"The token's {what} must be a JSON object with each member once.")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member occurs twice")
    return members


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
