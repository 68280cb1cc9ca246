"""A visitor of A2A 1.0 and 0.3: messages to an agent, and the tasks that they start."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote as quote_path

import msgspec
from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.visitor.base import Answer, Choice, Endpoint, Outcome, SiteAction
from aitp_desk.visitor.clients.a2a.wire import (
    Artifact,
    Card,
    Dialect,
    Envelope,
    Failure,
    Interface,
    Message,
    Part,
    Task,
    find_data,
    find_interface,
    join_text,
    read_sent,
    write_message,
)
from aitp_desk.visitor.clients.aitp.wire import find_later, read_sources
from aitp_desk.visitor.clients.responses import make_refusal, read_body, shorten
from aitp_desk.visitor.discovery.members import text_of
from aitp_desk.visitor.errors import (
    CallFailed,
    CredentialNeeded,
    NotOffered,
    PolicyRefused,
    SiteFailed,
)
from aitp_desk.visitor.fetcher import Fetcher
from aitp_desk.visitor.payments import read_asked_quote, read_quote

POLL_SECONDS = 1.0
"""The first pause before a task is read again; each further one is twice as long."""
LONGEST_POLL_SECONDS = 30.0
QUICK_SECONDS = 0.25
"""The first pause after a call was sent; each further one is twice as long."""
SETTLE_SECONDS = 20.0
"""How long a call is waited for before it counts as one that goes on."""
WORKING = frozenset({"submitted", "working"})
ASKING = frozenset({"input-required"})
CONTENT = "content"
"""The tag of skills that answer from pages: they are asked, not called."""


class A2aClient:
    """One context with an agent."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self._endpoint = endpoint
        self._fetcher = fetcher
        self._card: Card | None = None
        self._context: str | None = None
        self._open_task: str | None = None
        self._calls: dict[str, dict[str, Any]] = {}
        self._requests = 0

    async def ask(self, question: str) -> Answer:
        """Send a message; to the task that waits for one, if there is one."""
        return await self._ask(Part(question))

    async def choose(self, choice: Choice) -> Answer:
        """Answer in words what the agent asks."""
        return await self._ask(Part(choice.value))

    async def actions(self) -> Sequence[SiteAction]:
        """Return the skills; a card says neither what they take nor what they may do."""
        card = await self._read_card()
        origin = str(URL(self._find_interface(card).url).origin())
        card = await self._read_extended_card(card)
        return [
            SiteAction(one.id, one.description, origin)
            for one in card.skills
            if CONTENT not in one.tags
        ]

    async def call(self, action: SiteAction, arguments: Mapping[str, Any], key: str) -> Outcome:
        """Start a task with the arguments as data, in its own context."""
        self._calls[key] = {"action": action.name, "arguments": dict(arguments)}
        return await self._call(self._calls[key], key, key)

    async def poll(self, outcome: Outcome) -> Outcome:
        """Read a working task, not at once again."""
        pause = outcome.retry_after or POLL_SECONDS
        await self._fetcher.wait(pause)
        task = await self._get_task(outcome.reference)
        if task.status.name in WORKING:
            pause = min(pause * 2, LONGEST_POLL_SECONDS)
            return msgspec.structs.replace(outcome, retry_after=pause)
        return self._make_outcome(task, outcome.reference)

    async def accept(self, outcome: Outcome) -> Outcome:
        """Send the call again with its payment, or with agreement to exactly its price."""
        quote, payer = outcome.quote, self._fetcher.identity.payer
        known = self._calls.get(outcome.reference)
        if quote is None:
            raise NotOffered("Nothing is to be paid.")
        if known is None:
            text = "yes"
            if quote.prepaid and payer is not None:
                text = msgspec.json.encode(payer.pay(quote)).decode()
            found = await self._send((Part(text),), self._context, self._open_task)
            return self._make_outcome(await self._settle(found), outcome.reference)
        if not quote.prepaid:
            agreed: Any = {"amount": f"{quote.money.amount:f}", "currency": quote.money.currency}
            extra = {CONFIRMATION: agreed}
        elif payer is None:
            raise PolicyRefused("The visit has nothing to pay from.")
        else:
            extra = {PAYMENT: {"payment": payer.pay(quote)["payment"]}}
        call = {**known, "arguments": {**known["arguments"], **extra}}
        return await self._call(call, outcome.reference, f"{outcome.reference}-agreed")

    async def read_late(self, waiting: Mapping[str, Any]) -> Answer:
        """Read once the task of an answer."""
        return self._read_answer(await self._get_task(waiting["task"]))

    def save(self) -> Mapping[str, Any]:
        """Return the context, and the task that waits for a message."""
        return {"context": self._context, "task": self._open_task}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on in a context."""
        self._context, self._open_task = saved["context"], saved["task"]

    async def close(self) -> None:
        """Forget the context."""
        self._context = self._open_task = None

    async def _ask(self, part: Part) -> Answer:
        found = await self._send((part,), self._context, self._open_task)
        return self._read_answer(await self._settle(found))

    def _read_answer(self, found: Task | Message) -> Answer:
        self._context = found.context_id or self._context
        self._open_task = None
        if isinstance(found, Message):
            return make_answer(found.parts)
        state = found.status.name
        if state in WORKING:
            return Answer("", "waiting", data={"task": found.id})
        told = found.status.message.parts if found.status.message is not None else ()
        if state in ASKING:
            self._open_task = found.id
            data = find_data(told)
            text = join_text(told)
            return Answer(text, "question", data=data, quote=read_asked_quote(data, text))
        check_ended(found)
        answer = make_answer((*join_parts(found.artifacts), *told))
        tickets = [text_of(one.metadata, "asked_person") for one in found.artifacts or ()]
        later = find_later(self._context, next(filter(None, tickets), ""))
        return msgspec.structs.replace(answer, later=later)

    async def _call(self, call: Mapping[str, Any], reference: str, key: str) -> Outcome:
        """Send a call; the key is the message's id and its idempotency key.

        The agent is asked not to wait for its end: a response that came too late would take the
        task's id with it, and nobody could ask how the call went.
        """
        found = await self._send((Part(data=dict(call)),), None, None, key, waits=False)
        pause, left = QUICK_SECONDS, min(SETTLE_SECONDS, self._fetcher.left / 2)
        while isinstance(found, Task) and found.status.name in WORKING and pause <= left:
            await self._fetcher.wait(pause)
            pause, left = pause * 2, left - pause
            try:
                found = await self._get_task(found.id)
            except SiteFailed:
                break
        return self._make_outcome(found, reference)

    def _make_outcome(self, found: Task | Message, reference: str) -> Outcome:
        if isinstance(found, Message):
            return Outcome(
                "done", join_text(found.parts), reference, find_data(found.parts) or None
            )
        told = found.status.message.parts if found.status.message is not None else ()
        if found.status.name in WORKING:
            return Outcome("waiting", join_text(told), found.id, retry_after=POLL_SECONDS)
        if found.status.name in ASKING:
            text = join_text(told)
            quote = read_quote(find_data(told), shorten(text))
            kind = "question" if quote is None else "payable"
            return Outcome(kind, text, reference, quote=quote)  # type: ignore[arg-type]
        check_ended(found)
        parts = join_parts(found.artifacts)
        return Outcome("done", join_text((*parts, *told)), reference, find_data(parts) or None)

    async def _settle(self, found: Task | Message) -> Task | Message:
        """Read a task until it needs something, or the visit ends."""
        pause = POLL_SECONDS
        while isinstance(found, Task) and found.status.name in WORKING:
            if pause >= self._fetcher.patience:
                return found
            await self._fetcher.wait(pause)
            pause = min(pause * 2, LONGEST_POLL_SECONDS)
            found = await self._get_task(found.id)
        return found

    async def _read_card(self) -> Card:
        if self._card is None:
            if self._endpoint.document:
                try:
                    self._card = msgspec.convert(self._endpoint.document, Card)
                except msgspec.ValidationError as error:
                    raise SiteFailed(f"The card is not in the form of A2A: {error}.") from None
            else:
                found = await self._fetcher.send(self._endpoint.url)
                if found.status != 200:
                    raise make_refusal(found, "it has no agent card")
                self._card = read_body(found, Card, "A2A")
        return self._card

    async def _read_extended_card(self, card: Card) -> Card:
        """Return the card for the visit's credential, if the agent has one."""
        has_more = (
            card.capabilities.extended_agent_card or card.supports_authenticated_extended_card
        )
        if not has_more or not self._fetcher.has_credential:
            return card
        there = self._find_interface(card)
        is_new = there.dialect == "1.0"
        method = "GetExtendedAgentCard" if is_new else "agent/getAuthenticatedExtendedCard"
        raw = await self._request(there, method, {}, rest=("GET", "extendedAgentCard"))
        try:
            return msgspec.json.decode(raw, type=Card)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise make_malformed(there, error) from None

    def _find_interface(self, card: Card) -> Interface:
        chosen = find_interface(card)
        return Interface(
            self._fetcher.resolve(self._endpoint.url, chosen.url), chosen.binding, chosen.dialect
        )

    async def _send(
        self,
        parts: tuple[Part, ...],
        context: str | None,
        task: str | None,
        key: str = "",
        *,
        waits: bool = True,
    ) -> Task | Message:
        """Send a message, and return the task or message that answers it.

        Parameters:
            waits: whether the agent may wait for the task's end before it responds.
        """
        there = self._find_interface(await self._read_card())
        key = key or secrets.token_urlsafe(16)
        message = write_message(
            parts, there.dialect, message_id=key, context_id=context, task_id=task
        )
        method = "SendMessage" if there.dialect == "1.0" else "message/send"
        params: dict[str, Any] = {"message": message}
        if not waits:
            params["configuration"] = await self._configure_call(there.dialect)
        raw = await self._request(there, method, params, rest=("POST", "message:send"), key=key)
        found = self._read(raw, there)
        if task is not None and isinstance(found, Task) and found.id != task:
            raise SiteFailed("The agent answered with another task.")
        return found

    async def _configure_call(self, dialect: Dialect) -> dict[str, Any]:
        """Return that the agent need not wait, and the address for its end."""
        is_new = dialect == "1.0"
        configuration: dict[str, Any] = (
            {"returnImmediately": True} if is_new else {"blocking": False}
        )
        url = self._fetcher.identity.callback_url
        if url is not None and (await self._read_card()).capabilities.push_notifications:
            member = "taskPushNotificationConfig" if is_new else "pushNotificationConfig"
            configuration[member] = {"url": url}
        return configuration

    async def _get_task(self, task_id: str) -> Task:
        there = self._find_interface(await self._read_card())
        method = "GetTask" if there.dialect == "1.0" else "tasks/get"
        path = f"tasks/{quote_path(task_id, safe='')}"
        raw = await self._request(there, method, {"id": task_id}, rest=("GET", path))
        try:
            found = msgspec.json.decode(raw, type=Task)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise make_malformed(there, error) from None
        if found.id != task_id:
            raise SiteFailed("The agent answered with another task.")
        return found

    def _read(self, raw: bytes | msgspec.Raw, there: Interface) -> Task | Message:
        try:
            return read_sent(raw, there.dialect)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise make_malformed(there, error) from None

    async def _request(
        self,
        there: Interface,
        method: str,
        params: Mapping[str, Any],
        *,
        rest: tuple[str, str],
        key: str = "",
    ) -> bytes | msgspec.Raw:
        """Send a request by the agent's binding, and return its result."""
        headers = {"A2A-Version": there.dialect, "Accept": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        if there.binding == "HTTP+JSON":
            verb, path = rest
            url = f"{there.url}/{path}"
            if verb == "GET":
                return self._read_rest(await self._fetcher.send(url, headers=headers))
            found = await self._fetcher.send(url, params, method="POST", headers=headers)
            return self._read_rest(found)
        self._requests += 1
        body = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params}
        found = await self._fetcher.send(there.url, body, method="POST", headers=headers)
        if found.status in {401, 403} or (
            found.status >= 400 and not found.body.lstrip().startswith(b"{")
        ):
            raise make_refusal(found, "")
        envelope = read_body(found, Envelope, "A2A")
        if envelope.error is not None:
            raise make_refusal(found, envelope.error.message, recovery=str(envelope.error.code))
        if envelope.id != self._requests:
            raise SiteFailed("The agent answered another request.")
        return envelope.result

    def _read_rest(self, found: Fetched) -> bytes:
        if 200 <= found.status < 300:
            return found.body
        try:
            error = msgspec.json.decode(found.body, type=dict[str, Failure])["error"]
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise make_refusal(found, "") from None
        raise make_refusal(found, error.message, recovery=str(error.code))


