"""Large JSON keeps nobody waiting: bounded by caller and in values, and decoded in a thread."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import pytest
import pytest_asyncio

from aitp_desk.model.strict_json import AT_ONCE_BYTES, MAX_VALUES, DecodedBody, decode_ahead
from tests.support.clients.threads import Headers, Talker, Told, talking

pytestmark = pytest.mark.asyncio(loop_scope="module")

MEBIBYTE = 1024 * 1024
V1 = [("A2A-Version", "1.0"), ("Accept", "application/json")]
V03 = [("A2A-Version", "0.3"), ("Accept", "application/json")]


def rpc(method: str, message: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


def parts(dialect: str, *given: Any) -> dict[str, Any]:
    """A message of these parts, each a text or data."""
    told: list[dict[str, Any]] = []
    for one in given:
        kind = "text" if isinstance(one, str) else "data"
        told.append({kind: one, "kind": kind} if dialect == "rpc 0.3" else {kind: one})
    role = "user" if dialect == "rpc 0.3" else "ROLE_USER"
    member = "content" if dialect == "rest 0.3" else "parts"
    return {"messageId": "m", "role": role, member: told}


DOORS = ("threads", "rpc 1.0", "rpc 0.3", "rest 1.0", "rest 0.3")
every_door = pytest.mark.parametrize("door", DOORS)
every_a2a = pytest.mark.parametrize("door", DOORS[1:])


def request(door: str, *given: Any) -> tuple[str, Headers, dict[str, Any]]:
    """Where these parts are said by a protocol, and how."""
    match door:
        case "threads":
            return "/v1/threads", [], {"messages": [json.dumps(one) for one in given]}
        case "rpc 1.0":
            return "/a2a", V1, rpc("SendMessage", parts(door, *given))
        case "rpc 0.3":
            return "/a2a", V03, rpc("message/send", parts(door, *given))
        case "rest 1.0":
            return "/a2a/message:send", V1, {"message": parts(door, *given)}
        case _:
            return "/a2a/v1/message:send", V03, {"request": parts(door, *given)}


async def say(talker: Talker, door: str, *given: Any, spaces: int = 0) -> Told:
    path, headers, body = request(door, *given)
    return await talker.send(
        "POST", path, json.dumps(body).encode() + b" " * spaces, headers=headers
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with talking(tmp_path_factory.mktemp("json")) as talker:
        yield talker


@every_door
async def test_who_may_upload_nothing_sends_a_mebibyte_at_most(talker: Talker, door: str) -> None:
    assert (await say(talker, door, "Hello.", spaces=MEBIBYTE)).status == 413
    if door != "threads":
        keyed = await talker.with_key("threads")
        assert (await say(keyed, door, "Hello.", spaces=MEBIBYTE)).status == 200


@every_door
async def test_more_values_than_needed_are_refused(talker: Talker, door: str) -> None:
    path, headers, body = request(door, "Hello.")
    body["more"] = [[]] * MAX_VALUES
    told = await talker.send("POST", path, body, headers=headers)
    assert f"more than {MAX_VALUES} values" in json.dumps(told.body)


@every_a2a
@pytest.mark.parametrize("given", ["x" * 300_000, {"x": "y" * 300_000}], ids=["text", "data"])
async def test_texts_and_data_of_a_message_are_as_long_as_a_message_may_be(
    talker: Talker, door: str, given: Any
) -> None:
    if door == "rest 0.3" and isinstance(given, dict):
        given = {"data": given}
    told = await say(talker, door, given)
    assert "at most 262144 bytes" in json.dumps(told.body)


@every_door
async def test_others_are_answered_while_a_large_body_is_decoded(talker: Talker, door: str) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def decode(body: bytes) -> DecodedBody:
        begun.set()
        assert go_on.wait(20)
        return decode_ahead(body)

    with patch("aitp_desk.http.request.decode_ahead", decode):
        saying = asyncio.create_task(say(talker, door, "Hello.", spaces=AT_ONCE_BYTES))
        try:
            assert await asyncio.to_thread(begun.wait, 20)
            assert (await talker.send("GET", "/health")).status == 200
            assert not saying.done()
        finally:
            go_on.set()
        assert (await saying).status == 200


@every_a2a
async def test_a_refused_body_is_gone_once_it_is_answered(talker: Talker, door: str) -> None:
    path, headers, body = request(door, "Hello.")
    body["more"] = ["x" * (4 * MEBIBYTE), *[[]] * MAX_VALUES]
    sent, keyed = json.dumps(body).encode(), await talker.with_key("threads")
    gc.disable()  # it would hide what is kept by a cycle, for as long as it likes
    tracemalloc.start()
    try:
        for _twice_would_be_too_much in range(2):
            told = await keyed.send("POST", path, sent, headers=headers)
            assert f"more than {MAX_VALUES} values" in json.dumps(told.body)
        assert tracemalloc.get_traced_memory()[0] < 6 * MEBIBYTE
    finally:
        tracemalloc.stop()
        gc.enable()
