"""A stand-in for the Messages API on the loopback: the documented wire, answering as a test says.

It is as strict as the API where the desk could err: what the API documents as refused is a 400.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from aitp_desk.config import Model
from tests.support.doubles.messages_rules import problem_of

KEY = "sk-ant-test-0123456789"
CHARACTERS_PER_TOKEN = 4

Body = dict[str, Any]


Cited = int | tuple[int, int]


class Text(msgspec.Struct, frozen=True):
    """A block of text.

    Parameters:
        cites: places of search results in the request, or of their blocks: result, block.
        claims: addresses that it cites although nothing was sent from there.
        piece: how many characters come at once.
    """

    text: str
    cites: tuple[Cited, ...] = ()
    claims: tuple[str, ...] = ()
    piece: int = 7


class Use(msgspec.Struct, frozen=True):
    """A block that calls a tool; ``raw`` stands for the input where it is not to be JSON."""

    name: str
    input: dict[str, Any] = {}
    raw: str | None = None


class Thought(msgspec.Struct, frozen=True):
    """A block of thinking, its text left out as the API does."""

    signature: str = "c2lnbmF0dXJl"


class Say(msgspec.Struct, frozen=True):
    """A message, streamed.

    Parameters:
        stop_reason: by default ``tool_use`` with a call and ``end_turn`` without.
        error: type of an error event after the blocks, in place of the end.
        cut_off: whether the connection is closed after the blocks, in place of the end.
        holds: set by a test to let the message go on after its first piece of text.
    """

    blocks: tuple[Text | Use | Thought, ...]
    stop_reason: str | None = None
    error: str | None = None
    cut_off: bool = False
    holds: asyncio.Event | None = None


class Refuse(msgspec.Struct, frozen=True):
    """A refusal of the request, with an HTTP status."""

    status: int
    type: str
    headers: dict[str, str] = {}


class Raw(msgspec.Struct, frozen=True):
    """Events that are sent as they are, whether or not the API would send them."""

    events: tuple[Any, ...]


Reply = Say | Refuse | Raw
Script = Callable[[Body], Reply]


def say(text: str, *cites: Cited, **more: Any) -> Say:
    """A message of one block of text."""
    return Say((Text(text, cites),), **more)


def use(name: str, said: str = "", **arguments: Any) -> Say:
    """A message that calls one tool, perhaps after some words."""
    return Say((*([Text(said)] if said else []), Use(name, arguments)))


def in_turn(*replies: Reply) -> Script:
    """One reply after the other; a request too many is a fault of the test."""
    left = iter(replies)

    def script(_body: Body) -> Reply:
        return next(left)

    return script


class MessagesApi:
    """What the API was asked, and what it will say.

    Attributes:
        script: makes the reply to a request.
        requests: the bodies that came, in order, those that were refused too.
        headers: the headers of each.
        begun: set when the first answer begins to be sent.
        batches: the results of each batch, by its id.
        pauses: if set to an event, no answer begins before it is set.
        polls: how often a batch is asked for before it has ended.
        ended: set when an answer is at its end, or its reader has gone.
    """

    def __init__(self, script: Script, *, caches: bool = False) -> None:
        self.script = script
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.batches: dict[str, list[Body]] = {}
        self.polls = 0
        self.pauses: asyncio.Event | None = None
        self._caches = caches
        self._cached: set[str] = set()
        self._calls = 0
        self._is_paused = False

    @property
    def environment(self) -> dict[str, str]:
        """What makes a desk call it."""
        return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.url}

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that it needs in addition."""
        return ()

    def choose_model(self, settings: Model) -> Model:
        """Return settings whose model it serves."""
        return settings

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer ``POST /v1/messages``."""
        body = json.loads(await request.read())
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if not _has_key(request):
            return _refusal(Refuse(401, "authentication_error"))
        if problem := problem_of(body, request.headers, is_paused=self._is_paused):
            return _refusal(Refuse(400, "invalid_request_error"), problem)
        reply = self.script(body)
        self._is_paused = isinstance(reply, Say) and reply.stop_reason == "pause_turn"
        if isinstance(reply, Refuse):
            return _refusal(reply)
        if self.pauses is not None:
            await self.pauses.wait()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.begun.set()
        try:
            if isinstance(reply, Raw):
                for event in reply.events:
                    await _send(response, event)
            else:
                await self._stream(request, response, body, reply)
        finally:
            self.ended.set()
        return response

    async def create_batch(self, request: web.Request) -> web.Response:
        """Answer ``POST /v1/messages/batches``: every request is answered at once."""
        body = json.loads(await request.read())
        if not _has_key(request):
            return _refusal(Refuse(401, "authentication_error"))
        results = []
        for one in body["requests"]:
            params = one["params"] | {"stream": True}
            self.requests.append(params)
            problem = problem_of(params, request.headers, is_paused=False)
            reply = Refuse(400, "invalid_request_error") if problem else self.script(params)
            results.append({"custom_id": one["custom_id"], "result": _result(params, reply)})
        self.batches[f"msgbatch_{len(self.batches)}"] = results
        return web.json_response(self._batch(f"msgbatch_{len(self.batches) - 1}"))

    async def show_batch(self, request: web.Request) -> web.Response:
        """Answer ``GET /v1/messages/batches/{id}``, and with ``/results`` its results."""
        results = self.batches[request.match_info["id"]]
        if request.path.endswith("/results"):
            return web.Response(text="".join(f"{json.dumps(result)}\n" for result in results))
        self.polls -= 1
        return web.json_response(self._batch(request.match_info["id"]))

    async def list_batches(self, request: web.Request) -> web.Response:
        """Answer ``GET /v1/messages/batches``."""
        del request
        data = [self._batch(id_) for id_ in reversed(self.batches)]
        return web.json_response(
            {"data": data, "has_more": False, "first_id": None, "last_id": None}
        )

    def _batch(self, id_: str) -> Body:
        ended = self.polls <= 0
        count = len(self.batches[id_])
        return {
            "id": id_,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else count,
                "succeeded": count if ended else 0,
                "errored": 0,
                "canceled": 0,
                "expired": 0,
            },
            "created_at": "2999-01-01T00:00:00Z",
            "expires_at": "2999-01-02T00:00:00Z",
            "ended_at": "2999-01-01T00:10:00Z" if ended else None,
            "results_url": f"{self.url}/v1/messages/batches/{id_}/results" if ended else None,
        }

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, body: Body, reply: Say
    ) -> None:
        async def send(type_: str, **members: Any) -> None:
            await _send(response, {"type": type_, **members})

        self._calls += 1
        message = {
            "id": f"msg_{self._calls}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**self._counted(body), "output_tokens": 1},
        }
        await send("message_start", message=message)
        await send("ping")
        room = body["max_tokens"] * CHARACTERS_PER_TOKEN
        written, is_cut = 0, False
        for index, block in enumerate(reply.blocks):
            start, deltas, end = _block(block, body, f"toolu_{self._calls}_{index}", room - written)
            is_cut = is_cut or end
            await send("content_block_start", index=index, content_block=start)
            for delta in deltas:
                written += len(delta.get("text", "") or delta.get("partial_json", ""))
                await send("content_block_delta", index=index, delta=delta)
                if reply.holds is not None:
                    await reply.holds.wait()
            await send("content_block_stop", index=index)
        if reply.error:
            error = {"type": reply.error, "message": "Overloaded"}
            await send("error", error=error)
            return
        if reply.cut_off:
            if request.transport is not None:
                request.transport.close()
            return
        calls = any(isinstance(block, Use) for block in reply.blocks)
        reason = reply.stop_reason or ("tool_use" if calls else "end_turn")
        await send(
            "message_delta",
            delta={"stop_reason": "max_tokens" if is_cut else reason, "stop_sequence": None},
            usage={"output_tokens": written // CHARACTERS_PER_TOKEN + 1},
        )
        await send("message_stop")

    def _counted(self, body: Body) -> dict[str, int]:
        """The request in tokens; what stands before the cache's mark is written or read once."""
        all_of_it = _tokens([body["messages"], body["system"], body.get("tools")])
        if not self._caches:
            return {"input_tokens": all_of_it}
        prefix = json.dumps([body.get("tools"), body["system"]])
        kept = _tokens(prefix)
        name = "cache_read" if prefix in self._cached else "cache_creation"
        self._cached.add(prefix)
        return {"input_tokens": all_of_it - kept, f"{name}_input_tokens": kept}


