"""A call by arguments that names an address reports the end of a long call there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_key
from tests.support.clients.threads import Talker, Told, talking
from tests.support.doubles.callback_receiver import receiving, verified
from tests.support.sites.orders import Research, write_site

LOOPBACK = "egress.allow_loopback=true"
RESEARCH = "/capabilities/research"
BOOKS = """
[content]
folder = "pages"
[[agents]]
name = "books"
actions = "appraisals"
[agents.content]
folder = "books"
"""
APPRAISALS = '''
"""What the booksellers do."""

from aitp_desk.actions import action


@action(kind="async", mutability="read_only", blast_radius="self")
def appraise(title: str) -> dict[str, str]:
    """Says what a book is worth."""
    return {"worth": f"{title}: a little"}
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path)


async def post(talker: Talker, path: str, **arguments: Any) -> Told:
    return await talker.send("POST", path, arguments)


async def asked_after(talker: Talker, accepted: Told) -> bytes:
    async with talker.http.get(accepted.body["poll"], headers=talker.credentials) as response:
        return await response.read()


async def secret_of(talker: Talker, folder: Path) -> str:
    assert talker.key is not None
    keys = await open_data_keys(talker.desk.store, folder / "data", {})
    return webhook_secret_of_key(keys, talker.key.split("_")[1], 1, 1)


async def test_the_end_is_called_back_signed_and_as_a_poll_returns_it(
    tmp_path: Path, site: Path
) -> None:
    research = Research()
    async with (
        receiving() as receiver,
        talking(tmp_path, LOOPBACK, site=site, actions=(research.offered,)) as stranger,
    ):
        caller = await stranger.with_key("actions")
        secret = await secret_of(caller, tmp_path)
        for number, (topic, status) in enumerate({"moths": "success", "nothing": "failed"}.items()):
            research.go_on.clear()
            told = await post(caller, RESEARCH, topic=topic, _callback_url=receiver.url)
            assert told.status == 202
            assert told.body["callback"] == {"method": "POST", "url": receiver.url}
            assert len(receiver.got) == number
            research.go_on.set()
            await receiver.told(number + 1)
            delivery = receiver.got[-1]
            assert delivery.body == await asked_after(caller, told)
            body = verified(secret, delivery)
            assert (body["id"], body["status"]) == (told.body["id"], status)
            assert delivery.headers["webhook-id"] == told.body["id"]
        assert len(research.calls) == 2


@pytest.mark.slow
async def test_an_end_after_a_restart_is_called_back(tmp_path: Path, site: Path) -> None:
    first, second = Research(is_idempotent=True), Research(is_idempotent=True)
    second.go_on.set()
    stop = "server.shutdown_seconds=1"
    async with receiving() as receiver:
        async with talking(
            tmp_path, LOOPBACK, stop, site=site, actions=(first.offered,)
        ) as stranger:
            caller = await stranger.with_key("actions")
            told = await post(caller, RESEARCH, topic="moths", _callback_url=receiver.url)
            await first.begun.wait()
        async with talking(tmp_path, LOOPBACK, site=site, actions=(second.offered,)) as talker:
            caller = Talker(talker.desk, tmp_path / "data", talker.http, caller.key)
            await receiver.told()
            assert receiver.got[0].body == await asked_after(caller, told)


async def test_a_repeat_is_accepted_the_same_and_told_once(tmp_path: Path, site: Path) -> None:
    research = Research()
    async with (
        receiving() as receiver,
        talking(tmp_path, LOOPBACK, site=site, actions=(research.offered,)) as stranger,
    ):
        caller = await stranger.with_key("actions")
        key = ("Idempotency-Key", "7f2c-1")
        body = {"topic": "moths", "_callback_url": receiver.url}
        first, again = [await caller.send("POST", RESEARCH, body, headers=[key]) for _ in range(2)]
        assert first.body["id"] == again.body["id"]
        assert again.body["callback"] == first.body["callback"]
        research.go_on.set()
        await receiver.told()
        assert len(caller.rows("SELECT id FROM jobs WHERE kind = 'callback'")) == 1


async def test_an_address_that_may_not_be_told_is_refused_before_anything_is_done(
    tmp_path: Path, site: Path, subtests: pytest.Subtests
) -> None:
    cases: list[Any] = [
        "http://127.0.0.1:9/told",
        "https://10.0.0.7/told",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/told",
        "http://agent.example/told",
        "file:///etc/passwd",
        "nowhere",
        "https://agent.example/" + "x" * 2048,
        7,
    ]
    research = Research()
    async with talking(tmp_path, site=site, actions=(research.offered,)) as stranger:
        for url in cases:
            with subtests.test(url=url):
                caller = await stranger.with_key("actions")
                told = await post(caller, RESEARCH, topic="moths", _callback_url=url)
                assert (told.status, told.body["param"]) == (400, "_callback_url")
                assert caller.rows("SELECT id FROM calls") == []
                assert research.calls == []


async def test_nobody_is_called_back_where_the_owner_wants_none(tmp_path: Path, site: Path) -> None:
    research = Research()
    settings = (LOOPBACK, "callbacks.enabled=false")
    async with talking(tmp_path, *settings, site=site, actions=(research.offered,)) as stranger:
        caller = await stranger.with_key("actions")
        told = await post(
            caller, RESEARCH, topic="moths", _callback_url="https://agent.example/told"
        )
        assert (told.status, told.body["param"]) == (400, "_callback_url")


async def test_a_call_that_ends_within_the_request_sends_no_callback(
    tmp_path: Path, site: Path
) -> None:
    async with (
        receiving() as receiver,
        talking(tmp_path, LOOPBACK, site=site) as stranger,
    ):
        caller = await stranger.with_key("actions")
        path = "/capabilities/check_stock"
        told = await post(caller, path, sku="ABC-12", _callback_url=receiver.url)
        assert told.ok["result"] == {"sku": "ABC-12", "left": 7}
        assert caller.rows("SELECT id FROM jobs") == []


async def test_calls_of_a_further_agent_are_told_in_its_own_words(
    tmp_path: Path, site: Path
) -> None:
    with (site / "desk.toml").open("a", encoding="utf-8") as toml:
        toml.write(BOOKS)
    (site / "appraisals.py").write_text(APPRAISALS, "utf-8")
    (site / "pages").mkdir()
    (site / "index.md").rename(site / "pages" / "index.md")
    (site / "books").mkdir()
    (site / "books" / "poems.md").write_text("# Poems\n\nThey stand on the left.\n", "utf-8")
    async with (
        receiving() as receiver,
        talking(tmp_path, LOOPBACK, site=site) as stranger,
    ):
        caller = await stranger.with_key("actions")
        path = "/books/capabilities/appraise"
        told = await post(caller, path, title="A herbal", _callback_url=receiver.url)
        assert told.status == 202
        await receiver.told()
        body = verified(await secret_of(caller, tmp_path), receiver.got[0])
        assert body["result"] == {"worth": "A herbal: a little"}
        assert receiver.got[0].body == await asked_after(caller, told)


async def test_the_document_describes_the_callback(tmp_path: Path, site: Path) -> None:
    async with talking(tmp_path, site=site, actions=(Research().offered,)) as talker:
        described = (await talker.send("GET", "/openapi.json")).ok
    arguments = described["components"]["schemas"]["research.arguments"]["properties"]
    assert arguments["_callback_url"]["format"] == "uri"
    told = described["paths"][RESEARCH]["post"]["callbacks"]["ended"]
    assert list(told) == ["{$request.body#/_callback_url}"]
    others = described["paths"]["/capabilities/check_stock"]["post"]
    assert "callbacks" not in others
