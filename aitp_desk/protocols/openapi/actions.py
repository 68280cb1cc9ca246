"""Describes the operations of a site's actions from their declarations."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.agent.slots.replies.confirmation import list_consequences
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.direct.calls import CALLBACK, INTENT
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.protocols.base.call_members import (
    MAX_CALLBACK,
    MAX_INTENT,
    PAYING,
    PRICE,
    SAFETY,
    write_safety,
)
from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.protocols.openapi.parts import Item, make_content, make_plain_response, make_ref
from aitp_desk.protocols.openapi.payments import with_payment
from aitp_desk.protocols.openapi.schema_components import list_shapes

_CALLED_BACK: Item = {
    "ended": {
        f"{{$request.body#/{CALLBACK}}}": {
            "post": {
                "summary": "The result of the call (Standard Webhooks 1.0)",
                "requestBody": {
                    "required": True,
                    "content": make_content(JSON, make_ref("CallStatus")),
                },
                "responses": {"2XX": {"description": "The notification was accepted."}},
            }
        }
    }
}


def describe_action(action: Action, below: str, responses: Mapping[str, Item]) -> Item:
    """Return the operation that calls an action.

    Parameters:
        below: the base path of the desk's addresses; empty for the site's own.
        responses: of the address that calls any action.
    """
    answers_from_content = action.name in OWN_NAMES
    told = [action.description, *([] if answers_from_content else list_consequences(action))]
    name = action.name if not below else f"{below.strip('/')}.{action.name}"
    refused = {status: one for status, one in responses.items() if status >= "400"}
    operation: Item = {
        "operationId": name,
        "tags": ["capabilities"],
        "summary": action.summary,
        "requestBody": {
            "required": answers_from_content or bool(action.input_schema.get("required")),
            "content": {JSON: {"schema": _taken(action), **_examples(action)}},
        },
        "responses": {**_given(action), **refused},
        "x-kind": action.kind,
        SAFETY: write_safety(action.safety),
    }
    if description := "\n\n".join(filter(None, told)):
        operation["description"] = description
    if not answers_from_content:
        operation["parameters"] = [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "Makes repeats of the call have no further effect.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            }
        ]
    if action.may_continue:
        operation["callbacks"] = _CALLED_BACK
    if not action.is_open:
        operation["security"] = [{"bearer": []}]
    return with_payment(operation) if action.is_prepaid else operation


def action_schemas(action: Action) -> dict[str, Item]:
    """Return the schemas of an action by their names in the document."""
    if action.name in OWN_NAMES:
        return {}
    schemas = list_shapes(action.input_schema, _name(action, "arguments"))
    arguments = schemas[_name(action, "arguments")]
    reserved: Item = {}
    if action.is_prepaid:
        reserved[PAYMENT] = {**PAYING, "description": "The payment for the call."}
    elif action.may_cost:
        reserved[CONFIRMATION] = {**PRICE, "description": "The price to which the caller agrees."}
    if action.kind != "query":
        reserved[INTENT] = {
            "type": "string",
            "maxLength": MAX_INTENT,
            "description": "The purpose of the call.",
        }
    if action.may_continue:
        reserved[CALLBACK] = {
            "type": "string",
            "format": "uri",
            "maxLength": MAX_CALLBACK,
            "description": "The URL that receives a signed notification when the call ends.",
        }
    if reserved:
        arguments["properties"] = {**arguments.get("properties", {}), **reserved}
    if action.output_schema is not None:
        schemas |= list_shapes(action.output_schema, _name(action, "result"))
    return schemas


def _name(action: Action, what: str) -> str:
    return f"{action.name}.{what}"


def _taken(action: Action) -> Item:
    return make_ref("Question" if action.name in OWN_NAMES else _name(action, "arguments"))


def _examples(action: Action) -> Item:
    shown = {
        f"example{place}": {"summary": example.text, "value": example.arguments}
        for place, example in enumerate(action.examples, 1)
        if example.arguments is not None
    }
    return {"examples": shown} if shown else {}


def _given(action: Action) -> dict[str, Item]:
    if action.name in OWN_NAMES:
        answer = make_content(JSON, make_ref("AHPResponse"))
        return {"200": {"description": "OK", "content": answer}}
    status = make_ref("CallStatus")
    result = {} if action.output_schema is None else make_ref(_name(action, "result"))
    whole = {"allOf": [status, {"type": "object", "properties": {"result": result}}]}
    given = {"200": {"description": "OK", "content": make_content(JSON, whole)}}
    if action.may_continue:
        given["202"] = {**make_plain_response(202), "content": make_content(JSON, status)}
    return given
