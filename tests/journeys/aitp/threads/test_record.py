"""The record of a thread proves itself: a salted digest and a link for every message.

Computed here from the description alone (``docs/protocols/threads.md``), with another
implementation of RFC 8785 than the desk's.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import rfc8785

from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent

COLUMNS = "thread_id, seq, role, actor, created_at, content, attachments, salt, digest, link"


def check_chain(talker: Talker, thread_id: str) -> int:
    """Recompute every digest and link of a thread; how many there were."""
    link = bytes(32)
    rows = talker.rows(f"SELECT {COLUMNS} FROM messages WHERE thread_id = '{thread_id}' ORDER BY 2")
    for place, row in enumerate(rows, 1):
        thread, seq, role, actor, created_at, content, attachments, salt, digest, kept_link = row
        assert seq == place
        assert len(salt) == 16
        said = {
            "v": 1,
            "thread": thread,
            "seq": seq,
            "role": role,
            "actor": actor,
            "created_at": created_at,
            "content": json.loads(content),
            "attachments": json.loads(attachments),
        }
        message = b"aitp-desk message 1\x00" + salt + rfc8785.dumps(said)
        assert digest == hashlib.sha256(message).digest()
        link = hashlib.sha256(b"aitp-desk link 1\x00" + link + digest).digest()
        assert kept_link == link
    last = talker.rows(f"SELECT last_seq, last_link FROM threads WHERE id = '{thread_id}'")
    assert last == [(len(rows), link)]
    return len(rows)


async def test_a_thread_made_over_http_has_a_chain_that_holds(tmp_path: Path) -> None:
    async with talking(tmp_path, "files.anonymous=true", agent=ScriptedAgent()) as talker:
        file = (await talker.upload()).id
        opened = await talker.open(
            "Plain.",
            {"role": "agent1", "content": ["Ünïcödé — 漢字 🙂", '{"a": [1, 2e3], "é": null}']},
            actors=["alice", "agent1"],
            wait=10,
        )
        await talker.post(
            opened.id,
            'control \u0001 \u001f \u007f \u2028 \\ " /',
            attachments=[{"file_id": file, "tools": [{"type": "file_search"}]}],
            metadata={"outside": "the digest"},
            wait=10,
        )
        await talker.post(opened.id, "Quoted.", role="assistant")
        assert check_chain(talker, opened.id) == 6
        salts = talker.rows("SELECT DISTINCT salt FROM messages")
        assert len(salts) == 6
        assert check_chain(talker, (await talker.open()).id) == 0


async def test_the_chain_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        thread = (await talker.open("One?", wait=10)).id
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        await talker.post(thread, "Two?", wait=10)
        assert check_chain(talker, thread) == 4
