"""What the site has, one by one: a thing at an address, and what can be done with it as it is now.

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
"""What is told of an address at which the site has nothing, or nothing for this caller."""
_SEGMENT = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\{[a-z][a-z0-9_]{0,63}\}", re.ASCII)
_ENCODED = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+", re.ASCII)
"""A segment of a path (RFC 3986, section 3.3)."""
_VARIABLE = re.compile(r"\{([A-Za-z0-9_]+)\}", re.ASCII)


def is_segment(text: str) -> bool:
    """Whether a text can be a segment of an address: nothing that would lead elsewhere."""
    return text not in {"", ".", ".."} and "/" not in text and "\0" not in text


class PathTemplate(msgspec.Struct, frozen=True):
    """The addresses of resources of one type.

    Parameters:
        segments: in order; a variable stands in braces.
    """

    segments: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> PathTemplate | None:
        """Read a template; None where it is none, begins with a variable or has one twice."""
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
        """The values of its variables in a path; None where the path is none of its addresses.

        Parameters:
            path: as a request has it: begins with a slash, is percent-encoded still, and has no
                query.
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
        """Whether there are paths that are addresses of both."""
        return len(self.segments) == len(other.segments) and all(
            one == another or one.startswith("{") or another.startswith("{")
            for one, another in zip(self.segments, other.segments, strict=True)
        )


def _decode(segment: str) -> str:
    """What a segment of a path stands for, decoded once; empty where it is none."""
    if not _ENCODED.fullmatch(segment):
        return ""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return ""


def variables_in(template: str) -> tuple[str, ...]:
    """The names of the variables of a path or URI template, in its order."""
    return tuple(_VARIABLE.findall(template))


def expand(template: str, values: Mapping[str, Any]) -> str | None:
    """Put values for the variables of a path or URI template; others stay as they are.

    Parameters:
        values: text, numbers, or None for one that there is not.

    Returns:
        None where the value of a variable is none that a segment can have.
    """
    texts = {name: "" if value is None else str(value) for name, value in values.items()}
    filled = (texts[name] for name in _VARIABLE.findall(template) if name in texts)
    if not all(map(is_segment, filled)):
        return None
    return _VARIABLE.sub(
        lambda found: quote(texts[found[1]], safe="") if found[1] in texts else found[0], template
    )


def fill_links(related: Sequence[Related], *known: Any) -> tuple[Related, ...]:
    """Links with what is known filled in; one whose end is not there is left out.

    Parameters:
        known: JSON objects whose members may stand for variables; later ones precede.
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
    """An action that is open for a resource as it is now, by what its owner has declared.

    Parameters:
        action: its name.
        arguments: those that follow from the resource, beside the variables of its path.
    """

    action: str
    arguments: Mapping[str, Any]


class Resource(msgspec.Struct, frozen=True):
    """Something that the site has, as it is now.

    Parameters:
        path: its address on the site, percent-encoded.
        variables: the values in its address, by the types that they have as arguments.
        data: as JSON has it, within its type's schema.
        affordances: what can be done with it now; whether this caller may is not looked at.
        related: links, but those whose ends are not there.
    """

    path: str
    variables: Mapping[str, Any]
    data: Any
    affordances: tuple[Affordance, ...] = ()
    related: tuple[Related, ...] = ()


class ResourceType(msgspec.Struct, frozen=True):
    """What all resources at the addresses of one template have in common.

    Parameters:
        name: ``[a-z][a-z0-9_]{0,63}``; no action has it.
        summary: one line of at most 256 characters.
        description: what a reader should know beside that.
        open_to: who may read one; as of an action of this name.
        input_schema: JSON Schema of the variables.
        output_schema: JSON Schema of the data.
        affords: names of the actions that may be open.
        read_by: name of the action that reads one, where that is paid first; empty where it is not.
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
