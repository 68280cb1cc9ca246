"""Parses JSON bodies strictly: refuses what two parsers could read differently; bounds YAML.

Duplicate keys, NUL characters, lone surrogates, bad UTF-8, numbers that are not JSON or beyond the
range of a double, nesting past 32 levels and more than 50,000 values are refused before anything
else reads the body.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

import msgspec

from aitp_desk.model.errors import InvalidRequest

MAX_DEPTH = 32
MAX_VALUES = 50_000
"""Maximum number of values in a document from outside: each takes memory, and time of the loop."""
AT_ONCE_BYTES = 256 * 1024
"""A longer request is decoded in a thread (:func:`decode_ahead`)."""

_BRACKET = re.compile(r"[\[\]{}]")


class DecodedBody(msgspec.Struct):
    """A body that was decoded in advance, and the result."""

    body: bytes
    value: Any = None
    refused: InvalidRequest | None = None


_ahead: ContextVar[DecodedBody | None] = ContextVar("decoded_ahead", default=None)


@contextmanager
def use_decoded(body: DecodedBody) -> Iterator[None]:
    """Let :func:`decode_json` use this decoded body within the context."""
    token = _ahead.set(body)
    try:
        yield
    finally:
        _ahead.reset(token)


def decode_ahead(body: bytes) -> DecodedBody:
    """Decode a long body, for :func:`use_decoded`. Raises nothing; a thread may call it."""
    try:
        return DecodedBody(body, _decode(body, with_nul=False, most_values=MAX_VALUES))
    except InvalidRequest as error:
        return DecodedBody(body, refused=error.with_traceback(None))


def decode_json(
    body: bytes, *, with_nul: bool = False, most_values: int | None = MAX_VALUES
) -> Any:
    """Decode one JSON document.

    Parameters:
        with_nul: whether its texts may hold NUL characters, as a model's output may.
        most_values: maximum number of values; None for no limit, if no other request waits.

    Returns:
        Plain values: dict, list, str, int, float, bool, None.

    Raises:
        InvalidRequest: the body is not strict JSON; the message says what is wrong.
    """
    if len(body) > AT_ONCE_BYTES:
        ahead = _ahead.get()
        if ahead is not None and ahead.body is body:
            ahead.body = b""  # the reader owns the value from here on
            refused, ahead.refused = ahead.refused, None
            if refused is None:
                return ahead.value
            try:
                raise refused
            finally:
                # a cycle through the traceback keeps the body until the collector comes
                del refused
    return _decode(body, with_nul=with_nul, most_values=most_values)


def load_yaml(text: str | bytes, *, most_depth: int = MAX_DEPTH) -> Any:
    """Parse one YAML document within bounds. It takes far longer than JSON.

    Parameters:
        most_depth: maximum nesting.

    Raises:
        ValueError: it has aliases, of which a few can expand to gigabytes, or nests deeper.
        yaml.YAMLError, RecursionError: it is not YAML.
    """
    import yaml  # only for the rare form

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("aliases (*name) are not allowed; write out their values")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > most_depth:
            raise ValueError(f"it is nested deeper than {most_depth} levels")
    return yaml.load(text, Loader=loader)  # noqa: S506 -- a safe loader, in C where there is one


def _decode(body: bytes, *, with_nul: bool, most_values: int | None) -> Any:
    # Most bodies can be decoded in one step. Every member has a colon, so if there are as many
    # members as colons, none was dropped as a duplicate; a colon within a text only costs time.
    is_short = most_values is None or len(body) <= most_values or body.count(b",") < most_values
    if is_short and b"\\u" not in body and body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        try:
            value = _read_at_once(body)
        except (msgspec.DecodeError, ValueError):
            pass  # the slow parser reports what is wrong
        else:
            colons = body.count(b":")
            if isinstance(value, dict) and len(value) == colons:
                return value  # no member holds further ones
            if _count_members(value) == colons:
                return value
    return _read_with_care(body, with_nul=with_nul, most_values=most_values)


def _count_members(value: Any) -> int:
    members, left = 0, [value]
    while left:
        inner = left.pop()
        if isinstance(inner, dict):
            members += len(inner)
            left += inner.values()
        elif isinstance(inner, list):
            left += inner
    return members


def _read_with_care(body: bytes, *, with_nul: bool, most_values: int | None) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The body is not UTF-8: see byte {error.start}.") from None
    _check_structure(text, most_values)
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


def _check_structure(text: str, most_values: int | None) -> None:
    """Refuse too deep nesting or too many values, before decoding."""
    brackets = text.count("[") + text.count("{")
    most = len(text) if most_values is None else most_values
    if brackets <= MAX_DEPTH and (len(text) <= most or text.count(",") < most):
        return
    outside = _outside_of_strings(text, most)
    if outside.count(",") >= most:
        raise _too_many(most)
    depth = opened = 0
    for token in _BRACKET.finditer(outside):
        if token[0] in "[{":
            opened += 1
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidRequest(f"The body nests deeper than {MAX_DEPTH} levels.")
            if opened > most:
                raise _too_many(most)
        else:
            depth -= 1


def _outside_of_strings(text: str, most: int) -> str:
    """Return a document without its strings; an unterminated one takes all that is left.

    Every step is linear, so no text is slow.
    """
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    if text.count('"') > 4 * most:  # of each value, and of its name
        raise _too_many(most)
    return "".join(text.split('"')[::2])


def _too_many(most: int) -> InvalidRequest:
    return InvalidRequest(f"The body has more than {most} values.")


def _check_text(value: Any, *, with_nul: bool) -> None:
    if isinstance(value, str):
        if "\x00" in value and not with_nul:
            raise InvalidRequest(
                "The body contains a NUL character (\\u0000), which is not accepted."
            )
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidRequest(
                "The body contains a lone surrogate, which is not valid text."
            ) from None
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
                raise InvalidRequest(f"The member {key[:64]!r} is in one object twice.")
            seen.add(key)
    return members


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise _too_large()
    return value


def _too_large() -> InvalidRequest:
    return InvalidRequest("The body contains a number that is too large.")


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidRequest(f"The body is not JSON: {name} is not a JSON number.")


_read_at_once = msgspec.json.Decoder().decode
_decoder = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse_constant, strict=True
)