@asynccontextmanager
async def messages_api(script: Script, *, caches: bool = False) -> AsyncIterator[MessagesApi]:
    """The API on a free port; its address is ``.url``."""
    api = MessagesApi(script, caches=caches)
    app = web.Application(client_max_size=8 * 1024 * 1024)
    app.router.add_post("/v1/messages", api.handle)
    app.router.add_post("/v1/messages/batches", api.create_batch)
    app.router.add_get("/v1/messages/batches", api.list_batches)
    app.router.add_get("/v1/messages/batches/{id}", api.show_batch)
    app.router.add_get("/v1/messages/batches/{id}/results", api.show_batch)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        api.url = f"http://{host}:{port}"
        yield api
    finally:
        await runner.cleanup()


def search_results(body: Body) -> list[Body]:
    """All search results of a request, in the order in which the API counts them."""
    found: list[Body] = []
    for block in _blocks(body):
        if block["type"] == "search_result":
            found.append(block)
        elif block["type"] == "tool_result" and isinstance(block["content"], list):
            found += [inner for inner in block["content"] if inner["type"] == "search_result"]
    return found


def said_in(body: Body) -> list[tuple[str, Body | str]]:
    """Who said what in a request: a user's texts read as JSON, the desk's as they are."""
    return [
        (message["role"], json.loads(block["text"]) if message["role"] == "user" else block["text"])
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "text"
    ]


