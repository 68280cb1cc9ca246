"""A reply that chooses one of the offered options answers the original question in that reading."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.clients.threads import Talker, talking
from tests.support.sites.declarations import HEAD

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "How many minutes does it take?"
PAGES = {
    "Installation": "Set up the lamp with two screws. That takes ten minutes.",
    "Configuration": "Set up the lamp by the file lamp.toml. That takes five minutes.",
    "Updates": "Set up the lamp again after each version. That takes one minute.",
}
ACTIONS = '''
@action(kind="query", open_to="anyone")
def find_trail(trail: Literal["Larkspur Loop", "Tarn Traverse", "Cinder Rim"]) -> str:
    """Finds a trail."""
    return f"Trail {trail}."
'''


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lamps(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    folder = tmp_path_factory.mktemp("lamps")
    site = folder / "site"
    site.mkdir()
    for title, text in PAGES.items():
        (site / f"{title.lower()}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")
    (site / "desk.toml").touch()
    (site / "actions.py").write_text(HEAD + ACTIONS, "utf-8")
    async with talking(folder, site=site) as talker:
        yield talker


async def over_ahp(who: Talker, *said: str, capability: str = "content_search") -> str:
    """The last answer in a session."""
    told: Any = {}
    for words in said:
        body = {"capability": capability, "query": words}
        if "session_id" in told:
            body["session_id"] = told["session_id"]
        told = (await who.send("POST", "/agent/converse", body)).ok
    return str(told.get("response", {}).get("answer") or told["clarification"]["question"])


async def over_threads(who: Talker, *said: str) -> str:
    """The last reply on a thread."""
    thread, told = await who.open(), None
    for words in said:
        body = {"role": "user", "content": [words]}
        path, prefer = f"/v1/threads/{thread.id}/messages", [("Prefer", "wait=10")]
        told = (await who.send("POST", path, body, headers=prefer)).ok
    assert told is not None
    return str(told["replies"][-1]["content"][0])


async def over_mcp(who: Talker, *said: str) -> str:
    """The last result of the tool in a session."""
    arguments: dict[str, Any] = {}
    told: Any = {}
    for number, words in enumerate(said):
        params = {"name": "content_search", "arguments": {**arguments, "query": words}}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        accept = [("Accept", "application/json, text/event-stream")]
        told = (await who.send("POST", "/mcp", body, headers=accept)).ok["result"]
        arguments = {"session_id": json.loads(told["content"][1]["text"])["session_id"]}
    return str(told["content"][0]["text"])


async def over_a2a(who: Talker, *said: str) -> str:
    """The text of the last task."""
    about: dict[str, str] = {}
    task: Any = {}
    for number, words in enumerate(said):
        message: dict[str, Any] = {
            "kind": "message",
            "role": "user",
            "messageId": f"m{number}",
            **about,
        }
        message |= {"parts": [{"kind": "text", "text": words}]}
        params = {"message": {**message, **about}, "configuration": {"blocking": True}}
        body = {"jsonrpc": "2.0", "id": number, "method": "message/send", "params": params}
        task = (await who.send("POST", "/a2a", body)).ok["result"]
        is_open = task["status"]["state"] == "input-required"
        about = {"contextId": task["contextId"]} | ({"taskId": task["id"]} if is_open else {})
    said_last = task.get("artifacts") or [task["status"]["message"]]
    return str(said_last[0]["parts"][0]["text"])


PROTOCOLS = pytest.mark.parametrize("ask", [over_ahp, over_threads, over_mcp, over_a2a])


@PROTOCOLS
@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("3", 2),
        ("the third", 2),
        ("the last one", 2),
        ("number 2", 1),
        ("installation", 0),
        ("instalation", 0),
        ("le deuxième", 1),
        ("den dritten bitte", 2),
    ],
)
async def test_a_reply_chooses_over_every_protocol(
    lamps: Talker, ask: Any, reply: str, place: int
) -> None:
    asked = await ask(lamps, QUESTION)
    titles = [title for title in PAGES if f"“{title} –" in asked]
    assert len(titles) == 3, asked
    titles.sort(key=asked.index)
    place = titles.index("Installation") if place == 0 else place
    assert PAGES[titles[place]] in await ask(lamps, QUESTION, reply)


@PROTOCOLS
async def test_who_has_chosen_one_may_choose_another(lamps: Talker, ask: Any) -> None:
    told = await ask(lamps, QUESTION, "1", "and the second one")
    assert told in PAGES.values()
    assert told != await ask(lamps, QUESTION, "1")


async def test_a_quantity_chooses_nothing(lamps: Talker) -> None:
    for reply in ("I need 2 of them", "3 tents please"):
        told = await over_ahp(lamps, QUESTION, reply)
        assert told not in PAGES.values(), reply


@pytest.mark.parametrize(
    "reply", ["3", "the last one", "Cinder", "cindr rim", "the third trail", "die dritte"]
)
async def test_an_argument_is_chosen_the_same_way(lamps: Talker, reply: str) -> None:
    told = await over_ahp(lamps, "Find a trail", reply, capability="find_trail")
    assert told == "Trail Cinder Rim."
