"""Refuses or passes through capability messages that the site does not judge.

A passed message goes to another actor of the thread unchanged, or as text if that actor has not
declared the capability; its replies go the same way. The desk answers none of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from aitp_desk.desk.plugins.messages.parts import PlacedPart
from aitp_desk.model.errors import Forbidden, InvalidRequest

TO = "to"
"""Metadata member that names the addressee of a message."""
_ACTOR = "actor"
"""Member of a capability's message that names the addressee."""


def make_refusal_text(placed: PlacedPart) -> Forbidden:
    """Return the error for messages of a capability that the site does not accept."""
    slug = placed.enabled.slug
    return Forbidden(
        f"This site accepts no messages of {slug}. Send plain text instead.",
        param=f"content[{placed.place}]",
    )


def check_addressee(
    placed: PlacedPart, metadata: Mapping[str, str], others: Collection[str], own: str
) -> None:
    """Refuse a part that has no valid addressee.

    The addressee is the part's ``actor``, else the message's ``metadata.to``, else the only other
    participant.

    Parameters:
        metadata: the message's.
        others: ids of the participants except the speaker and the desk.
        own: id of the desk's own actor.

    Raises:
        InvalidRequest: no participant is named; says who participates, or how to name one.
    """
    part, slug = placed.part, placed.enabled.slug
    content = part.given[part.key]
    at = f"content[{placed.place}].{part.key}.{_ACTOR}"
    named = content.get(_ACTOR) if isinstance(content, Mapping) else None
    if not named:
        named, at = metadata.get(TO), f"metadata.{TO}"
    if not named:
        if len(others) == 1:
            return
        raise InvalidRequest(
            f"Messages of {slug} are forwarded here: metadata.{TO} must name the receiving actor"
            f" of the thread. {_listed(others)}",
            param=at,
        )
    if named == own:
        raise InvalidRequest(
            f"The site's agent does not read messages of {slug}; it passes them on to other"
            " actors. Send plain text instead.",
            param=at,
        )
    if named not in others:
        raise InvalidRequest(
            f"{str(named)[:200]!r} is not a participant of this thread. {_listed(others)}", param=at
        )


def _listed(others: Collection[str]) -> str:
    if not others:
        return "It has no other participants."
    return f"Its other participants are: {', '.join(sorted(others))}."
