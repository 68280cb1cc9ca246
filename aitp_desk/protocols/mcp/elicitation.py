"""Asks a client's user for input before a call (MCP 2026-07-28, elicitation).

The server keeps no state in between: the client calls again with its user's input and with the
state that it received. That state holds only what the caller has sent and the price that the caller
was shown, so that changing it gains nothing: the caller could have sent the same at once. Pure: no
I/O.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.slots.replies.confirmation import write_summary
from aitp_desk.desk.calls.invocation import Consent
from aitp_desk.desk.direct.calls import INTENT
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.calls.secret_places import is_secret
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.money import Money
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.base.call_members import MAX_INTENT
from aitp_desk.protocols.base.json_rpc import (
    INVALID_PARAMS,
)
from aitp_desk.protocols.mcp.caller import RpcError
from aitp_desk.protocols.mcp.tools import Item

ARGUMENTS = "arguments"
CONSENT = "consent"
ANSWER = "answer"
"""The names of the requests that a client puts to its user."""
_AGREES = "agree"
_MOST_STATE = 32 * 1024
_STRING = ("title", "description", "minLength", "maxLength", "format", "default")
_NUMBER = ("title", "description", "minimum", "maximum", "default")
_WORDS: Mapping[str, Sequence[str]] = {
    "string": _STRING,
    "integer": _NUMBER,
    "number": _NUMBER,
    "boolean": ("title", "description", "default"),
}
_FORM = ("type", "properties", "required")
_FORMATS = frozenset({"email", "uri", "date", "date-time"})


class _State(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The input so far: arguments, the price to agree to, or the open request.

    Parameters:
        session: the conversation with an open request.
        request: the slug of its capability, and its id.
    """

    arguments: dict[str, Any] = {}
    price: Money | None = None
    session: str = ""
    request: tuple[str, str] | None = None


class ElicitationReplies(msgspec.Struct, frozen=True):
    """The input of a user.

    Parameters:
        arguments: filled in, in all rounds.
        consent: what the user agreed to; None for nothing.
        is_declined: whether the user declined.
        session, request: the request to answer, from the state; None for none.
        answer: what the user filled into its form.
    """

    arguments: Mapping[str, Any] = {}
    consent: Consent | None = None
    is_declined: bool = False
    session: str = ""
    request: tuple[str, str] | None = None
    answer: Mapping[str, Any] = {}


def read_replies(params: Mapping[str, Any]) -> ElicitationReplies:
    """Return the user's input from a repeated call.

    Raises:
        RpcError: the state was not issued here.
    """
    responses, state = params.get("inputResponses"), _read_state(params.get("requestState"))
    asked = ElicitationReplies(state.arguments, session=state.session, request=state.request)
    if not isinstance(responses, dict):
        return msgspec.structs.replace(asked, request=None)
    if any(_action(response) != "accept" for response in responses.values()):
        return msgspec.structs.replace(asked, is_declined=True)
    if state.request is not None:
        return msgspec.structs.replace(asked, answer=_content(responses.get(ANSWER)))
    filled = _content(responses.get(ARGUMENTS))
    consent = None
    if CONSENT in responses:
        if _content(responses[CONSENT]).get(_AGREES) is not True:
            return ElicitationReplies(state.arguments, is_declined=True)
        consent = Consent(state.price)
    return ElicitationReplies({**state.arguments, **filled}, consent)


async def ask_over_connection(asks: Item, ask: Callable[[str, Item], Awaitable[Item]]) -> Item:
    """Ask a client that waits for its result, over its open connection.

    Parameters:
        asks: as :func:`ask_arguments` and :func:`ask_consent` return it.
        ask: puts a message and a form to the client's user, and returns the response.

    Returns:
        The members that a client would send with its repeated call.
    """
    responses = {}
    for name, request in asks["inputRequests"].items():
        params = request["params"]
        responses[name] = await ask(params["message"], params["requestedSchema"])
    return {"inputResponses": responses, "requestState": asks["requestState"]}


def ask_arguments(
    action: Action, missing: Sequence[str], said: Mapping[str, Any], *, intent: bool
) -> Item | None:
    """Ask for arguments; None where a form cannot hold them.

    Parameters:
        missing: their names.
        said: what the user has filled in before.
        intent: whether to ask for the purpose of the call as well.
    """
    known = action.input_schema.get("properties", {})
    fields = {name: _field(known.get(name)) for name in missing}
    if intent:
        fields[INTENT] = {
            "type": "string",
            "title": "What for",
            "minLength": 1,
            "maxLength": MAX_INTENT,
        }
    if not fields or not all(fields.values()):
        return None
    summary = action.summary.strip().rstrip(".!:")
    form = {"type": "object", "properties": fields, "required": list(fields)}
    return _required(ARGUMENTS, f"{summary}. This is needed first.", form, _State(dict(said)))


def ask_consent(
    action: Action, arguments: Mapping[str, Any], said: Mapping[str, Any], price: Money | None
) -> Item:
    """Ask whether to make a call: its effect, its arguments and its price.

    Parameters:
        arguments: all of the call's.
        said: those among them that the user has filled in.
    """
    message = " ".join([*write_summary(action, arguments, price), "Do you want this to be done?"])
    agree = {"type": "boolean", "title": "Yes, do it", "default": False}
    form = {"type": "object", "properties": {_AGREES: agree}, "required": [_AGREES]}
    return _required(CONSENT, message, form, _State(dict(said), price))


def ask_answer(request: OpenRequest, session_id: str) -> Item:
    """Ask the user to answer an open request of a conversation."""
    form = {word: request.form[word] for word in _FORM if word in request.form}
    state = _State(session=session_id, request=(request.capability, request.id))
    return _required(ANSWER, request.words, form, state)


def _required(name: str, message: str, form: Item, state: _State) -> Item:
    params = {"mode": "form", "message": message, "requestedSchema": form}
    return {
        "resultType": "input_required",
        "inputRequests": {name: {"method": "elicitation/create", "params": params}},
        "requestState": msgspec.json.encode(state).decode(),
    }


def _field(schema: Any) -> Item | None:
    """Return a form's field; None for a schema that a form cannot hold.

    A form supports fewer keywords than a schema.
    """
    if not isinstance(schema, dict) or is_secret(schema):  # forms must not ask for secrets
        return None
    choices = schema.get("enum")
    kind = schema.get("type", "string" if choices else None)
    words = _WORDS.get(kind) if isinstance(kind, str) else None
    if words is None:
        return None
    field = {"type": kind, **{word: schema[word] for word in words if word in schema}}
    if field.get("format") not in _FORMATS:
        field.pop("format", None)
    if choices is not None:
        if kind != "string" or not all(isinstance(choice, str) for choice in choices):
            return None
        field = {word: field[word] for word in ("type", "title", "description") if word in field}
        field["enum"] = list(choices)
    return field


def _action(response: Any) -> Any:
    return response.get("action") if isinstance(response, dict) else None


def _content(response: Any) -> dict[str, Any]:
    content = response.get("content") if isinstance(response, dict) else None
    return content if isinstance(content, dict) else {}


def _read_state(text: Any) -> _State:
    if text is None:
        return _State()
    state = text if isinstance(text, str) and len(text) <= _MOST_STATE else ""
    try:
        return msgspec.convert(decode_json(state.encode()), _State)
    except (msgspec.ValidationError, InvalidRequest):
        raise RpcError(INVALID_PARAMS, "`requestState` must be returned unchanged.") from None
