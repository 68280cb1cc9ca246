"""One desk of two processes on PostgreSQL: no caller has to come back to the same one."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.keys.tokens import revoke_token
from aitp_desk.store.units.threads.grants import revoke_grant
from tests.support.access.keys import make_key
from tests.support.clients.event_stream import following, numbers
from tests.support.clients.mcp import MODES, tool_user
from tests.support.clients.threads import THREADS, Talker
from tests.support.desk.desk_cluster import WITHOUT_LIMITS, DeskCluster, serving_cluster
from tests.support.desk.processes import desk_command, free_port, serving_process
from tests.support.desk.server import SITE
from tests.support.store.postgres import PostgresServer

pytestmark = [pytest.mark.servers, pytest.mark.asyncio(loop_scope="module")]

V1 = [("A2A-Version", "1.0"), ("Accept", "application/json")]
EMPTY = b"{}"
QUESTION = "What does gift wrapping cost?"
REVOKED_SECONDS = 1.0
"""How soon a revoked key is refused, as docs/run/security.md says."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[DeskCluster]:
    async with serving_cluster(postgres, tmp_path_factory.mktemp("cluster")) as served:
        yield served


# --- one conversation, at whichever process -------------------------------------------------


async def test_each_process_says_which_one_it_is(cluster: DeskCluster) -> None:
    key = await cluster.make_key("operator", name="prometheus")
    for number, http in enumerate(cluster.clients, 1):
        async with http.get("/ready") as response:
            assert (await response.json())["worker"] == str(number)
        async with http.get("/metrics", headers={"Authorization": f"Bearer {key}"}) as response:
            lines = (await response.text()).splitlines()
        samples = [line for line in lines if not line.startswith("#")]
        assert samples
        assert all(f'worker="{number}"' in sample for sample in samples)


async def test_each_process_reports_the_health_of_all(cluster: DeskCluster) -> None:
    key = await cluster.make_key("operator", name="watcher")
    host = socket.gethostname()
    wanted = {f"process:{host}/1": "up", f"process:{host}/2": "up"}

    counts: list[int] = []

    async def processes(http: aiohttp.ClientSession) -> dict[str, str]:
        async with http.get("/ready", headers={"Authorization": f"Bearer {key}"}) as response:
            components = (await response.json())["components"]
        (counted,) = (one["reason"] for one in components if one["name"] == "processes")
        found = {one["name"]: one for one in components if "process:" in one["name"]}
        assert all(one["reason"].startswith("Process ") for one in found.values())
        assert counted.startswith(str(len(found)))
        counts.append(int(counted.partition("Requests: ")[2].partition(",")[0]))
        return {name: one["status"] for name, one in found.items()}

    async with asyncio.timeout(30):  # each has to report once, and to read the other's report
        for http in cluster.clients:
            while await processes(http) != wanted:  # noqa: ASYNC110 - they are processes
                await asyncio.sleep(0.1)
        for http in cluster.clients:
            for _ in range(20):
                await processes(http)
        asked = len(counts)
        while counts[-1] < asked:  # requests to both, as each of them counts
            await processes(cluster.clients[0])


