"""Parses the structured parts of a message.

A part is a JSON object, encoded as a string, whose ``$schema`` names a capability of this site; its
one message key selects the type. Everything else is text and stays unchanged, also objects of
unknown schemas. Source: AITP 0.1, Capabilities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.capability import Part
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry, SchemaMatch
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json

SCHEMA = "$schema"
_STRUCTURED = re.compile(r"\s*\{.*(?:\$schema|\\u)", re.DOTALL)
_NAMED = re.compile(
    r'"(?:\$|\\u0024)'
    + "".join(rf"(?:{c}|\\u00{ord(c):x})" for c in "schema")
    + r'"\s*:\s*("(?:[^"\\]|\\.){1,512}")',
)
_AT = re.compile(r" - at `(?:key in )?\$\.?(?P<path>[^`]*)`\Z")


class PlacedPart(msgspec.Struct, frozen=True, eq=False):
    """A structured part of a message.

    Parameters:
        place: its index among the message's parts, from 0.
    """

    place: int
    enabled: EnabledPlugin
    part: Part


def may_have_structure(content: Sequence[str]) -> bool:
    """Return whether a message may hold structured parts, without parsing it."""
    return any(map(_STRUCTURED.match, content))


def find_parts(
    content: Sequence[str], capabilities: PluginRegistry, at: str = ""
) -> tuple[PlacedPart, ...]:
    """Return the structured parts of a message; none at a desk without plugins.

    Parameters:
        at: path of the message in its request, such as ``messages[0].``, for ``param``.

    Raises:
        InvalidRequest: a part breaks its schema; ``param`` is the path of the mistake.
    """
    if not capabilities.all:
        return ()
    found = []
    for place, text in enumerate(content):
        if _STRUCTURED.match(text) is None:
            continue
        where = f"{at}content[{place}]"
        given = _read_object(text, capabilities, where)
        url = None if given is None else given.get(SCHEMA)
        meant = capabilities.resolve_schema(url) if isinstance(url, str) else None
        if given is not None and meant is not None:
            found.append(PlacedPart(place, meant.enabled, read_part(given, meant, where)))
    return tuple(found)


def read_part(given: Mapping[str, Any], meant: SchemaMatch, at: str) -> Part:
    """Parse one part by its schema.

    Parameters:
        at: its path in the request.

    Raises:
        InvalidRequest: it breaks the schema.
    """
    slug, version = meant.enabled.slug, meant.version
    if not meant.is_known:
        known = ", ".join(map(str, sorted(meant.enabled.schemas)))
        raise InvalidRequest(
            f"There is no version {version} of {slug} here; this desk has {known}.",
            param=f"{at}.{SCHEMA}",
        )
    messages = meant.enabled.schemas[version].messages
    keys = [key for key in messages if key in given]
    if len(keys) != 1:
        several = f"both {keys[0]} and {keys[1]}" if keys else "none"
        raise InvalidRequest(
            f"A message of {slug} must have exactly one of {', '.join(messages)}; this has"
            f" {several}.",
            param=at,
        )
    key = keys[0]
    try:
        content = msgspec.convert(given[key], messages[key])
    except msgspec.ValidationError as error:
        told = str(error)
        below = _AT.search(told)
        path = below["path"] if below else ""
        message = _AT.sub("", told)
        joint = "" if path.startswith("[") or not path else "."
        raise InvalidRequest(
            f"{key} of {slug}: {message}.", param=f"{at}.{key}{joint}{path}"
        ) from None
    return Part(version=version, key=key, content=content, given=given)


def write_part(given: Mapping[str, Any], url: str) -> str:
    """Encode a part as one of a message's parts.

    Parameters:
        url: the ``$schema`` if the part has none yet.
    """
    return msgspec.json.encode({SCHEMA: url, **given}).decode()


def _read_object(text: str, capabilities: PluginRegistry, at: str) -> dict[str, Any] | None:
    """Return the JSON object in a text; None for plain text.

    Raises:
        InvalidRequest: it names a schema of this site, and parsers may read it differently.
    """
    try:
        read = decode_json(text.encode())
    except InvalidRequest as error:
        if any(capabilities.resolve_schema(url) is not None for url in _named_in(text)):
            raise InvalidRequest(error.message, param=at) from None
        return None
    return read if isinstance(read, dict) else None


def _named_in(text: str) -> Iterator[str]:
    """Yield every schema that a text may name to a less strict parser."""
    for literal in _NAMED.findall(text):
        try:
            yield msgspec.json.decode(literal, type=str)
        except msgspec.DecodeError:
            continue
