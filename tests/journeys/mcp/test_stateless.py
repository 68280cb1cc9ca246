"""MCP requests of the handshake's era that are answered by themselves, as the transport does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.threads import Talker, talking

BOTH = ("Accept", "application/json, text/event-stream")
VERSION = "2025-03-26"
"""What the transport takes a request for that names none."""

REQUESTS: list[tuple[str, dict[str, Any] | None]] = [
    ("tools/list", None),
    ("tools/list", {"_meta": {"progressToken": 7}}),
    ("tools/list", {"_meta": {"progressToken": {"of": "no kind"}}}),
    ("tools/list", {"cursor": "nowhere"}),
    ("tools/call", {"name": "site_info", "arguments": {"query": "What is this?"}}),
    ("tools/call", {"name": "site_info"}),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "desk://search/opening"}),
    ("resources/read", {"uri": "file:///etc/passwd"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "nothing"}),
]


async def sent(talker: Talker, body: dict[str, Any], *headers: tuple[str, str]) -> Any:
    told = await talker.send("POST", "/mcp", body, headers=[BOTH, *headers])
    result = told.body.get("result") if isinstance(told.body, dict) else None
    if isinstance(result, dict) and "structuredContent" in result:
        result["structuredContent"].pop("session_id")
        result["content"] = [one for one in result["content"] if "session_" not in one["text"]]
        result["structuredContent"].pop("meta", None)
    return told.status, told.body


async def test_a_request_is_answered_the_same_way_with_and_without_a_transport(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async with talking(tmp_path) as talker:
        for method, params in REQUESTS:
            with subtests.test(method=method, params=params):
                body: dict[str, Any] = {"jsonrpc": "2.0", "id": "one", "method": method}
                if params is not None:
                    body["params"] = params
                by_transport = await sent(talker, body)
                alone = await sent(talker, body, ("MCP-Protocol-Version", VERSION))
                assert alone == by_transport
                assert alone[1]["id"] == "one"


async def test_what_needs_the_transport_has_it(tmp_path: Path) -> None:
    version = ("MCP-Protocol-Version", VERSION)
    async with talking(tmp_path) as talker:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        async with talker.http.post(
            "/mcp",
            json={"jsonrpc": "2.0", "method": "notifications/initialized"},
            headers=[BOTH, version],
        ) as told:
            assert (told.status, await told.read()) == (202, b"")
        refused = await talker.http.post(
            "/mcp", json=body, headers=[version, ("Accept", "text/html")]
        )
        assert refused.status == 406
        unknown = await talker.http.post(
            "/mcp", json={**body, "method": "no/such"}, headers=[BOTH, version]
        )
        assert (await unknown.json())["error"]["code"] == -32601