async def test_a_plain_process_has_its_port_as_a_label(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url, port, data = await postgres.begin("plain"), free_port(), tmp_path / "data"
    async with PostgresStore.open(url, {}) as store:
        key = await make_key(store, data, "operator", name="prometheus")
    for _ in range(2):  # also after a restart
        command = desk_command(data, port, f"store.url={url}", *WITHOUT_LIMITS, folder=SITE)
        with serving_process(command, port, log=tmp_path / "log") as served:
            async with aiohttp.ClientSession(served.url) as http:
                async with http.get("/ready") as response:
                    assert (await response.json())["worker"] == str(port)
                headers = {"Authorization": f"Bearer {key}"}
                async with http.get("/metrics", headers=headers) as response:
                    assert f'aitp_desk_streams{{worker="{port}"}} 0.0' in await response.text()


async def test_a_thread_goes_on_at_another_process(cluster: DeskCluster) -> None:
    one, other = cluster.talkers()
    opened = await one.open("Hello.", wait=20)
    thread = opened.id
    assert opened.ok["run"]["status"] == "completed"
    answered = (await other.post(thread, QUESTION, wait=20)).ok
    assert "2 EUR" in answered["replies"][0]["content"][0]
    assert await one.texts(thread) == await other.texts(thread)
    assert len(await one.texts(thread)) == 4


async def test_a_stream_shows_what_another_process_writes(cluster: DeskCluster) -> None:
    one, other = cluster.talkers()
    thread = (await one.open(headers=[("OpenAI-Beta", "assistants=v2")])).id
    async with following(one, thread) as here, following(other, thread) as there:
        await other.post(thread, QUESTION)
        seen = [await stream.until_named("run.completed") for stream in (here, there)]
        assert numbers(seen[0]) == numbers(seen[1])
        messages = [[one.data for one in heard if one.name == "message.created"] for heard in seen]
        assert messages[0] == messages[1]
        assert len(messages[0]) == 2
    async with following(other, thread, headers=[("Last-Event-ID", "1")]) as resumed:
        again = await resumed.until_named("run.completed")
        assert numbers(again) == [number for number in numbers(seen[0]) if number > 1]


async def test_a_caller_waits_at_one_process_for_a_run_of_another(cluster: DeskCluster) -> None:
    one, other = cluster.talkers()
    thread = (await one.open(headers=[("OpenAI-Beta", "assistants=v2")])).id
    key = [("Idempotency-Key", "waits-at-another-process")]
    first = (await one.post(thread, QUESTION, headers=key)).ok
    waited = (await other.post(thread, QUESTION, headers=key, wait=20)).ok
    assert waited["id"] == first["id"]
    assert waited["run"]["status"] == "completed"
    assert "2 EUR" in waited["replies"][0]["content"][0]


async def test_a_session_over_ahp_goes_on_at_another_process(cluster: DeskCluster) -> None:
    one, other = cluster.visitors()
    said = await one.ask("What does shipping cost?")
    session = said.session_id
    for turn, visitor in enumerate((other, one, other, other, one, one, other, one, other), 2):
        said = await visitor.ask(QUESTION, session_id=session)
        assert "2 EUR" in said.answer
        assert said.session_id == session
        assert turn <= 10
    # every turn was counted, wherever it was
    for visitor in (one, other):
        refused = await visitor.ask(QUESTION, session_id=session)
        assert refused.refusal[:2] == (400, "invalid_request")
        assert refused.body["detail"] == "session_limit"
    kept = await reads.session(cluster.store, session)
    assert kept is not None
    talker = cluster.talkers()[1]
    assert len(await talker.texts(kept.thread_id)) == 20


async def test_turns_of_a_session_at_several_processes_at_once_are_all_counted(
    cluster: DeskCluster,
) -> None:
    visitors = cluster.visitors()
    session = (await visitors[0].ask(QUESTION)).session_id
    for _ in range(3):
        asked = (one.ask(QUESTION, session_id=session) for one in visitors)
        for told in await asyncio.gather(*asked):
            assert "2 EUR" in told.answer
    kept = await reads.session(cluster.store, session)
    assert kept is not None
    assert kept.turns == 1 + 3 * len(visitors)


async def test_a_question_that_the_desk_asks_is_answered_at_another_process(
    cluster: DeskCluster,
) -> None:
    one, other = cluster.visitors()
    first = await one.ask("Which one did I just ask about?")
    then = await other.ask(QUESTION, session_id=first.session_id)
    assert "2 EUR" in then.answer
    about = await one.ask("What did I just ask about?", session_id=first.session_id)
    assert "gift wrapping" in about.answer.lower()


async def test_tools_over_mcp_are_called_at_any_process(cluster: DeskCluster) -> None:
    session = ""
    for mode in MODES:
        for url in (*cluster.urls, *cluster.urls):
            async with tool_user(url, mode) as client:
                given: dict[str, Any] = {"query": QUESTION}
                if session:
                    given["session_id"] = session
                result = await client.call_tool("content_search", given)
                assert not result.is_error, result
                content = result.structured_content
                assert session in ("", content["session_id"])
                session = content["session_id"]
                assert "2 EUR" in content["answer"]


async def test_a_task_over_a2a_is_read_and_continued_at_another_process(
    cluster: DeskCluster,
) -> None:
    one, other = cluster.talkers()
    first = await send_task(one, QUESTION)
    read = (await other.send("GET", f"/a2a/tasks/{first['id']}", headers=V1)).ok
    assert read["status"]["state"] == "TASK_STATE_COMPLETED"
    second = await send_task(other, "What does shipping cost?", contextId=first["contextId"])
    assert second["contextId"] == first["contextId"]
    listed = (await one.send("GET", f"/a2a/tasks?contextId={first['contextId']}", headers=V1)).ok
    assert {task["id"] for task in listed["tasks"]} == {first["id"], second["id"]}


async def send_task(who: Talker, text: str, **members: Any) -> Any:
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}], **members}
    told = await who.send("POST", "/a2a/message:send", {"message": message}, headers=V1)
    return told.ok["task"]


