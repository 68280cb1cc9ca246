"""The site's resources: objects with an address, and their open actions.

An address is a template of RFC 6570, level 1, in which a variable is a whole segment:
``/orders/{order_id}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from aitp_desk.model.calls.action import OpenTo, Related

NOTHING_HERE = "There is nothing at this address."
"""Message for an address without a resource for this caller."""
_SEGMENT = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\{[a-z][a-z0-9_]{0,63}\}", re.ASCII)
_ENCODED = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+", re.ASCII)
"""A segment of a path (RFC 3986, section 3.3)."""
_VARIABLE = re.compile(r"\{([A-Za-z0-9_]+)\}", re.ASCII)


def is_segment(text: str) -> bool:
    """Return whether a text can be a segment of an address, without leading elsewhere."""
    return text not in {"", ".", ".."} and "/" not in text and "\0" not in text


class PathTemplate(msgspec.Struct, frozen=True):
    """The addresses of resources of one type.

    Parameters:
        segments: in order; a variable is in braces.
    """

    segments: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> PathTemplate | None:
        """Parse a template; None if it is invalid.

        It must not begin with a variable, nor repeat one.
        """
        first, *segments = text.split("/")
        names = [segment for segment in segments if segment.startswith("{")]
        if first or not segments or segments[0].startswith("{") or len(set(names)) < len(names):
            return None
        return cls(tuple(segments)) if all(map(_SEGMENT.fullmatch, segments)) else None

    def __str__(self) -> str:
        return "".join(f"/{segment}" for segment in self.segments)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its variables, in order."""
        return tuple(segment[1:-1] for segment in self.segments if segment.startswith("{"))

    @property
    def base(self) -> str:
        """The address up to the first variable; the whole address without one."""
        return str(self).partition("/{")[0]

    def match(self, path: str) -> Mapping[str, str] | None:
        """Return the values of the variables in a path; None without a match.

        Parameters:
            path: as in a request: begins with a slash, is percent-encoded, and has no query.
        """
        first, *segments = path.split("/")
        given = [_decode(segment) for segment in segments]
        if first or len(given) != len(self.segments) or not all(map(is_segment, given)):
            return None
        values = {}
        for segment, value in zip(self.segments, given, strict=True):
            if segment.startswith("{"):
                values[segment[1:-1]] = value
            elif segment != value:
                return None
        return values

    def meets(self, other: PathTemplate) -> bool:
        """Return whether some path matches both templates."""
        return len(self.segments) == len(other.segments) and all(
            one == another or one.startswith("{") or another.startswith("{")
            for one, another in zip(self.segments, other.segments, strict=True)
        )


def _decode(segment: str) -> str:
    """Decode a segment of a path once; an invalid one becomes empty."""
    if not _ENCODED.fullmatch(segment):
        return ""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return ""


def variables_in(template: str) -> tuple[str, ...]:
    """Return the names of the variables of a path or URI template, in order."""
    return tuple(_VARIABLE.findall(template))


def expand(template: str, values: Mapping[str, Any]) -> str | None:
    """Fill in the variables of a path or URI template; unknown ones stay.

    Parameters:
        values: text, numbers, or None for a missing value.

    Returns:
        None if a value cannot be a segment.
    """
    texts = {name: "" if value is None else str(value) for name, value in values.items()}
    filled = (texts[name] for name in _VARIABLE.findall(template) if name in texts)
    if not all(map(is_segment, filled)):
        return None
    return _VARIABLE.sub(
        lambda found: quote(texts[found[1]], safe="") if found[1] in texts else found[0], template
    )


def fill_links(related: Sequence[Related], *known: Any) -> tuple[Related, ...]:
    """Return links with known variables filled in, without those that stay incomplete.

    Parameters:
        known: JSON objects whose members may be variables; later ones take precedence.
    """
    values = {
        name: value
        for members in known
        if isinstance(members, Mapping)
        for name, value in members.items()
        if not isinstance(value, dict | list | bool)
    }
    filled = ((one, expand(one.href, values)) for one in related)
    return tuple(
        msgspec.structs.replace(one, href=href)
        for one, href in filled
        if href is not None and not variables_in(href)
    )


class Affordance(msgspec.Struct, frozen=True):
    """An action that its owner declares open for a resource's current state.

    Parameters:
        action: its name.
        arguments: those that follow from the resource, in addition to the variables of its path.
    """

    action: str
    arguments: Mapping[str, Any]


class Resource(msgspec.Struct, frozen=True):
    """A resource of the site in its current state.

    Parameters:
        path: its address on the site, percent-encoded.
        variables: the values in its address, with their types as arguments.
        data: as JSON has it, valid against its type's schema.
        affordances: the open actions, before the caller's access is checked.
        related: links, without those whose targets do not exist.
    """

    path: str
    variables: Mapping[str, Any]
    data: Any
    affordances: tuple[Affordance, ...] = ()
    related: tuple[Related, ...] = ()


class ResourceType(msgspec.Struct, frozen=True):
    """The common declaration of all resources at the addresses of one template.

    Parameters:
        name: ``[a-z][a-z0-9_]{0,63}``; no action has it.
        summary: one line of at most 256 characters.
        description: what a reader should know in addition.
        open_to: who may read one; as for an action of this name.
        input_schema: JSON Schema of the variables.
        output_schema: JSON Schema of the data.
        affords: names of the actions that may be open.
        read_by: name of the action that reads one, if that is paid for; otherwise empty.
    """

    name: str
    template: PathTemplate
    summary: str
    description: str
    open_to: OpenTo
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    affords: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    read_by: str = ""
