"""What agents are told of, they may do: with their credential, on this thread, by their block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.journeys.aitp.runs.test_parties import joined
from tests.support.clients.hac import ACCEPT, face
from tests.support.clients.threads import talking

pytestmark = pytest.mark.requirement("HAC-9.1-1", "HAC-9.1-2")
BLOCK = '[[agent_limits]]\nname = "Reader"\nactions = ["content_search"]\n'


async def test_every_key_is_led_to_the_thread_of_its_call(tmp_path: Path) -> None:
    async with talking(tmp_path) as nobody:
        asking = {"query": "Tell me more"}
        for scope in ("actions", "threads"):
            talker = await nobody.with_key(scope)
            called = await face(talker, "POST", "/capabilities/content_search", asking)
            assert called.data["session_id"]
            assert "thread" in called.links
            thread = f"/v1/threads/{called.data['session_id']}"
            assert (await talker.send("GET", thread)).status == 200
            lost = await face(talker, "GET", "/v1/threads/none")
            assert lost.status == 404
            assert "create-thread" in rels(lost.error)


@pytest.mark.sqlite
async def test_a_message_shows_what_its_author_and_the_owner_may_see(tmp_path: Path) -> None:
    async with talking(tmp_path) as nobody:
        owner = await nobody.with_key()
        at = f"/v1/threads/{(await owner.open('Where is the shop?')).id}"
        guest = await joined(owner, at.rpartition("/")[2], "guest")
        wait = [ACCEPT, ("Prefer", "wait=10")]
        said = await face(guest, "POST", f"{at}/messages", {"content": "And when?"}, headers=wait)
        assert said.rels == ["post-message", "edit", "delete"]
        message = said.link("self")
        assert (await face(owner, "GET", message)).rels == ["post-message", "delete"]
        answer = f"{at}/messages/{said.data['replies'][0]['id']}"
        assert (await face(owner, "GET", answer)).rels == ["post-message", "delete"]
        assert (await face(guest, "GET", answer)).rels == ["post-message"]
        for talker, path, status in ((owner, message, 403), (guest, message, 200)):
            noted = await talker.send("POST", path, {"metadata": {"a": "b"}})
            assert noted.status == status
        assert (await guest.send("DELETE", answer)).status == 403
        edit = said.action("edit")
        again = await face(guest, edit["method"], edit["href"], {"metadata": {"a": "c"}})
        assert (again.data["metadata"]["a"], again.rels) == ("c", said.rels)
        gone = await face(guest, "DELETE", said.action("delete")["href"])
        assert gone.data["deleted"]


async def test_an_agent_learns_nothing_that_its_block_leaves_out(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "content").mkdir(parents=True)
    (site / "content" / "facts.md").write_text("# Facts\n\nThe shop is in Leeds.\n", "utf-8")
    (site / "desk.toml").write_text(f'[content]\nfolder = "content"\n{BLOCK}', "utf-8")
    async with talking(tmp_path, "limits.enabled=true", site=site) as nobody:
        for name, may in (("Reader/1.0", False), ("Other/1.0", True)):
            headers = [ACCEPT, ("User-Agent", name)]
            root = await face(nobody, "GET", "/", headers=headers)
            places = {one["rel"] for one in root.told["resources"]}
            assert ("threads" in places) is may
            assert "content-search" in places
            asked = {"query": "Where is the shop?"}
            called = await face(
                nobody, "POST", "/capabilities/content_search", asked, headers=headers
            )
            assert ("thread" in called.links) is may
            opened = await face(nobody, "POST", "/v1/threads", {}, headers=headers)
            assert (opened.status == 200) is may


def rels(error: Any) -> list[str]:
    return [one["rel"] for one in error["recovery"].get("actions", ())]
