"""The same question and the same call in the form of every door, for measurements of these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.bench.harness.comparison import Load
from tests.bench.mcp import ERAS, tool_call

ASKED, QUESTION = "content_search", "What is your return policy?"
CALLED, WORDS = "product_search", {"words": "stove"}
_JSON = {"Content-Type": "application/json"}
_HAC = {"Accept": "application/vnd.hac+json"}
_A2A = {**_JSON, "A2A-Version": "1.0"}


def by_doors(action: str, arguments: Mapping[str, Any], query: str) -> dict[str, Load]:
    """One action in the form of each door that takes calls.

    Parameters:
        query: what AHP is asked.
    """
    ahp = {
        "capability": action,
        "query": query,
        "context": {"accept_types": ["text/answer", "application/data"]},
    }
    plain = Load(f"/capabilities/{action}", _encode(arguments), _JSON)
    parts = [{"data": {"action": action, "arguments": arguments}}]
    message = {"messageId": "bench", "role": "ROLE_USER", "parts": parts}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    return {
        "AHP": Load("/agent/converse", _encode(ahp), _JSON),
        "OpenAPI": plain,
        "HAC": Load(plain.path, plain.body, {**_JSON, **_HAC}),
        **{f"MCP {era}": tool_call(era, action, arguments) for era in ERAS},
        "A2A": Load("/a2a", _encode(rpc), _A2A),
        "A2A over HTTP": Load("/a2a/message:send", _encode({"message": message}), _A2A),
    }


def _encode(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told).encode()
