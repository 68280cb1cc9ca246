"""A2A without an SDK: envelopes, versions, media types, files and refusals, in each form."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2
from google.protobuf.json_format import ParseDict

from tests.support.clients.threads import Talker, Told, talking

pytestmark = pytest.mark.asyncio(loop_scope="module")
V1 = ("A2A-Version", "1.0")
QUESTION = {
    "messageId": "m1",
    "role": "ROLE_USER",
    "parts": [{"text": "How long do returns take?"}],
}
AGENTS = {**QUESTION, "role": "ROLE_AGENT"}
QUESTION_03 = {
    "messageId": "m1",
    "role": "user",
    "parts": [{"kind": "text", "text": "How long do returns take?"}],
}


async def rpc(talker: Talker, method: Any, params: Any = None, *, version: str = "1.0") -> Told:
    """Call a method of version 1.0, unless another is said; none where it is empty."""
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    headers = [("A2A-Version", version)] if version else []
    return await talker.send("POST", "/a2a", body, headers=headers)


def code(told: Told) -> int:
    assert told.body["jsonrpc"] == "2.0"
    number: int = told.body["error"]["code"]
    assert told.body["error"]["message"]
    return number


def reason(told: Told) -> tuple[int, str]:
    """The status and the reason of a refusal over plain HTTP."""
    error = told.body["error"]
    assert error["code"] == told.status
    info = error["details"][0]
    assert (info["@type"], info["domain"]) == (
        "type.googleapis.com/google.rpc.ErrorInfo",
        "a2a-protocol.org",
    )
    return told.status, info["reason"]


@pytest.mark.parametrize(
    ("body", "wanted", "id_"),
    [
        (b"{", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask"}', -32700, None),
        (b"[]", -32600, None),
        (b'{"id":1,"method":"GetTask"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":true,"method":"GetTask"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"a","method":"Fly"}', -32601, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":"GetTask","params":[]}', -32602, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{}}', -32602, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"b"}}', -32001, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":"CancelTask","params":{"id":"b"}}', -32001, "a"),
    ],
)
async def test_a_call_that_is_wrong_is_refused_by_its_code(
    talker: Talker, body: bytes, wanted: int, id_: Any
) -> None:
    told = await talker.send("POST", "/a2a", body, headers=[V1])
    assert (told.status, code(told), told.body["id"]) == (200, wanted, id_)


async def test_of_a_context_that_is_not_the_callers_there_are_no_tasks(talker: Talker) -> None:
    owner = await talker.with_key()
    made = await rpc(owner, "SendMessage", {"message": QUESTION})
    context = made.body["result"]["task"]["contextId"]
    assert (await rpc(owner, "ListTasks", {"contextId": context})).body["result"]["totalSize"] == 1
    for who in (talker, await talker.with_key()):
        for unknown in (context, "tck-test-context"):
            told = await rpc(who, "ListTasks", {"contextId": unknown})
            page = {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}
            assert told.body["result"] == page


async def test_both_addresses_of_the_protocol_are_one(talker: Talker) -> None:
    for path in ("/a2a", "/a2a/"):
        body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}
        told = await talker.send("POST", path, body, headers=[V1])
        assert told.body["result"]["tasks"] == []


async def test_a_caller_who_names_no_version_speaks_the_older_one(talker: Talker) -> None:
    old = await rpc(talker, "message/send", {"message": QUESTION_03}, version="")
    assert old.body["result"]["kind"] == "task"
    assert old.body["result"]["status"]["state"] == "completed"
    for method, version, wanted in (
        ("SendMessage", "", -32009),
        ("SendMessage", "0.3", -32009),
        ("SendMessage", "2.0", -32009),
        ("SendMessage", "one", -32009),
        ("message/send", "1.0", -32601),
        ("tasks/list", "0.3", -32601),
    ):
        told = await rpc(talker, method, {"message": QUESTION}, version=version)
        assert code(told) == wanted, (method, version)
    new = await rpc(talker, "SendMessage", {"message": QUESTION}, version="1.0.3")
    assert new.body["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    told = await talker.send("GET", "/a2a/tasks")
    assert reason(told) == (400, "VERSION_NOT_SUPPORTED")
    plain = [("Accept", "application/json")]
    told = await talker.send("GET", "/a2a/tasks?A2A-Version=1.0", headers=plain)
    assert told.ok["tasks"] == []


async def test_what_is_no_json_is_refused_in_the_form_of_the_binding(talker: Talker) -> None:
    plain = [V1, ("Content-Type", "text/plain")]
    told = await talker.send("POST", "/a2a", b"{}", headers=plain)
    assert (told.status, code(told)) == (200, -32005)
    told = await talker.send("POST", "/a2a/message:send", b"{}", headers=plain)
    assert reason(told) == (415, "CONTENT_TYPE_NOT_SUPPORTED")
    own = [V1, ("Content-Type", "application/a2a+json")]
    body = json.dumps({"message": QUESTION}).encode()
    async with talker.http.post("/a2a/message:send", data=body, headers=own) as response:
        assert (response.status, response.content_type) == (200, "application/a2a+json")
    asks = [*own, ("Accept", "application/json")]
    async with talker.http.post("/a2a/message:send", data=body, headers=asks) as response:
        assert (response.status, response.content_type) == (200, "application/json")


async def test_refusals_over_http_say_what_is_wrong_and_where(talker: Talker) -> None:
    for method, path, body, wanted in (
        ("GET", "/a2a/tasks/task_nobody", None, (404, "TASK_NOT_FOUND")),
        ("POST", "/a2a/tasks/task_nobody:cancel", {}, (404, "TASK_NOT_FOUND")),
        ("POST", "/a2a/message:send", {}, (400, "INVALID_PARAMS")),
        ("POST", "/a2a/message:send", {"message": AGENTS}, (400, "INVALID_PARAMS")),
        ("GET", "/a2a/tasks?status=LATE", None, (400, "INVALID_PARAMS")),
        ("GET", "/a2a/tasks?pageSize=0", None, (400, "INVALID_PARAMS")),
        ("GET", "/a2a/tasks?pageSize=101", None, (400, "INVALID_PARAMS")),
        ("GET", "/a2a/tasks?pageToken=x", None, (400, "INVALID_PARAMS")),
        ("GET", "/a2a/tasks?historyLength=-1", None, (400, "INVALID_PARAMS")),
        ("DELETE", "/a2a/tasks", None, (405, "METHOD_NOT_FOUND")),
        ("GET", "/a2a/extendedAgentCard", None, (401, "UNAUTHENTICATED")),
    ):
        told = await talker.send(method, path, body, headers=[V1])
        assert reason(told) == wanted, path
    call = {"messageId": "1", "role": "ROLE_USER", "parts": [{"data": {"action": "fly"}}]}
    for message, field in (({}, "message.messageId"), (call, "action")):
        told = await talker.send("POST", "/a2a/message:send", {"message": message}, headers=[V1])
        (violation,) = told.body["error"]["details"][1]["fieldViolations"]
        assert violation["field"] == field


async def test_a_worthless_key_is_recognised_by_its_status(talker: Talker) -> None:
    worthless = [V1, ("Authorization", "Bearer worthless")]
    told = await talker.send("POST", "/a2a", {}, headers=worthless)
    assert (told.status, code(told)) == (401, -32600)
    assert "resource_metadata" in told.headers["WWW-Authenticate"]
    told = await talker.send("GET", "/a2a/tasks", headers=worthless)
    assert reason(told) == (401, "UNAUTHENTICATED")


async def test_files_are_taken_by_value_and_fetched_from_nowhere(talker: Talker) -> None:
    owner = await talker.with_key()
    raw = base64.b64encode(b"Chapter one.").decode()
    file = {"raw": raw, "filename": "notes.txt", "mediaType": "text/plain"}
    told = await rpc(owner, "SendMessage", {"message": {**QUESTION, "parts": [file]}})
    parts = told.body["result"]["task"]["history"][0]["parts"]
    assert parts[0] == {"text": "notes.txt"}
    assert parts[1]["url"].startswith(f"{talker.desk.url}/v1/files/file_")
    path = parts[1]["url"].removeprefix(talker.desk.url)
    async with talker.http.get(path, headers=owner.credentials) as response:
        assert await response.read() == b"Chapter one."
    by_url = {"url": "https://files.example/notes.txt"}
    told = await rpc(owner, "SendMessage", {"message": {**QUESTION, "parts": [by_url]}})
    assert code(told) == -32005
    broken = {**file, "raw": "%"}
    told = await rpc(owner, "SendMessage", {"message": {**QUESTION, "parts": [broken]}})
    assert code(told) == -32602
    odd = {**file, "mediaType": "application/x-odd"}
    told = await rpc(talker, "SendMessage", {"message": {**QUESTION, "parts": [odd]}})
    assert code(told) == -32005
    told = await rpc(talker, "SendMessage", {"message": {**QUESTION, "parts": [file]}})
    assert told.status == 401  # without a key this site takes no files


async def test_a_message_is_repeated_by_its_idempotency_key(talker: Talker) -> None:
    owner = await talker.with_key()
    body = {"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {"message": QUESTION}}
    headers = [V1, ("Idempotency-Key", "once")]
    told = [await owner.send("POST", "/a2a", body, headers=headers) for _ in range(2)]
    contexts = {one.body["result"]["task"]["contextId"] for one in told}
    assert len(contexts) == 1
    view = await owner.read(contexts.pop())
    assert len(view.ok["messages"]) == 2


@pytest.mark.asyncio(loop_scope="function")
async def test_a_card_for_the_newest_version_alone_has_no_members_of_the_other(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, 'a2a.card="1.0"') as talker:
        card = (await talker.send("GET", "/.well-known/agent-card.json")).ok
    assert {one["protocolVersion"] for one in card["supportedInterfaces"]} == {"1.0"}
    assert not card.keys() & {"url", "preferredTransport", "protocolVersion"}
    assert card["securitySchemes"]["bearer"].keys() == {"httpAuthSecurityScheme"}
    assert ParseDict(card, a2a_pb2.AgentCard()).name == card["name"]  # it knows each member


@pytest.mark.asyncio(loop_scope="function")
async def test_a_disabled_protocol_is_not_found(tmp_path: Path) -> None:
    async with talking(tmp_path, "a2a.enabled=false") as talker:
        for path in ("/a2a", "/.well-known/agent-card.json"):
            assert (await talker.send("GET", path)).status == 404


async def test_a_stream_has_its_status_and_its_media_type(talker: Talker) -> None:
    params = {"message": QUESTION}
    call = {"jsonrpc": "2.0", "id": 7, "method": "SendStreamingMessage", "params": params}
    own = [V1, ("Content-Type", "application/json")]
    for path, body in (("/a2a", call), ("/a2a/message:stream", params)):
        async with talker.http.post(path, data=json.dumps(body), headers=own) as response:
            assert (response.status, response.content_type) == (200, "text/event-stream"), path
            assert b"TASK_STATE_COMPLETED" in await response.read()
