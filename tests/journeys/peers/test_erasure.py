"""What is kept of a partner's conversation goes with its thread, and with the person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.threads import Talker
from tests.support.desk.command import run
from tests.support.sites.partners import BOOKSHOP, LIBRARY, peer, serving_site, write_site

WAIT = 20
QUESTION = "How long do you lend e-readers?"
KEPT = "SELECT key FROM transport_bytes WHERE transport = 'peer:books'"


async def open_two(talker: Talker) -> tuple[str, list[tuple[str]]]:
    """Ask the partner on two threads; return the first, and what is kept of the second."""
    first = await talker.open(QUESTION, wait=WAIT)
    assert "three weeks" in first.ok["replies"][0]["content"][0]
    await talker.desk.store.settled()
    before = talker.rows(KEPT)
    await talker.without_key().open(QUESTION, wait=WAIT)
    await talker.desk.store.settled()
    others = [row for row in talker.rows(KEPT) if row not in before]
    assert (len(before), len(others)) == (1, 1)
    return first.id, others


@pytest.mark.sqlite
@pytest.mark.parametrize("how", ["person", "thread", "deleted"])
async def test_nothing_of_a_partners_conversation_is_left(tmp_path: Path, how: str) -> None:
    async with serving_site(write_site(tmp_path / "bookshop", BOOKSHOP)) as partner:
        toml = peer(partner.desk.url, topics=["e-readers"])
        site = write_site(tmp_path / "library", LIBRARY, toml)
        async with serving_site(site) as visitor:
            talker = await visitor.with_key("threads")
            thread_id, others = await open_two(talker)
            if how == "deleted":
                assert (await talker.send("DELETE", f"/v1/threads/{thread_id}")).status == 200
            else:
                ((owner,),) = talker.rows(f"SELECT owner FROM threads WHERE id = '{thread_id}'")
                named = ("--actor", owner) if how == "person" else ("--thread", thread_id)
                code, _, problems = await run("erase", "--data", site / "data", *named)
                assert code == 0, problems
            await talker.desk.store.settled()
            assert talker.rows(KEPT) == others
