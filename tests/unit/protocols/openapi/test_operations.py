"""What the document tells of an action."""

from __future__ import annotations

from aitp_desk.model.calls.action import Action, Example
from aitp_desk.protocols.openapi.actions import describe_action


def test_an_example_that_has_arguments_is_shown_with_them() -> None:
    examples = (
        Example("Mend a lamp", {"item": "lamp"}),
        Example("Can you mend something?"),
    )
    schema = {"type": "object", "properties": {"item": {"type": "string"}}}
    action = Action(name="mend", summary="Mend.", input_schema=schema, examples=examples)
    body = describe_action(action, "", {})["requestBody"]
    shown = body["content"]["application/json"]["examples"]
    assert shown == {"example1": {"summary": "Mend a lamp", "value": {"item": "lamp"}}}
