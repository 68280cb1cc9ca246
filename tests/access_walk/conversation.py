"""What parties say and ask in a history, by every protocol."""

from __future__ import annotations

import json
import secrets
from typing import Any

from tests.access_walk.model import ID, Credential, File, Marker, Thread
from tests.access_walk.site import ASKED_BACK
from tests.access_walk.world import Call, World
from tests.support.clients.dispatcher import Answered, Headers
from tests.support.payments.till_plugin import NAME

V1: Headers = (("A2A-Version", "1.0"),)
A_POEM = "a poem"
"""What is sold, to everybody: who knows a quote can make the same call."""
TOLD_SHARE = 0.6
"""Of calls by A2A, the share whose caller has an address told how they go on."""
WAIT: Headers = (("Prefer", "wait=20"),)


class Speaking:
    """Steps in which something is said or asked. Each returns what was done, in words."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.model = world.model
        self.random = world.model.random

    # --- threads ---------------------------------------------------------------------------

    async def open(self, who: Credential, parent: Thread | None = None) -> str | None:
        """Open a thread, perhaps as a fork."""
        marker = self.model.mark("", who.party)
        body: dict[str, Any] = {"messages": [f"Hello {marker.text}?"]}
        if parent is not None:
            body["metadata"] = {"parent_id": parent.id}
        sent = await self.world.ask(who, "POST", "/v1/threads", body, headers=WAIT, once=_key())
        if sent.status != 200:
            return self.world.refuse("open", sent)
        thread = self._begin(who, sent.ok["id"])
        if parent is not None:
            until = self.model.reads_until(who.party, parent)
            thread.parent = (parent, min(until, self.model.step))
        forked = "" if parent is None else f" as a fork of {parent.name}"
        self._said(marker, who, thread, "said over /v1", sent)
        return f"{who.party.name} opens {thread.name}{forked}"

    async def post(self, who: Credential, thread: Thread, file: File | None = None) -> str | None:
        """Post a message, perhaps with a file."""
        marker = self.model.mark("said over /v1", who.party, thread)
        body: dict[str, Any] = {"content": f"More {marker.text}."}
        if file is not None:
            body["attachments"] = [{"file_id": file.id}]
            thread.files.append((self.model.step, file))
        target = f"/v1/threads/{thread.id}/messages"
        sent = await self.world.ask(who, "POST", target, body, headers=WAIT, once=_key())
        if sent.status != 200:
            if file is not None:
                thread.files.pop()
            return self.world.refuse("post", sent)
        self._said(marker, who, thread, "said over /v1", sent)
        with_file = "" if file is None else f" with {file.marker}"
        return f"{who.party.name} posts to {thread.name}{with_file}"

    async def converse(self, who: Credential, thread: Thread | None) -> str | None:
        """Say something over AHP, on a thread or a new one."""
        marker = self.model.mark("said over AHP", who.party, thread)
        body = {"ahp": "0.1", "capability": "content_search", "query": f"Well {marker.text}?"}
        if thread is not None:
            body["session_id"] = thread.id
        sent = await self.world.ask(who, "POST", "/agent/converse", body)
        if sent.status != 200 or "session_id" not in sent.ok:
            return self.world.refuse("converse", sent)
        return await self._in_session(marker, who, thread, sent.ok["session_id"], "AHP", sent)

    async def prompt(self, who: Credential, thread: Thread | None) -> str | None:
        """Say something over MCP."""
        marker = self.model.mark("said over MCP", who.party, thread)
        arguments = {"query": f"Well {marker.text}?"}
        if thread is not None:
            arguments["session_id"] = thread.id
        sent = await self._tool(who, "content_search", arguments)
        structured = sent.ok.get("result", {}).get("structuredContent", {})
        if "session_id" not in structured:
            return self.world.refuse("prompt", sent)
        return await self._in_session(marker, who, thread, structured["session_id"], "MCP", sent)

    async def send(
        self, who: Credential, thread: Thread | None, task: str = "", *, waits: bool = False
    ) -> str | None:
        """Send a message over A2A.

        Parameters:
            task: that it goes on with; empty for a new one.
            waits: whether the new task waits for more.
        """
        marker = self.model.mark("said over A2A", who.party, thread)
        part = {"text": f"{ASKED_BACK if waits else 'Task'} {marker.text}."}
        sent = await self.message(who, thread, part, task=task, once=_key())
        if sent.status != 200:
            return self.world.refuse("send", sent)
        told = sent.ok["task"]
        said = await self._in_session(
            marker, who, thread, told["contextId"], "A2A", sent, told["id"]
        )
        if told["status"]["state"] == "TASK_STATE_INPUT_REQUIRED":
            self.model.by_id[told["id"]].waiting.append(told["id"])
        return said

    # --- calls -----------------------------------------------------------------------------

    async def call(self, who: Credential, name: str) -> str | None:
        """Call an action over OpenAPI, on no thread."""
        marker = self.model.mark(f"an argument of {name}", who.party)
        note = A_POEM if name == "buy" else marker.text
        target = f"/capabilities/{name}"
        sent = await self.world.ask(who, "POST", target, {"note": note}, once=_key())
        if sent.status == 402:
            payment = json.loads(sent.body)["payment"]
            return await self._quoted(who, None, marker, payment)
        if sent.status not in {200, 202}:
            return self.world.refuse(name, sent)
        id_ = sent.ok["id"] if sent.status == 200 else json.loads(sent.body)["id"]
        call = Call(id_, name, note, marker, who, None)
        self.world.calls.append(call)
        await self.poll(call)
        return f"{who.party.name} calls {name}"

    async def call_in(self, who: Credential, thread: Thread, name: str, by: str) -> str | None:
        """Call an action in a conversation, by A2A, AHP or MCP."""
        said = f"an argument of {name} by {by} on {thread.name}"
        marker = self.model.mark(said, who.party, thread)
        marker.is_of_call = by == "A2A" and name == "tell"  # others are said in messages
        note = A_POEM if name == "buy" else marker.text
        arguments = {"note": note}
        if by == "A2A":
            part = {"data": {"action": name, "arguments": arguments}}
            told: dict[str, Any] = {}
            if self.random.random() < TOLD_SHARE:
                push = {"taskPushNotificationConfig": {"url": self.world.receiver(who, thread)}}
                told = {"configuration": push}
            sent = await self.message(who, thread, part, once=_key(), **told)
        elif by == "AHP":
            body = {"ahp": "0.1", "capability": name, "query": json.dumps(arguments)}
            body["session_id"] = thread.id
            sent = await self.world.ask(who, "POST", "/agent/converse", body)
        else:
            sent = await self._tool(who, name, {**arguments, "session_id": thread.id})
        if sent.status >= 400 and sent.status != 402:
            return self.world.refuse(f"{name} by {by}", sent)
        self._learn(thread, sent)
        payment = _payment_of(json.loads(sent.body))
        tasks = [id_ for id_ in thread.tasks if id_ in sent.body.decode()]
        if payment is not None:
            await self._quoted(who, thread, marker, payment)
            self.world.calls[-1].task = tasks[0] if tasks else ""
        known = {call.id for call in self.world.calls}
        for id_ in dict.fromkeys(ID.findall(sent.body.decode())):
            if not id_.startswith("call_") or id_ in known:
                continue
            call = Call(id_, name, note, marker, who, thread)
            self.world.calls.append(call)
            await self.poll(call)
        return f"{who.party.name} calls {name} on {thread.name} by {by}"

    async def poll(self, call: Call) -> None:
        """Have a caller who made a call ask after it, until its result is there."""
        if not call.id:
            return
        target = f"/capabilities/{call.name}/calls/{call.id}"
        for _ in range(20):
            told = await self.world.ask(call.credential, "GET", target)
            if told.status != 200 or "payment" in told.ok:
                return
            if told.ok.get("status") not in {"accepted", "pending"}:
                return
            await self.world.desk.store.settled()

    async def pay(self, who: Credential, call: Call, *, by_call: bool) -> str | None:
        """Pay for a call: with the call again, or by a message on its thread."""
        payment = {"quote_id": call.quote, "token": "good"}
        if by_call:
            body: dict[str, Any] = {"note": call.note, "_payment": {"payment": payment}}
            sent = await self.world.ask(who, "POST", "/capabilities/buy", body, once=_key())
        else:
            assert call.thread is not None
            body = {"content": [json.dumps({"$schema": NAME, "payment": payment})]}
            target = f"/v1/threads/{call.thread.id}/messages"
            sent = await self.world.ask(who, "POST", target, body, headers=WAIT)
        if sent.status >= 400:
            return self.world.refuse("pay", sent)
        call.is_paid = True
        await self.poll(call)
        where = "" if call.thread is None else f" on {call.thread.name}"
        return f"{who.party.name} pays for a call of {call.credential.party.name}{where}"

    # --- files -----------------------------------------------------------------------------

    async def upload(self, who: Credential) -> str | None:
        """Upload a file, whose name and text have its marker."""
        owner = None if who.party.kind in {"anonymous", "link"} else who.party
        marker = self.model.mark("", who.party)
        body, headers = _form(marker.text)
        sent = await self.world.ask(who, "POST", "/v1/files", body, headers=headers)
        if sent.status != 200:
            return self.world.refuse("upload", sent)
        file = File(sent.ok["id"], owner, who.party, marker.text)
        marker.file, marker.said = file, f"a file of {who.party.name}"
        self.model.files.append(file)
        return f"{who.party.name} uploads {marker.text}"

    # --- helpers ---------------------------------------------------------------------------

    async def message(
        self,
        who: Credential,
        thread: Thread | None,
        part: Any,
        *,
        task: str = "",
        once: str = "",
        **more: Any,
    ) -> Answered:
        """Send a message over A2A."""
        said: dict[str, Any] = {"messageId": secrets.token_hex(8), "role": "ROLE_USER"}
        said["parts"] = [part]
        if thread is not None:
            said["contextId"] = thread.id
        if task:
            said["taskId"] = task
        body = {"message": said, **more}
        return await self.world.ask(who, "POST", "/a2a/message:send", body, headers=V1, once=once)

    async def _tool(self, who: Credential, name: str, arguments: Any) -> Answered:
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return await self.world.ask(who, "POST", "/mcp", body, once=_key())

    async def _in_session(
        self,
        marker: Marker,
        who: Credential,
        thread: Thread | None,
        session: str,
        by: str,
        sent: Answered,
        task: str = "",
    ) -> str:
        begun = thread is None
        if thread is None:
            told = await self.world.ask(who, "GET", f"/v1/threads/{session}")
            thread = self._begin(who, told.ok["id"])
        if session not in thread.sessions and session != thread.id:
            thread.sessions.append(session)
        if task and task not in thread.tasks:
            thread.tasks.append(task)
            self.model.learn(thread, task)
        self._said(marker, who, thread, f"said over {by}", sent)
        return f"{who.party.name} {'opens' if begun else 'speaks on'} {thread.name} by {by}"

    async def _quoted(
        self, who: Credential, thread: Thread | None, marker: Marker, payment: Any
    ) -> str:
        found = self.model.by_id.get(payment.get("thread_id", "")) or thread
        if found is None:
            found = self._begin(who, payment["thread_id"])
        id_ = payment.get("call_id", "")  # a task tells none
        self.model.learn(found, *filter(None, [id_, payment["quote_id"]]))
        if not marker.places:
            marker.places.append((found, self.model.step))
        call = Call(id_, "buy", A_POEM, marker, who, found, payment["quote_id"])
        self.world.calls.append(call)
        return f"{who.party.name} is quoted on {found.name}"

    def _begin(self, who: Credential, id_: str) -> Thread:
        known = self.model.by_id.get(id_)
        if known is not None:
            return known
        is_owned = who.party.kind not in {"anonymous", "link"}
        number = len(self.model.threads) + 1
        thread = Thread(f"T{number}", id_, who.party if is_owned else None)
        self.model.threads.append(thread)
        self.model.learn(thread, id_)
        if not is_owned:
            who.party.knows.add(thread)
        return thread

    def _said(
        self, marker: Marker, who: Credential, thread: Thread, how: str, sent: Answered
    ) -> None:
        marker.said = f"{how} by {who.party.name} on {thread.name}"
        if not marker.places:
            marker.places.append((thread, self.model.step))
        self._learn(thread, sent)

    def _learn(self, thread: Thread, sent: Answered) -> None:
        for id_ in dict.fromkeys(ID.findall(sent.body.decode())):
            if id_ in self.model.by_id:
                continue
            kind = id_.partition("_")[0]
            if kind == "thread":
                continue
            self.model.learn(thread, id_)
            kept = {"msg": thread.messages, "run": thread.runs, "task": thread.tasks}.get(kind)
            if kept is not None:
                kept.append(id_)


def _key() -> str:
    return secrets.token_hex(16)


def _payment_of(body: Any) -> Any:
    """What stands under ``payment``, wherever it stands."""
    if isinstance(body, dict):
        if isinstance(body.get("payment"), dict) and "quote_id" in body["payment"]:
            return body["payment"]
        body = list(body.values())
    if isinstance(body, list):
        for value in body:
            if (found := _payment_of(value)) is not None:
                return found
    return None


def _form(text: str) -> tuple[bytes, Headers]:
    edge = secrets.token_hex(8)
    parts = (
        ('form-data; name="purpose"', "assistants"),
        (f'form-data; name="file"; filename="{text}.txt"', f"Notes: {text}."),
    )
    lines = [f"--{edge}\r\nContent-Disposition: {what}\r\n\r\n{value}\r\n" for what, value in parts]
    body = "".join([*lines, f"--{edge}--\r\n"]).encode()
    return body, (("Content-Type", f"multipart/form-data; boundary={edge}"),)
