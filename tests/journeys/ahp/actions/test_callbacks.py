"""Who names an address learns there how a long call has ended, in the words of the caller."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_key
from aitp_desk.store.units.keys.tokens import rotate_token
from aitp_desk.visitor import Identity, Outcome, visit
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.callback_receiver import receiving, verified
from tests.support.sites.orders import Caller, Research, calling, write_site

LOOPBACK = "egress.allow_loopback=true"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path)


async def asked_after(caller: Caller, session_id: str) -> bytes:
    path = f"/agent/converse/status/{session_id}"
    async with caller.talker.http.get(path, headers=caller.talker.credentials) as response:
        return await response.read()


@pytest.mark.requirement("AHP-6.4-2", "AHP-6.4-3", "AHP-9.1-3")
async def test_the_end_is_called_back_signed_and_as_a_poll_returns_it(
    tmp_path: Path, site: Path
) -> None:
    research = Research()
    async with (
        receiving() as receiver,
        calling(tmp_path, site, LOOPBACK, actions=(research.offered,)) as caller,
    ):
        desk, data = caller.talker.desk, tmp_path / "data"
        assert caller.talker.key is not None
        key_id = caller.talker.key.split("_")[1]
        secret = webhook_secret_of_key(await open_data_keys(desk.store, data, {}), key_id, 1, 1)
        for number, (topic, status) in enumerate({"moths": "success", "nothing": "failed"}.items()):
            research.go_on.clear()
            said = await caller.ask({"topic": topic}, "research", callback_url=receiver.url)
            assert said.body["callback"] == {"method": "POST", "url": receiver.url}
            assert len(receiver.got) == number
            research.go_on.set()
            await receiver.told(number + 1)
            assert (await caller.ended(said.session_id)).body["status"] == status
            delivery = receiver.got[-1]
            assert delivery.body == await asked_after(caller, said.session_id)
            assert verified(secret, delivery)["session_id"] == said.session_id
            assert (said.body["eta_seconds"] is None) is (number == 0)
        ids = [delivery.headers["webhook-id"] for delivery in receiver.got]
        assert ids == [id_ for (id_,) in caller.talker.rows("SELECT id FROM calls ORDER BY id")]


async def test_a_visitor_that_is_called_back_reads_the_result_in_a_later_visit(
    tmp_path: Path, site: Path
) -> None:
    research = Research()
    async with (
        receiving() as receiver,
        calling(tmp_path, site, LOOPBACK, actions=(research.offered,)) as caller,
    ):
        url, key = caller.talker.desk.url, caller.talker.key
        identity = Identity("scout", callback_url=receiver.url)
        async with visit(url, protocol="ahp", credential=key, identity=identity) as visited:
            waiting = await visited.call("research", {"topic": "moths"})
        kept = msgspec.json.encode(waiting)
        research.go_on.set()
        await receiver.told()
        async with visit(url, protocol="ahp", credential=key) as visited:
            done = await visited.poll(msgspec.json.decode(kept, type=Outcome))
    assert waiting.kind == "waiting"
    assert (done.kind, done.result) == ("done", {"found": "moths"})


@pytest.mark.slow
async def test_an_end_after_a_restart_is_called_back(tmp_path: Path, site: Path) -> None:
    first, second = Research(is_idempotent=True), Research(is_idempotent=True)
    second.go_on.set()
    stop = "server.shutdown_seconds=1"
    async with receiving() as receiver:
        async with calling(tmp_path, site, LOOPBACK, stop, actions=(first.offered,)) as caller:
            key = caller.talker.key
            said = await caller.ask({"topic": "moths"}, "research", callback_url=receiver.url)
            await first.begun.wait()
        async with talking(tmp_path, LOOPBACK, site=site, actions=(second.offered,)) as talker:
            caller = Caller(Talker(talker.desk, tmp_path / "data", talker.http, key), site)
            await receiver.told()
            assert receiver.got[0].body == await asked_after(caller, said.session_id)


@pytest.mark.slow
async def test_what_is_not_offered_any_more_has_failed_and_that_is_reported(
    tmp_path: Path, site: Path
) -> None:
    research = Research()
    stop = "server.shutdown_seconds=1"
    async with receiving() as receiver:
        async with calling(tmp_path, site, LOOPBACK, stop, actions=(research.offered,)) as caller:
            key = caller.talker.key
            said = await caller.ask({"topic": "moths"}, "research", callback_url=receiver.url)
            await research.begun.wait()
        async with talking(tmp_path, LOOPBACK, site=site) as talker:
            caller = Caller(Talker(talker.desk, tmp_path / "data", talker.http, key), site)
            await receiver.told()
            assert (await caller.ended(said.session_id)).body["status"] == "failed"


@pytest.mark.requirement("AHP-13-5")
async def test_an_address_that_may_not_be_told_is_refused_before_anything_is_done(
    tmp_path: Path, site: Path
) -> None:
    research = Research()
    order = {"topic": "moths"}
    async with calling(tmp_path, site, actions=(research.offered,)) as caller:
        before = caller.talker.counts()
        for url in (
            "http://127.0.0.1:9/told",
            "https://127.0.0.1/told",
            "https://10.0.0.7/told",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/told",
            "https://localhost/told",
            "http://agent.example/told",
            "file:///etc/passwd",
            "nowhere",
        ):
            said = await caller.ask(order, "research", callback_url=url)
            assert said.refusal[:2] == (400, "invalid_request"), url
            assert said.body["param"] == "context.callback_url"
        assert caller.talker.counts() == before
        assert research.calls == []


async def test_a_call_that_ends_within_the_request_sends_no_callback(
    tmp_path: Path, site: Path
) -> None:
    async with (
        receiving() as receiver,
        calling(tmp_path, site, LOOPBACK) as caller,
    ):
        said = await caller.ask({"sku": "ABC-01"}, "check_stock", callback_url=receiver.url)
        assert said.status == 200
        assert "callback" not in said.body
        assert caller.talker.rows("SELECT callback_url FROM calls") == [(None,)]
        assert caller.talker.rows("SELECT count(*) FROM jobs WHERE kind = 'callback'") == [(0,)]


async def rotate(caller: Caller) -> None:
    """Give the caller's key another secret; the present one does not work on."""
    ((key_id,),) = caller.talker.rows("SELECT id FROM tokens")
    now = int(time.time())
    await caller.talker.desk.store.run(
        rotate_token,
        id=key_id,
        version=1,
        hash=b"another",
        data_key=1,
        previous_until=now,
        now=now,
    )


