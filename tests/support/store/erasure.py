"""A person who leaves words wherever a desk keeps any, and a look for these at every byte."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from aitp_desk.agent.base import Answer, Clarification, Outcome, ToolRequest, Turn
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.run import ToolCall
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.store.records.threads import Summary
from aitp_desk.store.units.threads.summaries import keep_summary
from aitp_desk.store.units.tickets.takeover import add_note
from aitp_desk.store.units.tickets.tickets import add_ticket
from tests.support.clients.threads import Talker
from tests.support.desk.jobs import a_job, queue

MANUAL = [("OpenAI-Beta", "assistants=v2")]
TOOL: Any = {
    "type": "function",
    "function": {"name": "stock", "parameters": {"type": "object", "properties": {}}},
}
WAIT = 20


def mark(place: str) -> str:
    """A word that stands nowhere else."""
    return f"zqx{place}xqz"


PLACES = (
    "message declared summary thread-note note long-text file-name file-bytes run-instructions"
    " run-note additional call result fork first-turn later-turn asked-back"
    " idempotency-key-of-twenty asked-elsewhere job ticket operators-note"
).split()
"""Where the person leaves words."""


async def quote(turn: Turn) -> Outcome:
    """Answer with all that was said; call the caller's tool, or ask back, where that is offered."""
    if turn.tools and not turn.rounds:
        call = ToolCall("call_1", "stock", f'{{"what": "{mark("call")}"}}')
        return ToolRequest((ToolRound(f"I look. {mark('call')}", (ToolCallRecord(call),)),))
    if mark("asked-back") in turn.question:
        return Clarification(f"Which {mark('asked-back')}?", ("One", mark("asked-back")))
    said = [*(one.text for one in turn.transcript), turn.question, turn.wishes]
    return Answer(f"You said: {' '.join(said)[:20_000]}")


async def leave_words(who: Talker, other: Talker) -> str:
    """Have a caller with a key write everywhere; return the id of their thread.

    Parameters:
        other: takes part there too, and says what stays.
    """
    name, principal = f"{mark('file-name')}.txt", await principal_of(who)
    uploaded = await who.upload(name, (mark("file-bytes") + "\n").encode() * 20_000)
    note = {"note": mark("note")}
    file = {"file_id": uploaded.id, "tools": [{"type": "file_search"}]}
    first = {"role": "user", "content": mark("message"), "metadata": note, "attachments": [file]}
    key = [("Idempotency-Key", mark("idempotency-key-of-twenty"))]
    thread = await who.open(
        first, metadata={"subject": mark("thread-note")}, wait=WAIT, headers=key
    )
    await who.post(thread.id, f"{mark('long-text')} " * 6_000, headers=MANUAL)
    schema = f"https://{mark('declared')}.example/schema.json"
    own = {"id": "aya", "capabilities": [{"schema": schema}]}
    (await who.send("POST", f"/v1/threads/{thread.id}/actors", own)).ok  # noqa: B018
    joined = {"id": "ben", "principal": await principal_of(other)}
    (await who.send("POST", f"/v1/threads/{thread.id}/actors", joined)).ok  # noqa: B018
    (await other.post(thread.id, mark("of-another"), headers=MANUAL)).ok  # noqa: B018
    await _drive_run(who, thread.id)
    await _only_ask_for_a_run(who, other)
    forked = await other.open(mark("of-another-too"), metadata={"parent_id": thread.id}, wait=WAIT)
    assert mark("message") in str(forked.body["replies"])
    mine = await who.open(metadata={"parent_id": thread.id}, headers=MANUAL)
    (await who.post(mine.id, mark("fork"), wait=WAIT)).ok  # noqa: B018
    for id_ in (thread.id, forked.id):
        summary = Summary(id_, 1, mark("summary"), "scripted")
        await who.desk.store.run(keep_summary, summary=summary, made_of=(), previous=None)
    for ref, of in (("here", {"thread_id": thread.id}), ("apart", {"principal": principal})):
        job = a_job(f"{ref}{thread.id}", payload={"said": mark("job")}, **of)
        await who.desk.store.run(queue, job)
    await who.desk.store.run(add_ticket, ticket=_a_ticket("here", thread_id=thread.id))
    await who.desk.store.run(add_ticket, ticket=_a_ticket("apart", principal=principal))
    note_of_operators = Note("note_1", thread.id, "anna", mark("operators-note"), int(time.time()))
    await who.desk.store.run(add_note, note=note_of_operators, by=None)
    return thread.id


def _a_ticket(name: str, **of: Any) -> StoredTicket:
    """A ticket that says the person's words."""
    words, now = mark("ticket"), int(time.time())
    return StoredTicket(
        f"ticket_{name}", "", TicketKind.ACTION, TicketState.OPEN, words, now, note=words, **of
    )


async def _drive_run(who: Talker, thread_id: str) -> None:
    path = f"/v1/threads/{thread_id}/runs"
    body = {
        "assistant_id": SITE_AGENT,
        "instructions": mark("run-instructions"),
        "additional_messages": [{"role": "user", "content": mark("additional")}],
        "metadata": {"note": mark("run-note")},
        "tools": [TOOL],
    }
    run = await _until(who, (await who.send("POST", path, body, headers=MANUAL)).id, thread_id)
    assert run["status"] == "requires_action"
    outputs = [{"tool_call_id": "call_1", "output": mark("result")}]
    handed_in = f"{path}/{run['id']}/submit_tool_outputs"
    (await who.send("POST", handed_in, {"tool_outputs": outputs}, headers=MANUAL)).ok  # noqa: B018
    assert (await _until(who, run["id"], thread_id))["status"] == "completed"


async def _only_ask_for_a_run(who: Talker, other: Talker) -> None:
    """Ask for a run on another caller's thread, without a message."""
    thread = (await other.open("Hello.", wait=WAIT)).id
    shared = {"principal": await principal_of(who), "may": "write"}
    (await other.send("POST", f"/v1/threads/{thread}/grants", shared)).ok  # noqa: B018
    asked = {"assistant_id": SITE_AGENT, "instructions": mark("asked-elsewhere")}
    path = f"/v1/threads/{thread}/runs"
    run = (await who.send("POST", path, asked, headers=MANUAL)).id
    assert (await _until(who, run, thread))["status"] == "completed"
    assert mark("asked-elsewhere") in (await other.texts(thread))[-1]


async def _until(who: Talker, run_id: str, thread_id: str) -> Any:
    """A run once nobody works on it."""
    async with asyncio.timeout(WAIT):
        while True:
            run = (await who.send("GET", f"/v1/threads/{thread_id}/runs/{run_id}")).ok
            if run["status"] not in ("queued", "in_progress"):
                return run


async def principal_of(who: Talker) -> str:
    """Id of the principal that a talker is."""
    assert who.key is not None
    return f"key:{who.key.split('_')[1]}"


async def converse(who: Talker, query: str, session_id: str | None = None) -> Any:
    """Ask a question over AHP."""
    body = {"ahp": "0.1", "capability": "content_search", "query": query}
    if session_id is not None:
        body["session_id"] = session_id
    headers = {} if who.key is None else {"Authorization": f"Bearer {who.key}"}
    async with who.http.post("/agent/converse", json=body, headers=headers) as response:
        return await response.json()


def found(folder: Path, *words: str) -> set[str]:
    """Those of the words that stand in any byte of any file below a folder."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return {word for word in words if any(word.encode() in content for content in files)}
