"""``aitp-desk mcp FOLDER``: the same over pipes, as desktop clients begin their servers."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.store.engine.lock import lock_data_folder
from tests.support.access.keys import make_key
from tests.support.clients.mcp import MODES, Mode, failure, tool_user, words
from tests.support.desk.command import run_here
from tests.support.desk.server import serving
from tests.support.sites.shop import SAM, STOVE, make_shop

if TYPE_CHECKING:
    import mcp
    from mcp_types import ElicitResult, ErrorData

pytestmark = pytest.mark.servers

ORDER = {"items": [{"sku": STOVE}], "store": "Boise", "email": "kai@customer.example"}

OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "desktop", "version": "1"},
}
LOUD = """
import subprocess
from aitp_desk.actions import action

print("loaded")

@action(open_to="anyone")
def shout() -> str:
    \"\"\"Says something.\"\"\"
    print("from python", flush=True)
    subprocess.run(["echo", "from a program"], check=True)
    return "said"
"""


@asynccontextmanager
async def piped(
    folder: Path, site: Path, mode: Mode, key: str = "", **more: Any
) -> AsyncIterator[mcp.Client]:
    """A client that has begun the command itself; what that logs goes into a file."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = ["-m", "aitp_desk", "mcp", str(site), "--data", str(folder / "data")]
    environment = {"DESK_KEY": key} if key else {}
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    with (folder / "log").open("a", encoding="utf-8") as log:
        async with mcp.Client(stdio_client(server, errlog=log), mode=mode, **more) as client:
            yield client


async def make_agents_key(folder: Path, site: Path) -> str:
    data = folder / "data"
    async with serving(data, folder=site) as desk:
        return await make_key(desk.store, data, "actions", name="desktop")


@pytest.mark.parametrize("mode", MODES)
async def test_a_desktop_client_has_the_same_tools(tmp_path: Path, mode: Mode) -> None:
    site = make_shop(tmp_path)
    async with piped(tmp_path, site, mode) as client:
        here = (await client.list_tools()).tools
        said = await client.call_tool("content_search", {"query": "What do you sell?"})
        assert "gear" in words(said)
        denied = failure(await client.call_tool("order_lookup", SAM))
        assert denied["code"] == "not_authenticated"
        (page,) = (await client.list_resources()).resources
        assert (await client.read_resource(page.uri)).contents
    async with (
        serving(tmp_path / "data", folder=site) as desk,
        tool_user(desk.url, mode) as client,
    ):
        over_http = (await client.list_tools()).tools
    assert [tool.model_dump() for tool in here] == [tool.model_dump() for tool in over_http]
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8")


@pytest.mark.parametrize("mode", MODES)
async def test_its_key_opens_more_and_its_user_is_asked_in_both_eras(
    tmp_path: Path, mode: Mode
) -> None:
    from mcp_types import ElicitResult

    site, asked = make_shop(tmp_path), []
    key = await make_agents_key(tmp_path, site)

    async def user(_context: Any, params: Any) -> ElicitResult:
        fields = params.requested_schema["properties"]
        asked.append(list(fields))
        if "agree" in fields:
            return ElicitResult(action="accept", content={"agree": True})
        return ElicitResult(action="accept", content={"email": "kai@customer.example"})

    more: dict[str, Any] = {"elicitation_callback": user}
    async with piped(tmp_path, site, mode, key, **more) as client:
        lacking = {name: value for name, value in ORDER.items() if name != "email"}
        placed = await client.call_tool("place_order", lacking)
        assert placed.structured_content["state"] == "placed"
    assert asked == [["email"], ["agree"]]


async def test_a_client_without_elicitation_is_told_what_to_send(tmp_path: Path) -> None:
    from mcp_types import ErrorData

    site = make_shop(tmp_path)
    key = await make_agents_key(tmp_path, site)

    async def nobody(_context: Any, _params: Any) -> ErrorData:
        return ErrorData(code=-32603, message="Nobody is there.")

    more: dict[str, Any] = {"elicitation_callback": nobody}
    async with piped(tmp_path, site, "legacy", key, **more) as client:
        asked = failure(await client.call_tool("place_order", ORDER))
    assert asked["send"] == {"_confirm": asked["price"]}


def test_nothing_but_messages_is_written_to_the_standard_output(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "about.md").write_text("# About\n", "utf-8")
    (tmp_path / "desk.toml").write_text('[content]\nfolder = "content"\n', "utf-8")
    (tmp_path / "actions.py").write_text(LOUD, "utf-8")
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": OPENING},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "shout", "arguments": {}}},
    ]
    said = [json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages]
    command = ["-m", "aitp_desk", "mcp", str(tmp_path), "--data", str(tmp_path / "data")]
    with Popen([sys.executable, *command], stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(said).encode())
        process.stdin.flush()
        lines = [process.stdout.readline(), process.stdout.readline()]
        rest, logged = process.communicate(timeout=20)
    assert [json.loads(line)["id"] for line in lines] == [1, 2]
    assert json.loads(lines[1])["result"]["structuredContent"] == {"value": "said"}
    assert rest == b""
    assert {b"loaded", b"from python", b"from a program"} <= set(logged.splitlines())
    assert process.returncode == 0


def test_what_cannot_be_started_is_reported_in_a_line(tmp_path: Path) -> None:
    site = make_shop(tmp_path)
    with lock_data_folder(tmp_path / "data"):
        told = run_here("mcp", site, "--data", tmp_path / "data")
    assert told.code == 1
    assert told.out == ""
    assert "Another desk is serving" in told.err
    assert "Traceback" not in told.err
