"""Chooses the representation of a response: plain, or for agents (HAC 1.0, section 2).

Nothing here does I/O. A client that does not name the media type never gets it: a missing
``Accept`` and wildcards select the plain representation (RFC 9110, section 12.5.1, for all else).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from aitp_desk.protocols.base.accept import find_quality, parse_ranges

MEDIA_TYPE: Final = "application/vnd.hac+json"
VERSION: Final = "1.0"
"""The version of the specification, as a response names it."""

_JSON = ("application/json",)
_VERSIONS = {"1", "1.0"}


class Face(Enum):
    """The representation that a client gets."""

    PLAIN = "plain"
    HAC = "hac"
    NOT_ACCEPTABLE = "not acceptable"


def negotiate(
    accept: str,
    *,
    is_served: bool = True,
    profile: str = "",
    plain: tuple[str, ...] | None = _JSON,
) -> Face:
    """Choose the representation of a response.

    The media type must be named, in any case, with a weight above 0, and in a form that is served:
    a ``version`` other than 1.0 or another ``profile`` is not; unknown parameters are ignored. Of
    ranges that name it, the one with more parameters counts. With equal weights it wins over the
    plain representation, which wins with a higher weight, by its name or by a wildcard.

    Parameters:
        accept: the value of the Accept header, all lines joined by commas; empty without one. Every
            value is accepted.
        is_served: whether this resource has the representation at all.
        profile: the profile that is served; empty for none.
        plain: the media types of the plain response; None where they are unknown before it is made:
            any other type that the client accepts then counts.

    Returns:
        NOT_ACCEPTABLE (status 406) only for a client that named the media type, cannot get it, and
        accepts no other available type.
    """
    if "hac" not in accept and "hac" not in accept.lower():
        return Face.PLAIN
    wanted, is_named = _weight(accept, profile if is_served else None)
    if not is_named:
        return Face.PLAIN
    otherwise = _weight_otherwise(accept, plain)
    if wanted > 0 and wanted >= otherwise:
        return Face.HAC
    return Face.PLAIN if otherwise > 0 else Face.NOT_ACCEPTABLE


def content_type(profile: str = "") -> str:
    """Return the ``Content-Type`` of this representation (sections 2.1 and 8.3).

    Parameters:
        profile: the URI of what is served beyond the specification; empty for none.
    """
    return f'{MEDIA_TYPE}; profile="{profile}"' if profile else MEDIA_TYPE


def _weight(accept: str, profile: str | None) -> tuple[float, bool]:
    """Return the weight of the served form, and whether any form has a weight.

    Parameters:
        profile: as it is served; None where the representation is not served.
    """
    best, is_named = (-1, 0.0), False
    for name, weight, parameters in parse_ranges(accept):
        if name != MEDIA_TYPE:
            continue
        is_named = is_named or weight > 0
        asked = [one for one in parameters if one[0] in {"version", "profile"}]
        if profile is not None and all(
            value in _VERSIONS if key == "version" else value == profile for key, value in asked
        ):
            best = max(best, (len(asked), weight))
    return best[1], is_named


def _weight_otherwise(accept: str, plain: tuple[str, ...] | None) -> float:
    if plain is not None:
        return max((find_quality(accept, one)[0] for one in plain), default=0.0)
    others = (one.weight for one in parse_ranges(accept) if one.name != MEDIA_TYPE)
    return max(others, default=0.0)
