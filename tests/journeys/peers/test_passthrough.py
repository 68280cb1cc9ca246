"""An agent whose threads are forwarded to a partner."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.threads import Talker, Told
from tests.support.sites.boots import write_boots
from tests.support.sites.partners import (
    BOOKSHOP,
    FORWARDING,
    LIBRARY,
    RESUMED,
    peer,
    serving_site,
    write_site,
)

WAIT = [("Prefer", "wait=20")]
THREADS = "/desk2/v1/threads"


def library(folder: Path, url: str, protocol: str = "") -> Path:
    given = {"title": "Norwood Books", "passthrough": "desk2", "protocol": protocol}
    toml = FORWARDING + peer(url, **given)
    return write_site(folder, LIBRARY, toml, desk2="# Nothing\n\nNothing is here.\n")


async def open_at(talker: Talker, text: str) -> Told:
    body = {"messages": [{"role": "user", "content": text}]}
    return await talker.send("POST", THREADS, body, headers=WAIT)


async def post(talker: Talker, thread_id: str, text: str) -> Told:
    body = {"role": "user", "content": text}
    return await talker.send("POST", f"{THREADS}/{thread_id}/messages", body, headers=WAIT)


def replied(told: Told) -> str:
    return "\n".join(told.ok["replies"][0]["content"])


@pytest.mark.requirement("AITP-supported-transports-4", "AITP-transport-1")
@pytest.mark.parametrize("protocol", RESUMED)
async def test_each_message_goes_on_in_the_partners_conversation(
    tmp_path: Path, protocol: str
) -> None:
    async with serving_site(write_site(tmp_path / "bookshop", BOOKSHOP)) as partner:
        site = library(tmp_path / "library", partner.desk.url, protocol)
        async with serving_site(site) as talker:
            first = await open_at(talker, "How long do you lend e-readers?")
            assert "**Norwood Books**: " in replied(first)
            assert "three weeks" in replied(first)
        # the same conversation after a restart of the desk
        async with serving_site(site) as talker:
            second = await post(talker, first.id, "How long is a gift card valid?")
            assert "four years" in replied(second)
        await partner.desk.store.settled()
        assert partner.counts()["threads"] == 1
        assert len(partner.rows("SELECT id FROM messages WHERE origin = 'visitor'")) == 2


@pytest.mark.parametrize("protocol", RESUMED)
async def test_a_partners_question_is_the_threads_question(tmp_path: Path, protocol: str) -> None:
    (tmp_path / "boots").mkdir()
    async with serving_site(write_boots(tmp_path / "boots")) as partner:
        site = library(tmp_path / "library", partner.desk.url, protocol)
        async with serving_site(site) as talker:
            asked = await open_at(talker, "What is the price?")
            assert "**Norwood Books**: " in replied(asked)
            assert "Ski boots" in replied(asked)
            chosen = await post(talker, asked.id, "Ski boots: Price")
            assert "240 EUR" in replied(chosen)


async def test_the_agents_own_pages_are_not_searched(tmp_path: Path) -> None:
    site = library(tmp_path / "library", "http://127.0.0.1:9")
    async with serving_site(site) as talker:
        told = await open_at(talker, "What is here?")
        assert "Norwood Books cannot be reached now" in replied(told)
        assert "Nothing is here" not in replied(told)