def tool_results(body: Body) -> list[Body]:
    """The results of tools in a request."""
    return [block for block in _blocks(body) if block["type"] == "tool_result"]


def _blocks(body: Body) -> Iterator[Body]:
    for message in body["messages"]:
        yield from message["content"]


async def _send(response: web.StreamResponse, event: Body) -> None:
    await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


def _tokens(part: Any) -> int:
    return len(json.dumps(part)) // CHARACTERS_PER_TOKEN


def _block(
    block: Text | Use | Thought, body: Body, id_: str, room: int
) -> tuple[Body, list[Body], bool]:
    """A block's beginning, its deltas, and whether there was no room for all of it."""
    begun: Body
    match block:
        case Thought(signature=signature):
            start = {"type": "thinking", "thinking": "", "signature": ""}
            return start, [{"type": "signature_delta", "signature": signature}], False
        case Use(name=name, input=given, raw=raw):
            text = raw if raw is not None else json.dumps(given)
            pieces = [text[at : at + 9] for at in range(0, min(len(text), max(room, 0)), 9)]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            begun = {"type": "tool_use", "id": id_, "name": name, "input": {}}
            return begun, deltas, len(text) > max(room, 0)
        case Text(text=text, cites=cites, claims=claims, piece=piece):
            results = search_results(body)
            places = [(cited, 0) if isinstance(cited, int) else cited for cited in cites]
            citations = [_citation(place, results[place], block) for place, block in places]
            citations += [_claim(place, source) for place, source in enumerate(claims)]
            cited = [{"type": "citations_delta", "citation": citation} for citation in citations]
            kept = text[: max(room, 0)]
            pieces = [kept[at : at + piece] for at in range(0, len(kept), piece)]
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
            begun = {"type": "text", "text": ""} | ({"citations": []} if cited else {})
            return begun, [*cited, *deltas], len(kept) < len(text)


def _has_key(request: web.Request) -> bool:
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return KEY in {key, request.headers.get("x-api-key")}


def _result(params: Body, reply: Reply) -> Body:
    """What a batch says became of one request."""
    if not isinstance(reply, Say):
        kind = reply.type if isinstance(reply, Refuse) else "api_error"
        error = {"type": "error", "error": {"type": kind, "message": "refused"}}
        return {"type": "errored", "error": error}
    content: list[Body] = []
    for at, block in enumerate(reply.blocks):
        if isinstance(block, Text):
            content.append({"type": "text", "text": block.text})
        elif isinstance(block, Use):
            use = {"type": "tool_use", "id": f"toolu_{at}", "name": block.name}
            content.append(use | {"input": block.input})
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": params["model"],
        "content": content,
        "stop_reason": reply.stop_reason or "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return {"type": "succeeded", "message": message}


def _citation(place: int, result: Body, block: int = 0) -> Body:
    return {
        "type": "search_result_location",
        "cited_text": result["content"][block]["text"],
        "source": result["source"],
        "title": result["title"],
        "search_result_index": place,
        "start_block_index": block,
        "end_block_index": block + 1,
    }


def _claim(place: int, source: str) -> Body:
    """A citation of what was never sent."""
    return _citation(place, {"source": source, "title": source, "content": [{"text": "So it is."}]})


def _refusal(refuse: Refuse, message: str = "refused") -> web.Response:
    error = {"type": "error", "error": {"type": refuse.type, "message": message}}
    return web.json_response(error, status=refuse.status, headers=refuse.headers)
