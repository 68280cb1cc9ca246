"""Several site agents on one store: each has its address, its threads, its content and limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from openai import AsyncOpenAI

from aitp_desk.agent.base import Agent, Answer, Event, Outcome, Turn
from aitp_desk.app import open_server
from aitp_desk.config import load_config
from aitp_desk.desk.invoking import Perform, Performed
from aitp_desk.model.action import Action
from aitp_desk.model.principal import Principal
from tests.doubles import ScriptedAgent
from tests.keys import make_key
from tests.talking import Talker, Told

SITE, BOOKS, TOOLS = "", "/books", "/tools"
DESKS = (SITE, BOOKS, TOOLS)

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
DESK_TOML = PAGE.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
"""The settings are those that the documentation shows."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site whose three agents know one fact each, in pages of the same name."""
    site = tmp_path / "site"
    for name, fact in {
        "content": "The shop opens at nine in the morning.",
        "books": "The oldest book is a herbal of 1597.",
        "tools": "The longest ladder measures twelve metres.",
    }.items():
        (site / name).mkdir(parents=True)
        (site / name / "facts.md").write_text(f"# Facts\n\n{fact}\n", encoding="utf-8")
    (site / "desk.toml").write_text(DESK_TOML, encoding="utf-8")
    return site


@asynccontextmanager
async def talking(
    folder: Path, *settings: str, agent: Agent | None = None, **actions: Performed
) -> AsyncIterator[Talker]:
    data = folder.parent / "data"
    config = load_config(folder, ("limits.enabled=false", *settings), port=0, data=data)
    by_name = {name: (performed,) for name, performed in actions.items()}
    own = by_name.pop("site", ())
    async with (
        open_server(config, agent=agent, actions=own, agent_actions=by_name) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Talker(desk, data, http)


async def open_at(talker: Talker, desk: str, text: str, **members: object) -> Told:
    body = {"messages": [{"role": "user", "content": text}], **members}
    wait = [("Prefer", "wait=20")]
    return await talker.send("POST", f"{desk}/v1/threads", body, headers=wait)


def replied(told: Told) -> str:
    text: str = told.ok["replies"][0]["content"][0]
    return text


@pytest.mark.parametrize(
    ("desk", "question", "fact"),
    [
        (SITE, "When does the shop open?", "nine in the morning"),
        (BOOKS, "What is the oldest book?", "1597"),
        (TOOLS, "How long is the longest ladder?", "twelve metres"),
    ],
)
async def test_each_agent_answers_from_its_own_content_alone(
    folder: Path, desk: str, question: str, fact: str
) -> None:
    async with talking(folder) as talker:
        for other in DESKS:
            told = await open_at(talker, other, question)
            assert (fact in replied(told)) is (other == desk)


async def test_a_source_is_a_page_that_is_served_below_the_agents_name(folder: Path) -> None:
    async with talking(folder) as talker:
        told = await open_at(talker, BOOKS, "What is the oldest book?")
        sources = told.ok["replies"][0]["content"][1]
        assert f"{talker.desk.url}/books/facts" in sources
        async with talker.http.get("/books/facts") as page:
            assert page.status == 200
            assert "herbal of 1597" in await page.text()
        async with talker.http.get("/facts") as page:
            assert "herbal" not in await page.text()


# What can be done with a thread by its id: method, what follows the id, body.
BY_ID: list[tuple[str, str, object]] = [
    ("GET", "", None),
    ("POST", "", {}),
    ("POST", "", {"metadata": {"a": "b"}}),
    ("DELETE", "", None),
    ("GET", "/messages", None),
    ("POST", "/messages", {"role": "user", "content": "Hello?"}),
    ("GET", "/messages/{message}", None),
    ("POST", "/messages/{message}", {"metadata": {"a": "b"}}),
    ("DELETE", "/messages/{message}", None),
    ("GET", "/actors", None),
    ("POST", "/actors", {"id": "https://else.example"}),
    ("DELETE", "/actors/visitor", None),
    ("GET", "/events", None),
    ("GET", "/runs", None),
    ("POST", "/runs", {"assistant_id": "desk"}),
    ("GET", "/runs/{run}", None),
    ("POST", "/runs/{run}", {"metadata": {"a": "b"}}),
    ("POST", "/runs/{run}/cancel", {}),
    ("POST", "/runs/{run}/submit_tool_outputs", {"tool_outputs": []}),
    ("GET", "/runs/{run}/steps", None),
]


@pytest.mark.parametrize("as_", ["anonymous", "threads", "operator", "admin"])
async def test_a_thread_of_one_agent_does_not_exist_at_the_address_of_another(
    folder: Path, as_: str
) -> None:
    async with talking(folder) as anybody:
        talker = anybody if as_ == "anonymous" else await anybody.with_key(as_)
        for home in (SITE, BOOKS):
            told = await open_at(talker, home, "Who is there?")
            names = {"message": told.ok["messages"][0]["id"], "run": told.ok["run"]["id"]}
            before = talker.rows("SELECT count(*), sum(seq) FROM messages")
            for other in DESKS:
                for method, rest, body in BY_ID:
                    path = f"{other}/v1/threads/{told.id}{rest.format(**names)}"
                    if other != home:
                        refused = await talker.send(method, path, body)
                        assert refused.status in {400, 404}, (method, path, refused.body)
                        assert refused.refusal[1] not in {"route_not_found", "internal"}
                fork = await talker.send(
                    "POST", f"{other}/v1/threads", {"metadata": {"parent_id": told.id}}
                )
                assert fork.status == (200 if other == home else 404)
            assert talker.rows("SELECT count(*), sum(seq) FROM messages") == before
            kept = await talker.send("GET", f"{home}/v1/threads/{told.id}")
            assert kept.ok["metadata"]["actors"][0]["id"] == f"{talker.desk.url}{home}"


async def test_one_idempotency_key_opens_one_thread_at_each_agent(folder: Path) -> None:
    async with talking(folder) as anybody:
        for talker in (anybody, await anybody.with_key("threads")):
            key = [("Idempotency-Key", "a-key-of-more-than-twenty-characters")]
            opened = [
                (await talker.send("POST", f"{desk}/v1/threads", {}, headers=key)).id
                for desk in (*DESKS, *DESKS)
            ]
            assert opened[:3] == opened[3:]
            assert len(set(opened)) == 3


async def test_each_agent_counts_what_it_is_asked(folder: Path) -> None:
    own = '[agents.limits]\nconverse_per_minute = 2\n[[agents]]\nname = "tools"'
    toml = DESK_TOML.replace('[[agents]]\nname = "tools"', own)
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    async with talking(folder, "limits.enabled=true", "limits.converse_per_minute=1") as talker:

        async def statuses(desk: str) -> list[int]:
            path = f"{desk}/v1/threads"
            return [(await talker.send("POST", path, {})).status for _ in range(3)]

        assert await statuses(SITE) == [200, 429, 429]
        assert await statuses(BOOKS) == [200, 200, 429]
        assert await statuses(TOOLS) == [200, 200, 200]


def ringing(rung: list[str], name: str) -> Performed:
    async def perform(principal: Principal, arguments: object) -> str:
        rung.append(name)
        return "rung"

    call: Perform = perform
    return Performed(Action("ring", f"Rings at {name}."), call)


async def test_each_agent_calls_its_own_actions(folder: Path) -> None:
    rung: list[str] = []

    async def describe(turn: Turn) -> Outcome:
        return Answer(" ".join(tool.description for tool in turn.tools) or "nothing to ring")

    async with talking(
        folder,
        agent=ScriptedAgent(describe),
        site=ringing(rung, "site"),
        books=ringing(rung, "books"),
    ) as talker:
        said = [replied(await open_at(talker, desk, "What can you do?")) for desk in DESKS]
    assert said == ["Rings at site.", "Rings at books.", "nothing to ring"]


async def test_each_agent_is_the_one_assistant_of_its_address(folder: Path) -> None:
    async with talking(folder) as talker:
        key = await make_key(talker.desk.store, folder.parent / "data", "threads")
        for desk, id_, name in [(SITE, "desk", "Shop"), (BOOKS, "books", "The bookshelf")]:
            async with AsyncOpenAI(base_url=f"{talker.desk.url}{desk}/v1", api_key=key) as client:
                with pytest.warns(DeprecationWarning, match="deprecated"):
                    listed = await client.beta.assistants.list()
            assert [(agent.id, agent.name) for agent in listed.data] == [(id_, name)]


async def test_a_file_of_one_agent_does_not_exist_at_the_address_of_another(folder: Path) -> None:
    async with talking(folder) as anybody:
        talker = await anybody.with_key("threads")
        assert talker.key is not None
        url = talker.desk.url
        async with AsyncOpenAI(base_url=f"{url}{BOOKS}/v1", api_key=talker.key) as client:
            file = await client.files.create(file=("list.txt", b"A herbal."), purpose="assistants")
        attached = {"messages": [{"content": "Hello?", "attachments": [{"file_id": file.id}]}]}
        for desk in DESKS:
            at_home = desk == BOOKS
            path = f"{desk}/v1/files/{file.id}"
            assert (await talker.send("GET", path)).status == (200 if at_home else 404)
            listed = (await talker.send("GET", f"{desk}/v1/files")).ok
            assert [each["id"] for each in listed["data"]] == ([file.id] if at_home else [])
            opened = await talker.send("POST", f"{desk}/v1/threads", attached)
            assert opened.status == (200 if at_home else 404)
            if not at_home:
                assert (await talker.send("GET", f"{path}/content")).status == 404
                assert (await talker.send("DELETE", path)).status == 404
        assert (await talker.send("DELETE", f"{BOOKS}/v1/files/{file.id}")).status == 200


async def test_a_name_that_is_no_agents_has_no_threads(folder: Path) -> None:
    async with talking(folder) as talker:
        assert (await talker.send("POST", "/nobody/v1/threads", {})).status == 404


class Silent:
    """An agent that is for ever about to answer, and says when it was asked."""

    name = "silent"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        self.asked.set()
        await asyncio.Event().wait()
        yield Answer("never")


async def test_what_waits_for_an_agent_that_was_taken_away_is_answered_by_no_other(
    folder: Path,
) -> None:
    silent = Silent()
    async with talking(folder, "server.shutdown_seconds=1", agent=silent) as talker:
        waiting = {"messages": [{"role": "user", "content": "How long is the ladder?"}]}
        thread = (await talker.send("POST", f"{TOOLS}/v1/threads", waiting)).id
        async with asyncio.timeout(20):
            await silent.asked.wait()
    toml = DESK_TOML[: DESK_TOML.rindex("[[agents]]")]
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    state = f"SELECT state FROM jobs WHERE thread_id = '{thread}'"
    async with talking(folder) as talker:
        async with asyncio.timeout(20):
            while talker.rows(state) != [("failed",)]:
                await open_at(talker, SITE, "When does the shop open?")
        for desk in (SITE, BOOKS):
            assert (await talker.send("GET", f"{desk}/v1/threads/{thread}")).status == 404
    said = talker.rows(f"SELECT count(*) FROM messages WHERE thread_id = '{thread}'")
    assert said == [(1,)]
