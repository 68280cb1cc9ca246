"""Validates the members of a question about the site's content."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.base.call_members import MAX_TOKENS

QUERY: Final = "The question."
LOCALE: Final = "The language to answer in, as a tag such as en or fr-CA."
TOKENS: Final = "The longest answer, in tokens."
ACCEPTS: Final = "The types of answers that can be read, the preferred first."
SESSION: Final = "The session_id of an earlier response, or a thread's id, to continue there."
CLARIFICATION: Final = "The answer to the desk's clarifying question in that session."


def check_members(name: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse members that an action does not accept.

    Parameters:
        name: of the action.

    Raises:
        InvalidRequest: a member is unknown; ``param`` names it.
    """
    for member in given:
        if member not in known:
            raise InvalidRequest(
                f"{name} has the members {', '.join(sorted(known))}, not {member[:64]!r}.",
                param=member[:64],
            )


def read_text(given: Mapping[str, Any], member: str, longest: int) -> str | None:
    """Return an optional member that is a short text.

    Parameters:
        longest: in characters.

    Raises:
        InvalidRequest: it is not; ``param`` names it.
    """
    text = given.get(member)
    if text is not None and not (isinstance(text, str) and 1 <= len(text) <= longest):
        raise InvalidRequest(
            f"`{member}` must be a string of 1 to {longest} characters.", param=member
        )
    return text


def read_tokens(given: Mapping[str, Any]) -> int | None:
    """Return the longest answer that the caller accepts, in tokens; None without a limit.

    Raises:
        InvalidRequest: it is not a whole number within the bounds.
    """
    tokens = given.get("max_tokens")
    if tokens is not None and not (type(tokens) is int and 1 <= tokens <= MAX_TOKENS):
        raise InvalidRequest(
            f"`max_tokens` must be a whole number from 1 to {MAX_TOKENS}.", param="max_tokens"
        )
    return tokens
