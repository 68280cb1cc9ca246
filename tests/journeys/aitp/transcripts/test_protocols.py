"""Transcripts of what was said over every protocol, of what was sealed, and of what was paid."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from aitp_desk.auth.keys.transcript_keys import read_keys
from aitp_desk.auth.keys.transcripts import check_transcript, read_transcript
from aitp_desk.model.conversation.transcript import KEYS_PATH, Document, Said
from tests.journeys.payments.test_payments import CODE, SETTINGS, fund, payment, quoted, until
from tests.support.clients.a2a import send, tasking
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.payments.till_plugin import make_site, selling
from tests.support.plugins.sealed_values import guarded, part
from tests.support.store.erasure import MANUAL


async def proven(who: Talker, thread: str) -> Document:
    """The transcript of a thread, once everything in it is proven by the published keys."""
    async with who.http.get(KEYS_PATH) as answer:
        keys = read_keys(await answer.read())
    path = f"{THREADS}/{thread}/transcript"
    async with who.http.get(path, headers=who.credentials) as answer:
        body = await answer.read()
        assert answer.status == 200, body
    checked = check_transcript(read_transcript(body), keys)
    assert checked.wrong == ()
    return checked.document


def said(document: Document) -> list[str]:
    """The first part of each message."""
    return [one.content[0] for one in document.messages if isinstance(one, Said)]


async def test_a_task_of_a2a_and_a_call_of_mcp_have_one_by_their_sessions(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        owner = await talker.with_key("threads", "actions")
        async with tasking(talker.desk, key=owner.key) as client:
            task = await send(client, "Do you sell maps?")
        call = {"name": "content_search", "arguments": {"query": "And globes?"}}
        called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        told = (await owner.send("POST", "/mcp", called)).ok["result"]["structuredContent"]
        begun = ((task.context_id, "Do you sell maps?"), (told["session_id"], "And globes?"))
        for session, asked in begun:
            document = await proven(owner, session)
            assert said(document)[0] == asked
            assert document.statement.head.thread.startswith("thread_")
            stranger = await talker.with_key("threads", "actions")
            for who in (stranger, talker):
                thread = document.statement.head.thread
                for name in (session, thread):
                    refused = await who.send("GET", f"{THREADS}/{name}/transcript")
                    assert refused.status == 404


async def test_what_was_sealed_is_in_no_transcript(tmp_path: Path) -> None:
    code = "Sesame-4711"
    async with guarded(tmp_path) as guest:
        owner = await guest.with_key("threads")
        thread = (await owner.open()).id
        await owner.post(thread, [part(code={"safe": "s-1", "code": code})], headers=MANUAL)
        await owner.post(thread, [part(ask_code={"safe": "s-1"})], headers=MANUAL)
        await owner.post(thread, f"code {code}")
        document = await proven(owner, thread)
        assert code not in str(document)
        assert [one for one in said(document) if one == "s-1 is open."] == ["s-1 is open."] * 2


async def test_what_was_paid_is_proven_with_its_quote_and_its_receipt(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        agent = await desk.with_key("actions", "threads")
        told = await quoted(agent, name="Ada")
        paid = {"name": "Ada", "_payment": {"payment": payment(told["message"]["quote"])}}
        assert (await agent.send("POST", "/capabilities/buy_ticket", paid)).status == 200
        document = await proven(agent, told["thread_id"])
        *messages, ticket = said(document)
        kinds = [key for one in messages for key in json.loads(one) if key != "$schema"]
        assert kinds == ["quote", "payment", "payment_confirmation"]
        assert ticket == "A ticket for Ada."

        told = await quoted(agent, name="Ben")
        await agent.post(told["thread_id"], f"pay with {CODE}")
        await until(agent, told["call_id"])
        document = await proven(agent, told["thread_id"])
        assert "approve_quote" in said(document)[1]
        assert CODE not in str(document)
