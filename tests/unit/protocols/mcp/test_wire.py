"""What MCP messages say, and how tools and refusals are told, without a desk."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.calls.invocation import Consent
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.errors import (
    ConsentMissing,
    InvalidRequest,
    MissingField,
    Recovery,
    StoreBusy,
)
from aitp_desk.model.money import Money
from aitp_desk.protocols.mcp.arguments import list_missing, read_arguments, read_question
from aitp_desk.protocols.mcp.caller import RpcError
from aitp_desk.protocols.mcp.elicitation import ask_arguments, ask_consent, read_replies
from aitp_desk.protocols.mcp.results import make_call_result, make_refusal
from aitp_desk.protocols.mcp.tools import list_tools
from aitp_desk.protocols.mcp.validation import find_message_fault, find_params_fault

PRICE = Money(Decimal("29.99"), "EUR")
ORDER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "sku": {"type": "string", "pattern": "^[A-Z]+$", "description": "What is ordered."},
        "count": {"type": "integer", "minimum": 1, "default": 1},
        "day": {"type": "string", "format": "date"},
        "store": {"enum": ["Bend", "Boise"]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "required": ["sku", "day", "store"],
    "additionalProperties": False,
    "$defs": {"line": {"type": "object"}},
}
GIVEN = {"type": "array", "items": {"$ref": "#/$defs/line"}, "$defs": {"line": {"type": "object"}}}
ACTIONS = (
    Action("site_info", "What this site is."),
    Action("look", "Looks.", input_schema=ORDER, output_schema=GIVEN),
    Action("order", "Orders.", "action", input_schema=ORDER, cost=PRICE),
    Action("wipe", "Wipes.", "action", safety=Safety("irreversible", "all")),
    Action("wait", "Waits.", "async", output_schema=GIVEN),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
MEMBERS = st.dictionaries(
    st.sampled_from(["query", "session_id", "locale", "max_tokens", "_confirm", "_intent", "sku"]),
    JSON,
)
REPLIES = st.fixed_dictionaries(
    {},
    optional={
        "requestState": JSON | st.text(alphabet='{}":arguments price,0'),
        "inputResponses": JSON
        | st.dictionaries(
            st.sampled_from(["arguments", "consent", "else"]),
            JSON | st.fixed_dictionaries({"action": st.just("accept")}, optional={"content": JSON}),
        ),
    },
)


def call(state: CallState, **more: Any) -> ActionCall:
    who = make_anonymous("127.0.0.1")
    return ActionCall("call_1", "", "look", state, who, "model", 1, 2, **more)


@pytest.mark.parametrize("requires_intent", [False, True])
def test_every_tool_fits_the_protocol_and_its_schemas_are_schemas(requires_intent: bool) -> None:
    from mcp_types import methods

    tools = list_tools(ACTIONS, requires_intent=requires_intent)
    for version in ("2024-11-05", "2025-06-18", "2025-11-25"):
        methods.validate_server_result("tools/list", version, {"tools": tools})
    by_name = {tool["name"]: tool for tool in tools}
    assert list(by_name) == ["site_info", "look", "order", "wipe", "wait", "call_status"]
    for tool in tools:
        for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
    assert by_name["wipe"]["annotations"]["destructiveHint"]
    assert not by_name["order"]["annotations"]["destructiveHint"]
    assert ("_intent" in by_name["order"]["inputSchema"]["required"]) is requires_intent
    assert "_confirm" not in by_name["look"]["inputSchema"]["properties"]
    Draft202012Validator(by_name["look"]["outputSchema"]).validate({"value": [{}]})


def test_an_actions_argument_goes_before_one_of_the_protocols() -> None:
    takes = {"type": "object", "properties": {"session_id": {"type": "integer"}}}
    action = Action("look", "Looks.", input_schema=takes)
    (tool,) = list_tools((action,), requires_intent=False)
    assert tool["inputSchema"]["properties"]["session_id"] == {"type": "integer"}
    given_ = read_arguments(action, {"session_id": 7})
    assert (given_.arguments, given_.session_id) == ({"session_id": 7}, None)


@given(JSON)
def test_a_body_is_a_message_or_it_is_said_why_not(body: Any) -> None:
    wrong = find_message_fault(body)
    if wrong is None:
        assert body["jsonrpc"] == "2.0"
        assert type(body.get("id", 0)) in {int, str}
        assert {"method", "result", "error"} & body.keys()
    else:
        assert wrong.endswith(".")


@given(
    st.sampled_from(["tools/call", "tools/list", "resources/read", "ping"]),
    st.dictionaries(st.sampled_from(["name", "arguments", "uri", "cursor", "_meta"]), JSON),
)
def test_what_a_method_takes_has_its_form_or_it_is_said_why_not(
    method: str, members: dict[str, Any]
) -> None:
    import mcp_types as types

    wrong = find_params_fault(method, members)
    if wrong is None:
        params: dict[str, type[types.RequestParams]] = {
            "tools/list": types.PaginatedRequestParams,
            "tools/call": types.CallToolRequestParams,
            "resources/read": types.ReadResourceRequestParams,
        }
        checked = params.get(method, types.RequestParams)
        assert checked.model_validate(members, by_name=False) is not None
    else:
        assert wrong.endswith(".")
    assert find_params_fault(method, [members]) == "`params` must be an object."


@given(MEMBERS)
def test_arguments_are_read_or_refused_by_name(members: dict[str, Any]) -> None:
    for action in ACTIONS[:3]:
        read = read_question if action.name == "site_info" else read_arguments
        refusal = None
        try:
            read(action, members)
        except InvalidRequest as error:
            refusal = error
        assert refusal is None or refusal.param in {*members, "query"}


@given(REPLIES)
def test_what_a_client_sends_back_is_read_or_refused(params: dict[str, Any]) -> None:
    code = None
    try:
        replied = read_replies(params)
    except RpcError as error:
        code = error.code
    else:
        assert replied.consent is None or not replied.is_declined
    assert code in {None, -32602}


def test_a_form_has_what_a_form_can_hold() -> None:
    action = ACTIONS[2]
    missing = list_missing(action, {})
    asks = ask_arguments(action, missing, {}, intent=True)
    assert asks is not None
    form = asks["inputRequests"]["arguments"]["params"]["requestedSchema"]
    assert form["required"] == ["sku", "day", "store", "_intent"]
    assert "pattern" not in form["properties"]["sku"]
    assert form["properties"]["day"]["format"] == "date"
    assert form["properties"]["store"] == {"type": "string", "enum": ["Bend", "Boise"]}
    params = {"_meta": {}, **asks["inputRequests"]["arguments"]["params"]}
    assert params["mode"] == "form"
    assert ask_arguments(action, ["lines"], {}, intent=False) is None
    assert ask_arguments(action, [], {}, intent=False) is None


def test_what_was_said_is_kept_from_round_to_round_and_agreed_to_for_the_price_shown() -> None:
    asks = ask_consent(ACTIONS[2], {"sku": "AB", "day": "2026-01-02"}, {"sku": "AB"}, PRICE)
    assert "29.99 EUR" in asks["inputRequests"]["consent"]["params"]["message"]
    state = {"requestState": asks["requestState"]}
    yes = {"consent": {"action": "accept", "content": {"agree": True}}}
    replied = read_replies({**state, "inputResponses": yes})
    assert (replied.arguments, replied.consent) == ({"sku": "AB"}, Consent(PRICE))
    for other in ({"action": "decline"}, {"action": "accept", "content": {"agree": "yes"}}):
        replied = read_replies({**state, "inputResponses": {"consent": other}})
        assert (replied.is_declined, replied.consent) == (True, None)
    with pytest.raises(RpcError):
        read_replies({"requestState": asks["requestState"] + "x"})


def test_results_are_objects_that_fit_their_schemas_at_every_revision() -> None:
    from mcp_types import methods

    done = CallStatus(call(CallState.SUCCEEDED, result=[{"a": 1}]), offer=Offer("Found."))
    look, wait = ACTIONS[1], ACTIONS[4]
    found = make_call_result(look, done)
    assert found["structuredContent"] == {"value": [{"a": 1}]}
    assert [json.loads(found["content"][1]["text"])] == [found["structuredContent"]]
    pending = make_call_result(wait, CallStatus(call(CallState.STARTED, accepted_at=1), 5))
    assert pending["structuredContent"]["status"] == "pending"
    (tool, *_) = list_tools((wait,), requires_intent=False)
    Draft202012Validator(tool["outputSchema"]).validate(pending["structuredContent"])
    over = make_call_result(wait, done)
    Draft202012Validator(tool["outputSchema"]).validate(over["structuredContent"])
    assert over["structuredContent"]["result"] == [{"a": 1}]
    for result in (found, pending, over):
        for version in ("2024-11-05", "2025-06-18", "2025-11-25"):
            methods.validate_server_result("tools/call", version, result)


def test_a_refusal_says_what_to_send() -> None:
    costs = make_refusal(ConsentMissing("It costs.", param="_confirm", price=PRICE), "order")
    price = {"amount": "29.99", "currency": "EUR"}
    assert costs["structuredContent"]["error"]["send"] == {"_confirm": price}
    assert '_confirm: {"amount":"29.99","currency":"EUR"}' in costs["content"][0]["text"]
    lacks = make_refusal(
        MissingField("sku is required.", param="sku"), "order", ORDER["properties"]
    )
    assert "sku (string): What is ordered" in lacks["content"][0]["text"]
    helps = InvalidRequest("No.", recovery=Recovery("Look first.", ("look",)), retry_after=3)
    text = make_refusal(helps, "order")["content"][0]["text"]
    assert text == "No. Try again in 3 seconds. Look first. These tools help: look."


@pytest.mark.parametrize(
    ("message", "seconds", "said"),
    [
        ("It is away. Try again.", 1, "It is away. Try again in 1 second."),
        ("It is away.", 2, "It is away. Try again in 2 seconds."),
        ("Too many. Try again in 5 seconds.", 5, "Too many. Try again in 5 seconds."),
    ],
)
def test_a_refusal_says_once_when_to_try_again(message: str, seconds: int, said: str) -> None:
    refused = make_refusal(StoreBusy(message, retry_after=seconds), "order")
    assert refused["content"][0]["text"] == said
    assert refused["structuredContent"]["error"]["message"] == message
