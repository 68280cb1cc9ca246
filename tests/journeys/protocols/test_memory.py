"""No list and no document is held in memory as a whole, however much its parts say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.calls.action import Action
from aitp_desk.model.money import Money
from aitp_desk.protocols.hac import MEDIA_TYPE
from aitp_desk.store.base import PAGE_BYTES
from aitp_desk.store.reads import files as file_reads
from tests.support.clients.operator import operating, write_site
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.sites.actions import offering

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANUAL = [("OpenAI-Beta", "assistants=v2")]
V1 = {"A2A-Version": "1.0", "Accept": "application/json"}
LONG = "\x01" * 60_000
"""What one message says. Each character is six bytes of JSON."""
COUNT = 8
ROOM = PAGE_BYTES + 64 * 1024
"""How long a page may be, with what stands around its messages."""


class Ground(msgspec.Struct, frozen=True):
    """A desk, and a thread of long messages on it.

    Parameters:
        ids: of the messages, in order.
    """

    talker: Talker
    folder: Path
    thread: str
    ids: list[str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    folder = tmp_path_factory.mktemp("pages")
    async with talking(folder, site=write_site(folder)) as talker:
        thread = (await talker.open(headers=MANUAL)).id
        ids = [(await talker.post(thread, LONG, headers=MANUAL)).id for _ in range(COUNT)]
        yield Ground(talker, folder, thread, ids)


async def read(http: aiohttp.ClientSession, path: str, **headers: str) -> tuple[int, Any]:
    """The size of an answer, and what it says."""
    async with http.get(path, headers=headers) as answer:
        body = await answer.read()
        assert answer.status == 200, body[:300]
        return len(body), msgspec.json.decode(body)


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("accept", ["application/json", MEDIA_TYPE])
async def test_a_page_of_messages_ends_where_it_gets_long_and_the_next_goes_on(
    ground: Ground, order: str, accept: str
) -> None:
    found: list[str] = []
    has_more = True
    while has_more:
        after = f"&after={found[-1]}" if found else ""
        path = f"{THREADS}/{ground.thread}/messages?limit=100&order={order}{after}"
        size, body = await read(ground.talker.http, path, Accept=accept)
        assert size < ROOM
        page = body["data"] if accept == MEDIA_TYPE else body
        found += [message["id"] for message in page["data"]]
        has_more = page["has_more"]
    assert found == (ground.ids if order == "asc" else ground.ids[::-1])


async def test_a_thread_comes_with_as_many_of_its_newest_messages_as_fit(ground: Ground) -> None:
    size, thread = await read(ground.talker.http, f"{THREADS}/{ground.thread}")
    assert size < ROOM
    shown = [message["id"] for message in thread["messages"]]
    assert 0 < len(shown) < COUNT
    assert shown == ground.ids[-len(shown) :]


async def test_operators_read_as_much_at_once(ground: Ground) -> None:
    found: list[str] = []
    async with operating(ground.talker.desk, ground.folder / "data", "anna") as anna:
        path = f"threads/{ground.thread}/messages?limit=100"
        before: str | None = ""
        while before is not None:
            page = await anna.get(f"{path}&before={before}" if before else path)
            assert len(msgspec.json.encode(page)) < ROOM
            found = [message["id"] for message in page["data"]] + found
            before = page["before"]
    assert found == ground.ids


async def test_tasks_and_what_was_said_in_them_are_listed_page_by_page(ground: Ground) -> None:
    caller = await ground.talker.with_key("threads")
    headers = {**V1, **dict(caller.credentials)}

    async def send(**where: str) -> Any:
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": LONG}], **where}
        sent = {"message": message, "configuration": {"returnImmediately": True}}
        async with caller.http.post("/a2a/message:send", json=sent, headers=headers) as answer:
            return (await answer.json())["task"]

    first = await send()
    where = {"contextId": first["contextId"]}
    tasks = {first["id"], *[(await send(**where))["id"] for _ in range(3)]}
    found: list[str] = []
    token = ""
    while True:
        path = f"/a2a/tasks?contextId={first['contextId']}&includeArtifacts=true&pageToken={token}"
        size, page = await read(caller.http, path, **headers)
        assert size < ROOM + 6 * len(LONG)
        assert len(page["tasks"]) < len(tasks)
        found += [task["id"] for task in page["tasks"]]
        if not (token := page["nextPageToken"]):
            break
    assert (len(found), set(found)) == (len(tasks), tasks)


async def test_a_task_of_many_turns_shows_the_newest_of_them(tmp_path: Path) -> None:
    cost = Money(Decimal("29.99"), "EUR")
    costly = offering(Action("pay", "Costs something.", "action", cost=cost), answer_nothing)
    async with talking(tmp_path, actions=[costly]) as talker:
        caller = await talker.with_key("actions", "threads")
        headers = {**V1, **dict(caller.credentials)}
        task: dict[str, Any] = {}
        for _ in range(4):
            data = {"action": "pay", "arguments": {"words": "x" * 200_000}}
            message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"data": data}]}
            where = {"taskId": task["id"], "contextId": task["contextId"]} if task else {}
            sent = {"message": {**message, **where}}
            async with caller.http.post("/a2a/message:send", json=sent, headers=headers) as answer:
                body = await answer.json()
                assert answer.status == 200, str(body)[:500]
                task = body["task"]
            assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        size, task = await read(caller.http, f"/a2a/tasks/{task['id']}", **headers)
        assert 0 < len(task["history"]) < 4
        assert size < 3 * 200_000


async def answer_nothing(_caller: str, _arguments: Mapping[str, Any]) -> str:
    return ""


async def test_a_transcript_is_read_a_little_at_a_time_while_it_is_sent(ground: Ground) -> None:
    _, transcript = await read(ground.talker.http, f"{THREADS}/{ground.thread}/transcript")
    assert len(transcript["messages"]) == COUNT
    transcripts = ground.talker.desk.desk.transcripts
    made = await transcripts.read_transcript(make_anonymous("127.0.0.1"), ground.thread, None)
    assert max([len(piece) async for piece in made.pieces()]) < 2 * 6 * len(LONG)


async def test_a_file_is_read_a_little_at_a_time_while_it_is_sent(ground: Ground) -> None:
    data = b"%PDF-1.7\n" + bytes(range(256)) * 4000
    keyed = await ground.talker.with_key("threads")
    file = (await keyed.upload(data=data)).ok["id"]
    path = f"/v1/files/{file}/content"
    async with keyed.http.get(path, headers=keyed.credentials) as answer:
        assert answer.headers["Content-Length"] == str(len(data))
        assert await answer.read() == data
    async with keyed.http.head(path, headers=keyed.credentials) as answer:
        assert answer.headers["Content-Length"] == str(len(data))
    kept = await file_reads.find(ground.talker.desk.store, file, now=0)
    assert kept is not None
    slices = file_reads.slices(ground.talker.desk.store, kept)
    assert max([len(piece) async for piece in slices]) == file_reads.SLICE_BYTES
