"""JSON bodies, read strictly: what two parsers could read differently is refused.

Duplicate keys, NUL characters, lone surrogates, bad UTF-8, numbers that are not JSON or past what a
double holds, and nesting past 32 levels are refused before anything else looks at the body.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import msgspec

from aitp_desk.model.errors import InvalidRequest

MAX_DEPTH = 32

# A string as a whole, so that brackets inside it do not count, or one bracket. A string without an
# end takes all that is left and nothing is tried twice: the search is linear in any text.
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


def decode_json(body: bytes, *, with_nul: bool = False) -> Any:
    """Decode one JSON document.

    Parameters:
        with_nul: whether its texts may hold NUL characters, as what a model has said may.

    Returns:
        Plain values: dict, list, str, int, float, bool, None.

    Raises:
        InvalidRequest: the body is not strict JSON; the message says what is wrong.
    """
    # Most bodies can be read at once. Every member has a colon, so that where there are as many
    # members as colons none was dropped for standing twice; a colon within a text only costs time.
    if b"\\u" not in body and body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        try:
            value = _read_at_once(body)
        except (msgspec.DecodeError, ValueError):
            pass  # reading it with care tells what is wrong
        else:
            colons = body.count(b":")
            if isinstance(value, dict) and len(value) == colons:
                return value  # no member holds further ones
            if _count_members(value) == colons:
                return value
    return _read_with_care(body, with_nul=with_nul)


def _count_members(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_count_members, value.values()))
    if isinstance(value, list):
        return sum(map(_count_members, value))
    return 0


def _read_with_care(body: bytes, *, with_nul: bool) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The body is not UTF-8: see byte {error.start}.") from None
    _check_depth(text)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidRequest(
            f"The body is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from None
    except ValueError:  # Python converts no whole number of more than some thousand digits
        raise _too_large() from None
    # \u escapes are the only way to a NUL or a lone surrogate in text that was UTF-8
    if "\\u" in text or "\x00" in text:
        _check_text(value, with_nul=with_nul)
    return value


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _STRUCTURE.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidRequest(f"The body nests deeper than {MAX_DEPTH} levels.")
        elif token[0] in "]}":
            depth -= 1


def _check_text(value: Any, *, with_nul: bool) -> None:
    if isinstance(value, str):
        if "\x00" in value and not with_nul:
            raise InvalidRequest("The body holds a NUL character (\\u0000), which is not accepted.")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidRequest("The body holds a lone surrogate, which is not text.") from None
    elif isinstance(value, dict):
        for key, member in value.items():
            _check_text(key, with_nul=with_nul)
            _check_text(member, with_nul=with_nul)
    elif isinstance(value, list):
        for member in value:
            _check_text(member, with_nul=with_nul)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidRequest(f"The member {key[:64]!r} stands twice in one object.")
            seen.add(key)
    return members


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise _too_large()
    return value


def _too_large() -> InvalidRequest:
    return InvalidRequest("The body holds a number that is too large.")


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidRequest(f"The body is not JSON: {name} is not a JSON number.")


_read_at_once = msgspec.json.Decoder().decode
_decoder = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse_constant, strict=True
)
