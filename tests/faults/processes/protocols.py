"""The ways in which an action is called of a desk that will be killed: a protocol each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import msgspec

from aitp_desk.desk.direct.calls import CALLBACK
from aitp_desk.model.calls.call import CONFIRMATION


class Acknowledged(msgspec.Struct, frozen=True):
    """What a protocol has said of a call; ids are empty where it does not tell them.

    Parameters:
        is_over: whether its success was answered, and not that it was taken on.
    """

    is_over: bool
    call_id: str = ""
    session_id: str = ""
    task_id: str = ""


Way = Callable[[aiohttp.ClientSession, str, str, str | None], Awaitable[Acknowledged | None]]
"""Calls an action for a note, to be told of its end at an address if any; None: it was refused."""


async def over_ahp(
    http: aiohttp.ClientSession, action: str, note: str, told_at: str | None
) -> Acknowledged | None:
    asked: dict[str, Any] = {"ahp": "0.1", "capability": action}
    asked["query"] = msgspec.json.encode({"note": note}).decode()
    if told_at is not None:
        asked["context"] = {"callback_url": told_at}
    status, answer = await _post(http, "/agent/converse", asked)
    if status != 200:
        return None
    if answer["status"] == "accepted":
        return Acknowledged(False, session_id=answer["session_id"])
    return Acknowledged(True, answer["response"]["answer"].removeprefix("call: "))


async def over_http(
    http: aiohttp.ClientSession, action: str, note: str, told_at: str | None
) -> Acknowledged | None:
    callback = {} if told_at is None else {CALLBACK: told_at}
    given = {"note": note, CONFIRMATION: True, **callback}
    status, answer = await _post(http, f"/capabilities/{action}", given)
    return Acknowledged(status == 200, answer["id"]) if status in (200, 202) else None


async def over_mcp(
    http: aiohttp.ClientSession, action: str, note: str, _told_at: str | None
) -> Acknowledged | None:
    params = {"name": action, "arguments": {"note": note, CONFIRMATION: True}}
    called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    status, answer = await _post(http, "/mcp", called)
    if status != 200 or "error" in answer or answer["result"]["isError"]:
        return None
    result = answer["result"]
    is_over = result["structuredContent"].get("status") != "pending"
    return Acknowledged(is_over, result["_meta"]["call_id"])


async def over_a2a(
    http: aiohttp.ClientSession, action: str, note: str, told_at: str | None
) -> Acknowledged | None:
    asked = {"action": action, "arguments": {"note": note, CONFIRMATION: True}}
    message = {"messageId": note, "role": "ROLE_USER", "parts": [{"data": asked}]}
    waits = {"returnImmediately": told_at is not None}
    sent = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendMessage",
        "params": {"message": message, "configuration": waits},
    }
    status, answer = await _post(http, "/a2a", sent)
    if status != 200 or "error" in answer:
        return None
    task = answer["result"]["task"]
    if task["status"]["state"] not in ("TASK_STATE_COMPLETED", "TASK_STATE_WORKING"):
        return None
    if "artifacts" not in task:
        return Acknowledged(False, task_id=task["id"])
    named = task["artifacts"][0]["artifactId"].removesuffix("-result")
    return Acknowledged(True, named, task_id=task["id"])


WAYS: tuple[Way, ...] = (over_ahp, over_http, over_mcp, over_a2a)


async def _post(http: aiohttp.ClientSession, path: str, body: Any) -> tuple[int, Any]:
    async with http.post(path, json=body, headers={"A2A-Version": "1.0"}) as response:
        return response.status, await response.json(content_type=None)