def make_malformed(there: Interface, error: Exception) -> SiteFailed:
    """Return the error of a result that is not in the form of A2A."""
    host = URL(there.url).host
    return SiteFailed(f"{host} did not respond in the form of A2A: {shorten(str(error))}")


def join_parts(artifacts: tuple[Artifact, ...] | None) -> tuple[Part, ...]:
    """Return the parts of all artifacts."""
    return tuple(part for one in artifacts or () for part in one.parts)


def make_answer(parts: tuple[Part, ...]) -> Answer:
    """Return the parts of an answer; a part that lists sources is not shown twice."""
    words = []
    sources: list[Any] = []
    for part in parts:
        found = read_sources(part.text)
        if found:
            sources += found
        elif part.text:
            words.append(part.text)
    return Answer("\n\n".join(words), sources=tuple(sources), data=find_data(parts))


def check_ended(task: Task) -> None:
    """Raise what a task that did not complete says of it."""
    if task.status.name == "completed":
        return
    told = task.status.message.parts if task.status.message is not None else ()
    text = shorten(join_text(told)) or f"The task is {shorten(task.status.name)}."
    match task.status.name:
        case "auth-required":
            raise CredentialNeeded(f"The agent wants a credential: {text}")
        case "rejected" | "failed" | "canceled":
            code = find_data(told).get("code")
            recovery = code if isinstance(code, str) else ""
            raise CallFailed(f"The agent did not do it: {text}", recovery=shorten(recovery))
        case _:
            raise SiteFailed(f"The task has a state that is unknown: {text}")
