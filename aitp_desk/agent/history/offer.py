"""Negotiates the content type of an answer that is more than text.

Source: AHP 0.1, section 6.6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from aitp_desk.agent.base import Answer
from aitp_desk.model.calls.action import TEXT_ANSWER, Action
from aitp_desk.model.errors import UnsupportedType


class Offer(Answer, frozen=True):
    """An answer of a type that the client accepts; its text describes the content.

    Parameters:
        content_type: of AHP 0.1, appendix C.2, or a site-specific one that begins with ``x-``.
        payload: JSON of that type; None for ``text/answer``.
        fallback_from: the preferred type that the client did not accept.
    """

    content_type: str = TEXT_ANSWER
    payload: msgspec.Raw | None = None
    fallback_from: str | None = None


def negotiate(
    accepts: Sequence[str] | None, action: Action, fits: Callable[[str], bool]
) -> tuple[str, str | None]:
    """Choose the type of an answer.

    Parameters:
        accepts: the types that the client accepts, the preferred first; None for ``text/answer``.
        fits: whether there is content of a type that answers the question; called for declared
            types only. Text always fits.

    Returns:
        The first accepted type that the action declares and that fits; ``text/answer`` if there
        is none and the action falls back. With it the action's preferred type, if text is returned
        although content of that type fits.

    Raises:
        UnsupportedType: there is none, and the action does not fall back.
    """
    wanted = (TEXT_ANSWER,) if accepts is None else accepts
    chosen = next((kind for kind in wanted if kind in action.answer_types and fits(kind)), None)
    if chosen is None and not action.accept_fallback:
        raise _unsupported(wanted, action)
    chosen = chosen or TEXT_ANSWER
    richest = action.answer_types[0]
    stands_in = chosen == TEXT_ANSWER != richest and fits(richest)
    return chosen, richest if stands_in else None


def _unsupported(wanted: Sequence[str], action: Action) -> UnsupportedType:
    others = tuple(kind for kind in action.answer_types if kind not in wanted)
    available = others or action.answer_types
    named = " or ".join(available)
    if set(wanted).isdisjoint(action.answer_types):
        return UnsupportedType(f"{action.name} can only answer with {named}.", available=available)
    return UnsupportedType(
        f"{action.name} has no answer of the accepted types. It can answer with {named}.",
        available=available,
    )
