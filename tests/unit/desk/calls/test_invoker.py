"""A caller of an action needs the right to, and agrees to what it costs or cannot undo."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.config import Limits
from aitp_desk.desk.calls.invocation import CompletedCall, Consent, ConsentRequired, Invocation
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.calls.action import Action, Kind, Safety
from aitp_desk.model.calls.call import MOVES, ActionCall, CallState, Source
from aitp_desk.model.conversation.run import ToolCall
from aitp_desk.model.errors import (
    DeskError,
    InternalError,
    NotAuthenticated,
    PreconditionFailed,
    ScopeMissing,
    Unavailable,
    UnknownAction,
)
from aitp_desk.model.money import Money
from tests.support.sites.actions import calling, offering, wordless

PRICE = Money(Decimal("29.99"), "EUR")
GRAVE = Safety("irreversible", "self")
CALL = ToolCall("call_1", "open_till", "{}")


async def perform(who: str, _arguments: Mapping[str, Any]) -> str:
    return f"Opened for {who}."


def opening(**more: Any) -> OfferedAction:
    """An action of the till."""
    return offering(Action("open_till", "Opens the till.", open_to="actions", **more), perform)


def tooling(invoker: ActionInvoker) -> AgentTools:
    """What hands these actions to an agent, without limits."""
    limiter = RateLimiter(Limits(enabled=False), time.time)
    now = partial(datetime.now, UTC)
    return AgentTools(invoker, limiter=limiter, now=now, desk_messages=wordless())


def caller(*scopes: str) -> Principal:
    return Principal("key:1", PrincipalKind.AGENT, frozenset(scopes), "192.0.2.1")


def asked(source: Source = "arguments", consent: Consent | None = None) -> Invocation:
    return Invocation("open_till", {}, source, consent)


@pytest.mark.parametrize("scopes", [(), ("threads",), ("actions:close_till",)])
async def test_an_agent_that_calls_without_the_right_is_answered_as_of_nothing(
    tmp_path: Path, scopes: tuple[str, ...]
) -> None:
    async with calling(tmp_path, opening()) as invoking:
        invoke = tooling(invoking).make_invoker(caller(*scopes), Conversation())
        result = await invoke(CALL)
        unknown = await invoke(ToolCall("call_1", "open_tilt", "{}"))
    assert result.failed
    assert result.output == unknown.output.replace("open_tilt", "open_till")


@pytest.mark.parametrize("scope", ["actions", "actions:open_till", "operator"])
async def test_a_call_with_the_right_is_carried_out_as_the_caller(
    tmp_path: Path, scope: str
) -> None:
    async with calling(tmp_path, opening()) as invoking:
        result = await tooling(invoking).make_invoker(caller(scope), Conversation())(CALL)
    assert "Opened for key:1." in result.output
    assert not result.failed


async def test_an_agent_is_told_of_a_call_that_goes_on_and_of_no_time_that_is_not_known(
    tmp_path: Path,
) -> None:
    async with calling(tmp_path, opening(kind="async")) as invoking:
        result = await tooling(invoking).make_invoker(caller("actions"), Conversation())(CALL)
    assert result.output.endswith("and continues in the background.")
    assert not result.failed


@pytest.mark.parametrize("arguments", ["[]", "{", "null", "1"])
async def test_arguments_that_are_no_object_are_told_so(tmp_path: Path, arguments: str) -> None:
    async with calling(tmp_path, opening()) as invoking:
        invoke = tooling(invoking).make_invoker(caller("actions"), Conversation())
        result = await invoke(ToolCall("call_1", "open_till", arguments))
    assert result.failed
    assert "JSON object" in result.output


@pytest.mark.parametrize(
    ("principal", "name", "refused"),
    [
        (make_anonymous(""), "open_till", NotAuthenticated),
        (caller("threads"), "open_till", ScopeMissing),
        (caller("actions"), "open_tilt", UnknownAction),
    ],
)
async def test_a_caller_who_may_not_call_learns_why(
    tmp_path: Path, principal: Principal, name: str, refused: type[DeskError]
) -> None:
    async with calling(tmp_path, opening()) as invoking:
        with pytest.raises(refused):
            await invoking.invoke(principal, Invocation(name, {}, "arguments"))


@pytest.mark.parametrize(
    ("more", "source", "consent", "is_done"),
    [
        ({}, "arguments", None, True),
        ({}, "text", None, True),
        ({"safety": GRAVE}, "arguments", None, True),
        ({"safety": GRAVE}, "text", None, False),
        ({"safety": GRAVE}, "model", None, False),
        ({"safety": GRAVE}, "text", Consent(), True),
        ({"safety": Safety("reversible", "many")}, "text", None, False),
        ({"safety": Safety("reversible", "all")}, "model", None, False),
        ({"safety": Safety("reversible", confirmation_recommended=True)}, "text", None, False),
        ({"safety": Safety("reversible")}, "text", None, True),
        ({"cost": PRICE}, "arguments", None, False),
        ({"cost": PRICE}, "arguments", Consent(), False),
        ({"cost": PRICE}, "arguments", Consent(Money(Decimal("29.990"), "EUR")), True),
        ({"cost": PRICE}, "text", Consent(Money(Decimal("29.98"), "EUR")), False),
        ({"cost": PRICE}, "text", Consent(Money(Decimal("29.99"), "USD")), False),
        ({"cost": Money(Decimal(0), "EUR")}, "text", None, True),
    ],
)
async def test_what_costs_or_cannot_be_undone_is_done_once_it_was_agreed_to(
    tmp_path: Path, more: dict[str, Any], source: Source, consent: Consent | None, is_done: bool
) -> None:
    async with calling(tmp_path, opening(kind="action", **more)) as invoking:
        invoked = await invoking.invoke(caller("actions"), asked(source, consent))
    assert isinstance(invoked, CompletedCall) is is_done
    assert isinstance(invoked, ConsentRequired) is not is_done


async def test_a_price_is_that_of_the_arguments(tmp_path: Path) -> None:
    async def price(arguments: Mapping[str, Any], _context: Context) -> Money:
        return Money(Decimal(arguments["count"]), "EUR")

    def order(count: int, consent: Consent | None = None) -> Invocation:
        return Invocation("order", {"count": count}, "text", consent)

    action = Action("order", "Orders.", "action", open_to="actions", has_price=True)
    sold = OfferedAction(action, read=dict, perform=opening().perform, price=price)
    async with calling(tmp_path, sold) as invoking:
        first = await invoking.invoke(caller("actions"), order(3))
        assert isinstance(first, ConsentRequired)
        agreed = Consent(first.price)
        assert isinstance(
            await invoking.invoke(caller("actions"), order(4, agreed)), ConsentRequired
        )
        done = await invoking.invoke(caller("actions"), order(3, agreed))
    assert isinstance(done, CompletedCall)
    assert done.call.price == Money(Decimal(3), "EUR")


async def test_a_call_is_on_disk_before_it_is_carried_out_and_its_id_is_the_functions(
    tmp_path: Path,
) -> None:
    found: list[CallState] = []

    async def look(_arguments: Mapping[str, Any], context: Context) -> ActionResult:
        at_work = await invoking.calls.list_interrupted(9)
        found.extend(call.state for call in at_work if call.id == context.call_id)
        return ActionResult({"till": "open"}, "It is open.")

    async with calling(
        tmp_path, OfferedAction(opening().action, read=dict, perform=look)
    ) as invoking:
        invoked = await invoking.invoke(caller("actions"), asked())
        assert isinstance(invoked, CompletedCall)
        assert found == [CallState.STARTED]
        assert invoked.call.state is CallState.SUCCEEDED
        assert invoked.call.result == {"till": "open"}
        assert await invoking.calls.list_interrupted(9) == ()


async def test_what_is_refused_beforehand_leaves_nothing(tmp_path: Path) -> None:
    async def check(_arguments: Mapping[str, Any], _context: Context) -> None:
        raise PreconditionFailed("The shop is closed.")

    shut = OfferedAction(opening().action, read=dict, perform=opening().perform, check=check)
    async with calling(tmp_path, shut) as invoking:
        with pytest.raises(PreconditionFailed, match="closed"):
            await invoking.invoke(caller("actions"), asked())
        assert await invoking.calls.list_interrupted(9) == ()


@pytest.mark.parametrize(("kind", "state"), [("query", "failed"), ("action", "unknown")])
async def test_what_takes_too_long_is_given_up(tmp_path: Path, kind: Kind, state: str) -> None:
    told: list[str] = []

    async def wait(_who: str, _arguments: Mapping[str, Any]) -> str:
        await asyncio.Event().wait()
        return "never"

    def reply(call: ActionCall) -> None:
        told.append(call.state.value)

    action = Action("open_till", "Opens.", kind, open_to="actions", deadline_seconds=0.01)
    async with calling(tmp_path, offering(action, wait)) as invoking:
        with pytest.raises(Unavailable, match=r"0\.01 seconds"):
            await invoking.invoke(caller("actions"), asked(), say_end=reply)
    assert told == [state]


async def test_looking_whether_it_can_be_done_takes_no_longer_than_doing_it(
    tmp_path: Path,
) -> None:
    async def wait(_arguments: Mapping[str, Any], _context: Context) -> None:
        await asyncio.Event().wait()

    slow = opening(deadline_seconds=0.01)
    slow = OfferedAction(slow.action, read=dict, perform=slow.perform, check=wait)
    async with calling(tmp_path, slow) as invoking:
        with pytest.raises(Unavailable, match="Nothing was done"):
            await invoking.invoke(caller("actions"), asked())
        assert await invoking.calls.list_interrupted(1) == ()


async def test_a_fault_of_the_sites_own_code_says_nothing_of_itself(tmp_path: Path) -> None:
    async def fail(_who: str, _arguments: Mapping[str, Any]) -> str:
        raise RuntimeError("password=hunter2")

    action = Action("open_till", "Opens.", "action", open_to="actions")
    async with calling(tmp_path, offering(action, fail)) as invoking:
        with pytest.raises(InternalError) as fault:
            await invoking.invoke(caller("actions"), asked())
    assert "hunter2" not in fault.value.message
    assert "call_" in fault.value.message


async def test_a_call_continues_when_its_caller_does_not_wait(tmp_path: Path) -> None:
    begun, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(_who: str, _arguments: Mapping[str, Any]) -> str:
        begun.set()
        await go_on.wait()
        return "Done."

    def reply(_call: ActionCall) -> None:
        ended.set()

    action = Action("open_till", "Opens.", "action", open_to="actions")
    async with calling(tmp_path, offering(action, work)) as invoking, asyncio.timeout(60):
        waiting = asyncio.create_task(invoking.invoke(caller("actions"), asked(), say_end=reply))
        await begun.wait()
        waiting.cancel()
        go_on.set()
        await ended.wait()
    assert waiting.cancelled()


def test_a_call_that_is_over_moves_no_more() -> None:
    over = {state for state, moves in MOVES.items() if not moves}
    assert over == {CallState.SUCCEEDED, CallState.FAILED, CallState.EXPIRED}
    assert set(MOVES) == set(CallState)
