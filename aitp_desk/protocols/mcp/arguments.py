"""Separates the arguments of a tool's call from the desk's own members.

Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import filterfalse
from typing import Any

import msgspec

from aitp_desk.desk.calls.invocation import Consent
from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.dialogue.tools.json_arguments import split_consent, split_payment
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.direct.calls import INTENT
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import MissingField
from aitp_desk.protocols.base.call_members import (
    MAX_INTENT,
    MAX_LOCALE,
    MAX_QUESTION,
    MAX_SESSION,
)
from aitp_desk.protocols.base.question_members import check_members, read_text, read_tokens
from aitp_desk.protocols.mcp.tools import SESSION, USUAL_QUESTIONS

_QUESTION = frozenset({"query", SESSION, "locale", "max_tokens"})


class CallArguments(msgspec.Struct, frozen=True):
    """The arguments of a call.

    Parameters:
        arguments: the action's own.
        session_id: the conversation of the call; None for none.
        consent: what the caller agreed to; None for nothing.
        intent: the purpose, in the caller's own text.
        payment: a message that pays for the call; None for none.
    """

    arguments: Mapping[str, Any]
    session_id: str | None = None
    consent: Consent | None = None
    intent: str | None = None
    payment: Mapping[str, Any] | None = None


def read_arguments(action: Action, given: Mapping[str, Any]) -> CallArguments:
    """Separate the action's own arguments from the reserved members.

    Raises:
        InvalidRequest: a reserved member is invalid; ``param`` names it.
    """
    arguments, consent = split_consent(given)
    arguments, payment = split_payment(arguments)
    rest = dict(arguments)
    own = action.input_schema.get("properties", {})
    session_id = intent = None
    if SESSION in rest and SESSION not in own:
        session_id = read_text(rest, SESSION, MAX_SESSION)
        del rest[SESSION]
    if INTENT in rest and INTENT not in own:
        intent = read_text(rest, INTENT, MAX_INTENT)
        del rest[INTENT]
    return CallArguments(rest, session_id, consent, intent, payment)


def read_question(action: Action, given: Mapping[str, Any]) -> AskRequest:
    """Read a question to an action that answers from the site's content.

    Raises:
        MissingField: there is no question.
        InvalidRequest: a member is unknown or invalid; ``param`` names it.
    """
    check_members(action.name, given, _QUESTION)
    query = read_text(given, "query", MAX_QUESTION)
    if query is None or not query.strip():
        query = USUAL_QUESTIONS.get(action.name)
    if query is None:
        raise MissingField("The argument 'query' is required: the question.", param="query")
    return AskRequest(
        action=action.name,
        query=query,
        session_id=read_text(given, SESSION, MAX_SESSION),
        accepts=None if action.name == CONTENT_SEARCH else action.answer_types,
        max_tokens=read_tokens(given),
        locale=read_text(given, "locale", MAX_LOCALE),
        may_match=True,
    )


def list_missing(action: Action, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the missing required arguments, in the order of the schema."""
    required = action.input_schema.get("required", ())
    return tuple(filterfalse(arguments.__contains__, required))