# --- once, at whichever process -------------------------------------------------------------


async def test_an_idempotency_key_means_the_same_at_every_process(cluster: DeskCluster) -> None:
    one, other = cluster.talkers()
    key = [("Idempotency-Key", "same-at-every-process-1")]
    opened = await one.open("Hello.", headers=key)
    assert (await other.open("Hello.", headers=key)).id == opened.id
    refused = await other.open("Something else.", headers=key)
    assert refused.status == 409


async def test_of_many_requests_at_once_with_one_key_one_takes_effect(
    cluster: DeskCluster,
) -> None:
    thread = (await cluster.talkers()[0].open(headers=[("OpenAI-Beta", "assistants=v2")])).id
    for number in range(5):
        key = [("Idempotency-Key", f"many-at-once-{number:08}"), ("OpenAI-Beta", "assistants=v2")]
        posts = [
            who.post(thread, f"Number {number}.", headers=key)
            for _ in range(4)
            for who in cluster.talkers()
        ]
        told = await asyncio.gather(*posts)
        assert {one.status for one in told} <= {200, 409}
        assert len({one.id for one in told if one.status == 200}) == 1
    texts = await cluster.talkers()[1].texts(thread)
    assert texts == [f"Number {number}." for number in range(5)]


async def test_a_signed_request_is_not_replayed_at_another_process(cluster: DeskCluster) -> None:
    signer = await cluster.make_signing_key("threads", name="signer")
    one, other = cluster.talkers()
    for first, second in ((one, other), (other, one)):
        headers = [signer.sign("POST", THREADS, EMPTY)]
        assert (await first.send("POST", THREADS, EMPTY, headers=headers)).status == 200
        assert (await second.send("POST", THREADS, EMPTY, headers=headers)).status == 401
    headers = [signer.sign("POST", THREADS, EMPTY)]
    sent = (who.send("POST", THREADS, EMPTY, headers=headers) for who in (one, other, one, other))
    told = await asyncio.gather(*sent)
    assert sorted(one.status for one in told) == [200, 401, 401, 401]


async def test_a_revoked_key_is_refused_by_every_process(cluster: DeskCluster) -> None:
    key = await cluster.make_key("threads", name="revoked")
    talkers = cluster.talkers(key)
    assert [(await one.send("POST", THREADS, EMPTY)).status for one in talkers] == [200, 200]
    await cluster.store.run(revoke_token, id_or_name="revoked", now=int(time.time()))
    revoked = time.monotonic()
    for one in talkers:
        while (await one.send("POST", THREADS, EMPTY)).status != 401:
            assert time.monotonic() < revoked + REVOKED_SECONDS


async def test_nothing_follows_a_revocation_whose_notice_never_comes(cluster: DeskCluster) -> None:
    owner, guest = [await cluster.make_key("threads", name=name) for name in ("owner", "guest")]
    here, there = cluster.talkers(owner)
    thread = (await there.open("Hello.", wait=20)).id
    owner_id, guest_id = (f"key:{key.split('_')[1]}" for key in (owner, guest))
    body = {"may": "read", "principal": guest_id}
    grant = (await there.send("POST", f"{THREADS}/{thread}/grants", body)).id
    follower = cluster.talkers(guest)[0]
    async with following(follower, thread) as listener, following(here, thread) as stays:
        assert (await listener.next()).name == "following"
        # as by a process that is killed after its commit
        await cluster.store.run(
            revoke_grant,
            thread_id=thread,
            grant_id=grant,
            principal=Principal(owner_id, PrincipalKind.AGENT, frozenset({"threads"}), "192.0.2.1"),
            now=int(time.time()),
            idle_before=0,
        )
        await there.post(thread, "To myself.")
        await stays.until_named("message.created")
        assert await listener.rest() == []


