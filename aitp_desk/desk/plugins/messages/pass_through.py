"""What visitors send of a capability, where the site does not judge it itself: refused, or passed.

What is passed along is given to another actor of the thread as it was sent, in words where they
have not declared the capability, and what they send back goes the same way. Nobody here answers it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from aitp_desk.desk.plugins.messages.parts import PlacedPart
from aitp_desk.model.errors import Forbidden, InvalidRequest

TO = "to"
"""The member of a message's metadata that says whom it is for."""
_ACTOR = "actor"
"""The member of a capability's own message that says so."""


def make_refusal_text(placed: PlacedPart) -> Forbidden:
    """What a visitor is told where the site takes no messages of a capability."""
    slug = placed.enabled.slug
    return Forbidden(
        f"This site takes no messages of {slug}. Say it in words.", param=f"content[{placed.place}]"
    )


def check_addressee(
    placed: PlacedPart, metadata: Mapping[str, str], others: Collection[str], own: str
) -> None:
    """Refuse a part that cannot be passed along.

    It is for the actor that it names by ``actor``, or the message by ``metadata.to``; where none is
    named, for the only other one who takes part.

    Parameters:
        metadata: the message's.
        others: ids of who takes part, but for whoever speaks and the desk.
        own: id of the desk's own actor.

    Raises:
        InvalidRequest: nobody is named who takes part; says who does, or how they are named.
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
            f"Messages of {slug} are passed along here: metadata.{TO} says to which actor of the"
            f" thread. {_listed(others)}",
            param=at,
        )
    if named == own:
        raise InvalidRequest(
            f"The site's own agent reads no messages of {slug}; it passes them along to others. Say"
            " it in words.",
            param=at,
        )
    if named not in others:
        raise InvalidRequest(
            f"{str(named)[:200]!r} takes no part in this thread. {_listed(others)}", param=at
        )


def _listed(others: Collection[str]) -> str:
    if not others:
        return "Nobody else takes part."
    return f"There take part: {', '.join(sorted(others))}."
