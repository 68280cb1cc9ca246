"""The arguments of a tool's call: those of the action, and what is said beside them.

Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.desk.calling_directly import INTENT
from aitp_desk.desk.exchange import Ask
from aitp_desk.desk.invocation import Consent
from aitp_desk.desk.json_arguments import part_consent
from aitp_desk.model.action import Action
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.protocols.calls import (
    LONGEST_INTENT,
    LONGEST_LOCALE,
    LONGEST_QUESTION,
    LONGEST_SESSION,
    MOST_TOKENS,
)
from aitp_desk.protocols.mcp.tools import SESSION, USUAL_QUESTIONS

_QUESTION = frozenset({"query", SESSION, "locale", "max_tokens"})


class Given(msgspec.Struct, frozen=True):
    """What a call is given.

    Parameters:
        arguments: the action's own.
        session_id: the conversation that it belongs to; None for none.
        consent: what was agreed to; None for nothing.
        intent: what for, in the caller's words.
    """

    arguments: Mapping[str, Any]
    session_id: str | None = None
    consent: Consent | None = None
    intent: str | None = None


def read_given(action: Action, given: Mapping[str, Any]) -> Given:
    """Part what a call is given.

    Raises:
        InvalidRequest: a reserved member is not what it has to be; ``param`` names it.
    """
    arguments, consent = part_consent(given)
    rest = dict(arguments)
    own = action.input_schema.get("properties", {})
    session_id = intent = None
    if SESSION not in own:
        session_id = _text(rest.pop(SESSION, None), SESSION, LONGEST_SESSION)
    if INTENT not in own:
        intent = _text(rest.pop(INTENT, None), INTENT, LONGEST_INTENT)
    return Given(rest, session_id, consent, intent)


def read_question(action: Action, given: Mapping[str, Any]) -> Ask:
    """Read a question to a capability that answers from the site's content.

    Raises:
        MissingField: there is no question.
        InvalidRequest: a member is unknown, or not what it has to be; ``param`` names it.
    """
    for member in given:
        if member not in _QUESTION:
            known = ", ".join(sorted(_QUESTION))
            raise InvalidRequest(
                f"{action.name} takes {known}, and no {member[:64]!r}.", param=member[:64]
            )
    query = _text(given.get("query"), "query", LONGEST_QUESTION)
    if query is None or not query.strip():
        query = USUAL_QUESTIONS.get(action.name)
    if query is None:
        raise MissingField("The argument 'query' is required: the question.", param="query")
    tokens = given.get("max_tokens")
    if tokens is not None and not (type(tokens) is int and 1 <= tokens <= MOST_TOKENS):
        raise InvalidRequest(
            f"max_tokens is a whole number from 1 to {MOST_TOKENS}.", param="max_tokens"
        )
    return Ask(
        action=action.name,
        query=query,
        session_id=_text(given.get(SESSION), SESSION, LONGEST_SESSION),
        accepts=action.answer_types,
        max_tokens=tokens,
        locale=_text(given.get("locale"), "locale", LONGEST_LOCALE),
    )


def missing_from(action: Action, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that an action needs and was not given, in the order of its schema."""
    required = action.input_schema.get("required", ())
    return tuple(name for name in required if name not in arguments)


def _text(given: Any, name: str, longest: int) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given or len(given) > longest:
        raise InvalidRequest(f"{name} is a text of 1 to {longest} characters.", param=name)
    return given
