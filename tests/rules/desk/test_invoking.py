"""Whoever calls an action needs the right to, however the call came about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from aitp_desk.desk.invoking import Invoking, Performed
from aitp_desk.model.action import Action
from aitp_desk.model.principal import Principal, PrincipalKind
from aitp_desk.model.run import ToolCall


async def perform(principal: Principal, _arguments: Mapping[str, Any]) -> str:
    return f"Opened for {principal.id}."


INVOKING = Invoking([Performed(Action("open_till", "Opens the till.", open_to="actions"), perform)])
CALL = ToolCall("call_1", "open_till", "{}")


def caller(*scopes: str) -> Principal:
    return Principal("key:1", PrincipalKind.AGENT, frozenset(scopes), "192.0.2.1")


@pytest.mark.parametrize("scopes", [(), ("threads",), ("actions:close_till",)])
async def test_a_call_without_the_right_is_answered_as_one_of_nothing(
    scopes: tuple[str, ...],
) -> None:
    result = await INVOKING.invoker(caller(*scopes))(CALL)
    unknown = await INVOKING.invoker(caller(*scopes))(ToolCall("call_1", "open_tilt", "{}"))
    assert result.failed
    assert result.output == unknown.output.replace("open_tilt", "open_till")


@pytest.mark.parametrize("scope", ["actions", "actions:open_till", "operator"])
async def test_a_call_with_the_right_is_carried_out_as_the_caller(scope: str) -> None:
    result = await INVOKING.invoker(caller(scope))(CALL)
    assert (result.output, result.failed) == ("Opened for key:1.", False)


@pytest.mark.parametrize("arguments", ["[]", "{", "null", "1"])
async def test_arguments_that_are_no_object_are_told_so(arguments: str) -> None:
    result = await INVOKING.invoke(caller("actions"), ToolCall("call_1", "open_till", arguments))
    assert result.failed
    assert "JSON object" in result.output
