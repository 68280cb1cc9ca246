"""Asking a client's user for something before a call is made (MCP 2026-07-28, elicitation).

The server keeps nothing meanwhile: the client calls again, with what its user has said and with the
state that it was given. That state holds only what the caller has said, and the price that was
shown to them, so nobody gains by changing it: they could as well have said so at once. Pure: no
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
"""What the requests are called that a client is asked to put to its user."""
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
    """What was said so far: arguments, the price to be agreed to, or what is to be answered.

    Parameters:
        session: the conversation in which something waits for an answer.
        request: the slug of its capability, and its id.
    """

    arguments: dict[str, Any] = {}
    price: Money | None = None
    session: str = ""
    request: tuple[str, str] | None = None


class ElicitationReplies(msgspec.Struct, frozen=True):
    """What a user has said meanwhile.

    Parameters:
        arguments: what they have filled in, in all the rounds.
        consent: what they have agreed to; None for nothing.
        is_declined: whether they want nothing to be done.
        session, request: what they were asked to answer, as of the state; None for nothing.
        answer: what they have filled into its form.
    """

    arguments: Mapping[str, Any] = {}
    consent: Consent | None = None
    is_declined: bool = False
    session: str = ""
    request: tuple[str, str] | None = None
    answer: Mapping[str, Any] = {}


def read_replies(params: Mapping[str, Any]) -> ElicitationReplies:
    """What a repeated call brings with it.

    Raises:
        RpcError: the state is not one that was given here.
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
    """Put what is needed to a client that waits for its result, over the connection that it holds.

    Parameters:
        asks: as :func:`ask_arguments` and :func:`ask_consent` give it.
        ask: puts a message and a form to the client's user, and gives the response.

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
    """Ask for arguments; None where they are none that a form can hold.

    Parameters:
        missing: their names.
        said: what the user has filled in before.
        intent: whether it is asked as well what the call is for.
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
    """Ask whether a call shall be made: what it does, on what, and what it costs.

    Parameters:
        arguments: all of the call's.
        said: those among them that the user has filled in.
    """
    message = " ".join([*write_summary(action, arguments, price), "Shall it be done?"])
    agree = {"type": "boolean", "title": "Yes, do it", "default": False}
    form = {"type": "object", "properties": {_AGREES: agree}, "required": [_AGREES]}
    return _required(CONSENT, message, form, _State(dict(said), price))


def ask_answer(request: OpenRequest, session_id: str) -> Item:
    """Put to the user what waits for an answer in a conversation."""
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
    """A field of a form, which knows fewer words than a schema; None for what it cannot hold."""
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
        raise RpcError(INVALID_PARAMS, "requestState is sent back as it was given.") from None
