"""What a tool's call takes over MCP: beside calling the desk itself, and beside the SDK's server.

    python -m tests.bench.mcp [--rounds 5] [--calls 300]

The same call, one after the other over one kept connection: to a desk (`aitp-desk serve` over
`examples/shop`), and to a sample of the official SDK that has the one tool and nothing behind it,
each in a process of its own, in turn. It is a question that is answered from the cache, so that
what is measured is the door. The figure is what a call takes more than over AHP, as a share of what
the sample takes, the median of those within the rounds.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.harness.comparison import ARGUMENTS, TOOL, Load, ahp_call, compare
from tests.support.desk.processes import desk_command, free_port, serving_process

ERAS = ("2025-11-25", "2026-07-28")
_PREFIX = "io.modelcontextprotocol/"


def tool_call(era: str, tool: str = TOOL, arguments: Mapping[str, Any] = ARGUMENTS) -> Load:
    """A call as a client of this era sends it."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era,
    }
    if era == ERAS[1]:
        params["_meta"] = {
            f"{_PREFIX}protocolVersion": era,
            f"{_PREFIX}clientCapabilities": {},
            f"{_PREFIX}clientInfo": {"name": "bench", "version": "1"},
        }
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Load("/mcp", json.dumps(message).encode(), headers)


def sample_result() -> dict[str, Any]:
    """What the shop gives, for the sample server to answer the same."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = desk_command(Path(folder) / "data", port)
        log = Path(folder) / "log"
        with serving_process(command, port, log=log, bytecode=Path(folder) / "bytecode"):
            load, connection = tool_call(ERAS[0]), http.client.HTTPConnection("127.0.0.1", port)
            connection.request("POST", load.path, load.body, load.headers)
            said = json.loads(connection.getresponse().read())
            found: dict[str, Any] = said["result"]["structuredContent"]
    return found


def serve_sample(port: int, result: dict[str, Any]) -> None:
    """Run the SDK's own server with tools that answer at once."""
    import uvicorn
    from mcp.server import MCPServer

    server = MCPServer("sample", log_level="ERROR")

    @server.tool()
    def content_search(query: str) -> dict[str, Any]:
        """Answers a question."""
        assert query
        return result

    @server.tool()
    def product_search(words: str) -> dict[str, Any]:
        """Finds products."""
        assert words
        return result

    app = server.streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


def main() -> int:
    """Measure and say what came of it; 1 where a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--sample", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.sample:
        serve_sample(chosen.sample, json.loads(sys.stdin.read()))
        return 0
    return compare(
        {era: (tool_call(era), ahp_call()) for era in ERAS},
        "tests.bench.mcp",
        rounds=chosen.rounds,
        calls=chosen.calls,
        beside="AHP",
        given=json.dumps(sample_result()),
    )


if __name__ == "__main__":
    sys.exit(main())