# --- after a crash --------------------------------------------------------------------------


async def test_what_was_acknowledged_outlives_a_process_that_is_killed(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    async with serving_cluster(postgres, tmp_path, database="killed") as cluster:
        thread = (await cluster.talkers()[0].open(headers=[("OpenAI-Beta", "assistants=v2")])).id
        acknowledged: list[str] = []
        news: asyncio.Queue[None] = asyncio.Queue()

        async def post(name: str) -> None:
            number = 0
            async with aiohttp.ClientSession(cluster.served.url) as http:
                while not over.is_set():
                    said, headers = f"{name} {number}", {"OpenAI-Beta": "assistants=v2"}
                    body = {"role": "user", "content": said}
                    headers["Idempotency-Key"] = f"kill-{name}-{number:016}"
                    try:
                        async with http.post(
                            f"{THREADS}/{thread}/messages", json=body, headers=headers
                        ) as response:
                            if response.status == 200:
                                acknowledged.append(said)
                                news.put_nowait(None)
                                number += 1
                    except aiohttp.ClientError:
                        pass  # cut off; sent again with the same key

        over = asyncio.Event()
        clients = [asyncio.create_task(post(name)) for name in "abcdef"]
        for _ in range(2):
            for _ in range(100):
                await news.get()
            started = await cluster.until("worker_started", worker="2")
            os.kill(started["pid"], signal.SIGKILL)
            await cluster.until("worker_died", worker="2")
        for _ in range(100):
            await news.get()
        over.set()
        await asyncio.gather(*clients)
        texts = await all_texts(cluster.talkers()[0], thread)
    assert sorted(texts) == sorted(acknowledged)
    for name in "abcdef":
        own = [text for text in texts if text.startswith(name)]
        assert own == [f"{name} {number}" for number in range(len(own))]


async def test_one_that_stands_still_is_replaced_and_no_caller_waits_for_it(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    async with serving_cluster(postgres, tmp_path, database="hung") as cluster:

        async def ask() -> str:
            async with (
                aiohttp.ClientSession(cluster.served.url) as http,
                http.get("/ready") as response,
            ):
                worker: str = (await response.json())["worker"]
                return worker

        started = await cluster.until("worker_started", worker="2")
        os.kill(started["pid"], signal.SIGSTOP)
        assert {await ask() for _ in range(30)} == {"1"}
        hung = await cluster.until("worker_hung")
        assert (hung["worker"], hung["pid"]) == ("2", started["pid"])
        async with asyncio.timeout(60):
            while await ask() != "2":
                pass


async def all_texts(talker: Talker, thread: str) -> list[str]:
    texts: list[str] = []
    after = ""
    while True:
        page = (await talker.messages(thread, f"?order=asc&limit=100{after}")).ok
        texts += [message["content"][0] for message in page["data"]]
        if not page["has_more"]:
            return texts
        after = f"&after={page['last_id']}"


async def test_all_processes_are_replaced_and_no_request_fails(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    async with serving_cluster(postgres, tmp_path, database="replaced") as cluster:
        answered: list[int] = []
        over = asyncio.Event()

        async def ask() -> None:
            while not over.is_set():
                # a new connection each time: one that stands may be closed between two requests
                async with (
                    aiohttp.ClientSession(cluster.served.url) as http,
                    http.post("/v1/threads", json={"messages": []}) as response,
                ):
                    await response.read()
                    answered.append(response.status)

        clients = [asyncio.create_task(ask()) for _ in range(4)]
        cluster.served.process.send_signal(signal.SIGHUP)
        await cluster.until("workers_replaced")
        over.set()
        await asyncio.gather(*clients)
        assert set(answered) == {200}