async def claim(caller: Caller) -> None:
    """Have another caller claim the thread of the only call."""
    ((thread,),) = caller.talker.rows("SELECT thread_id FROM calls")
    owner = await caller.talker.with_key("threads")
    assert (await owner.send("POST", f"/v1/threads/{thread}/claim", {})).status == 200


async def nothing(_caller: Caller) -> None:
    """Nothing changes."""


@pytest.mark.parametrize(
    ("lose", "is_known", "count"),
    [(nothing, True, 1), (nothing, False, 1), (rotate, True, 0), (claim, False, 0)],
)
async def test_who_may_not_know_the_call_any_more_is_not_called_back(
    tmp_path: Path, site: Path, lose: Any, is_known: bool, count: int
) -> None:
    research = Research()
    offered = research.offered
    opened = replace(offered, action=replace(offered.action, open_to="anyone"))
    async with (
        receiving() as receiver,
        calling(
            tmp_path,
            site,
            LOOPBACK,
            "oauth.enabled=true",
            actions=(opened,),
        ) as caller,
    ):
        asker = caller if is_known else caller.anybody
        await asker.ask({"topic": "moths"}, "research", callback_url=receiver.url)
        await research.begun.wait()
        await lose(caller)
        research.go_on.set()
        told = "SELECT count(*) FROM jobs WHERE kind = 'callback' AND state = 'done'"
        async with asyncio.timeout(60):
            while caller.talker.rows(told) != [(1,)]:
                await caller.talker.desk.store.settled()
        assert len(receiver.got) == count
