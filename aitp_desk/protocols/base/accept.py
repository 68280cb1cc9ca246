"""Which form of a resource a caller wants, by the Accept header (RFC 9110, section 12.5.1).

The header's value comes as one text: several lines are one list, joined by commas.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from aitp_desk.protocols.base.discovery_links import MANIFEST_TYPE

HTML_TYPE = "text/html"
MARKDOWN_TYPE = "text/markdown"

_ENTRY = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_PARAMETER = re.compile(r'(?:[^;"]|"(?:[^"\\]|\\.)*"?)+')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class MediaRange(NamedTuple):
    """One entry of the list.

    Parameters:
        name: the type or wildcard, in small letters.
        weight: from 0 to 1; what is no number counts as 0.
        parameters: those beside the weight, without quotes; their names in small letters.
    """

    name: str
    weight: float
    parameters: tuple[tuple[str, str], ...]


def wants_manifest(accept: str, over: tuple[str, ...] = (HTML_TYPE,)) -> bool:
    """Whether a caller names the manifest's type and would rather have it than what is there.

    What a wildcard matches is not named. Of what is named and wanted equally, what is there wins.

    Parameters:
        accept: the value of the Accept header; empty where there was none.
        over: the media types of what is there.
    """
    wanted, named = find_quality(accept, MANIFEST_TYPE)
    if not named or not wanted:
        return False
    return all(
        wanted > weight or (wanted == weight and not other_named)
        for weight, other_named in (find_quality(accept, other) for other in over)
    )


def wants_markdown(accept: str) -> bool:
    """Whether a caller names Markdown and would not rather have HTML.

    Of both wanted equally it is Markdown: no browser names it.

    Parameters:
        accept: as for :func:`wants_manifest`.
    """
    wanted, named = find_quality(accept, MARKDOWN_TYPE)
    return named and wanted > 0 and wanted >= find_quality(accept, HTML_TYPE)[0]


def find_quality(accept: str, media_type: str) -> tuple[float, bool]:
    """How much a media type is wanted.

    Parameters:
        accept: as for :func:`wants_manifest`.

    Returns:
        The weight from 0 to 1 that the most specific matching range gives, and whether that range
        names the type itself. A weight that is no number counts as 0.
    """
    ranges = ("*/*", f"{media_type.partition('/')[0]}/*", media_type)
    best = (-1, 0.0)
    for name, weight, _ in parse_ranges(accept):
        if name in ranges:
            best = max(best, (ranges.index(name), weight))
    return best[1], best[0] == ranges.index(media_type)


@lru_cache(maxsize=256)
def parse_ranges(accept: str) -> tuple[MediaRange, ...]:
    """The entries of the list; a quoted parameter may hold a comma. Nothing in it is refused.

    Parameters:
        accept: as for :func:`wants_manifest`.
    """
    found = []
    for entry in _ENTRY.findall(accept):
        name, *given = [part.strip() for part in _PARAMETER.findall(entry)] or [""]
        named = [_named(parameter) for parameter in given]
        found.append(
            MediaRange(
                name.lower(),
                next((_weight(value) for key, value in named if key == "q"), 1.0),
                tuple(one for one in named if one[0] and one[0] != "q"),
            )
        )
    return tuple(found)


def _named(parameter: str) -> tuple[str, str]:
    name, _, value = parameter.partition("=")
    value = value.strip()
    if value.startswith('"'):
        value = _ESCAPED.sub(r"\1", value[1:].removesuffix('"'))
    return name.strip().lower(), value


def _weight(value: str) -> float:
    try:
        weight = float(value)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
