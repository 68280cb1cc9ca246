"""What each scope opens, as docs/build/authentication.md says it, over the protocols of a desk."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.auth.keys.encryption import TextSealer
from aitp_desk.desk.access.sealed_values import Sealer
from aitp_desk.model.access.sealed_value import make_ref
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.run import ToolCall
from aitp_desk.store.units.privacy.sealed_values import write_sealed
from tests.support.access.keys import make_key
from tests.support.clients.ahp import CONTENT, CONVERSE, MANIFEST
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent
from tests.support.sites.actions import offering

SEALED = make_ref("a value")
PAGE = Path(__file__).parents[3] / "docs/build/authentication.md"
Table = dict[str, dict[str, bool]]


class Caller(NamedTuple):
    """A caller with a credential, or without.

    Parameters:
        foreign: the address of a thread that is another caller's.
    """

    http: aiohttp.ClientSession
    headers: Mapping[str, str]
    foreign: str

    async def status(self, path: str, body: Any = None) -> int:
        """The status of the answer; a refusal for want of a scope says so."""
        method = "GET" if body is None else "POST"
        async with self.http.request(method, path, headers=self.headers, json=body) as response:
            if response.status == 403:
                assert "Use one with the scope 'threads'" in await response.text()
            return response.status

    async def actions(self) -> list[str] | None:
        """The actions that were called for them when they asked; None where they may not ask."""
        body = {"capability": "content_search", "query": f"I am {self.headers or 'nobody'}."}
        async with self.http.post(CONVERSE, headers=self.headers, json=body) as response:
            said = await response.json()
        return said["response"]["answer"].split() if response.status == 200 else None


May = Callable[[Caller], Awaitable[bool]]


def table() -> Table:
    """For each row, whether each caller may."""
    part = PAGE.read_text("utf-8").split("<!-- scopes:")[1].split("\n\n")[1]
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in part.split("\n"))
    callers = [cell.strip("`") for cell in head[1:]]
    assert {cell for _, *cells in rows for cell in cells} == {"yes", "no"}
    return {
        what: dict(zip(callers, map("yes".__eq__, cells), strict=True)) for what, *cells in rows
    }


async def perform(_who: str, _arguments: Mapping[str, Any]) -> str:
    return "done"


ACTIONS = tuple(
    offering(
        Action(name, f"Does {name}.", open_to="anyone" if name == "look" else "actions"), perform
    )
    for name in ("look", "sell", "refund")
)


async def call_all(turn: Turn) -> Outcome:
    """Say which actions can be called; what is not listed cannot."""
    listed = {tool.name for tool in turn.tools}
    called = set()
    for one in ACTIONS:
        name = one.action.name
        if not (await turn.invoke(ToolCall(name, name, "{}"))).failed:
            called.add(name)
    assert called == listed & {"look", "sell", "refund"}
    return Answer(" ".join(sorted(called)))


async def read(caller: Caller) -> bool:
    return {await caller.status(path) for path in ("/", CONTENT, MANIFEST)} == {200}


async def ask(caller: Caller) -> bool:
    return await caller.actions() is not None


def call(action: str) -> May:
    async def may(caller: Caller) -> bool:
        return action in (await caller.actions() or ())

    return may


async def converse(caller: Caller) -> bool:
    async with caller.http.post("/v1/threads", headers=caller.headers, json={}) as response:
        opened = await response.json()
    if response.status != 200:
        return False
    thread = f"/v1/threads/{opened['id']}"
    message = {"role": "user", "content": "Hello."}
    assert await caller.status(f"{thread}/messages", message) == 200
    assert await caller.status(f"{thread}/messages") == 200
    assert await caller.status(f"{thread}/runs") == 200
    return True


async def claim(caller: Caller) -> bool:
    async with caller.http.post("/v1/threads", json={}) as response:
        anonymous = f"/v1/threads/{(await response.json())['id']}"
    return await caller.status(f"{anonymous}/claim", {}) == 200


async def look_after(caller: Caller) -> bool:
    return await caller.status(caller.foreign) == 200


async def list_files(caller: Caller) -> bool:
    return await caller.status("/v1/files") == 200


async def reveal(caller: Caller) -> bool:
    return await caller.status(f"/v1/sealed/{SEALED}") == 200


ROWS: Mapping[str, May] = {
    "pages, content, the manifest": read,
    "a question at `/agent/converse`": ask,
    "actions that are open": call("look"),
    "the action `sell`": call("sell"),
    "the action `refund`": call("refund"),
    "threads, messages, runs of one's own": converse,
    "claiming a thread, and using those that others share": claim,
    "threads of others": look_after,
    "files": list_files,
    "what was [sealed](capabilities-calls.md#sealed-values)": reveal,
}


async def test_every_scope_opens_what_the_documentation_says_and_no_more(tmp_path: Path) -> None:
    said = table()
    assert said.keys() == ROWS.keys()
    async with (
        serving(tmp_path, agent=ScriptedAgent(call_all), actions=ACTIONS) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        owner = {"X-AHP-Key": await make_key(desk.store, tmp_path, "threads", name="owner")}
        async with http.post("/v1/threads", headers=owner, json={}) as response:
            foreign = f"/v1/threads/{(await response.json())['id']}"
        sealer = Sealer(TextSealer(await open_data_keys(desk.store, tmp_path, {})), time.time)
        value = sealer.seal(SEALED, "4711", desk="", thread_id=None, principal=None)
        await desk.store.run(write_sealed, values=(value,))
        found: Table = {what: {} for what in ROWS}
        for scope in said["files"]:
            headers = {}
            if scope != "no credential":
                headers = {"X-AHP-Key": await make_key(desk.store, tmp_path, scope, name=scope)}
            caller = Caller(http, headers, foreign)
            for what, may in ROWS.items():
                found[what][scope] = await may(caller)
    assert found == said
