"""A stand-in for Chat Completions on the loopback: the documented wire, scripted as a test says.

A script reads requests in the form of the Messages API, so that one script serves both wires: what
came is read back into that form. Quotations become numbers in brackets, as a model writes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from aitp_desk.agent.generative.prompt import QUOTING
from aitp_desk.config import Model
from tests.support.doubles.chat_rules import problem_of
from tests.support.doubles.messages_api import (
    CHARACTERS_PER_TOKEN,
    KEY,
    Body,
    MessagesApi,
    Raw,
    Refuse,
    Say,
    Script,
    Text,
    Use,
)

VARIABLE = "MODEL_KEY"
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


class Server(msgspec.Struct, frozen=True):
    """How a server differs from OpenAI's.

    Parameters:
        refuses: parameters that it refuses, with the message.
        status: the status of such a refusal.
        names_parameter: whether the error names the parameter.
        counts: whether it counts tokens.
        numbers_calls: whether parallel calls have different indexes.
        ends_calls: the reason with which a message with calls ends.
        needs_key: whether it needs one.
    """

    refuses: dict[str, str] = {}
    status: int = 400
    names_parameter: bool = True
    counts: bool = True
    numbers_calls: bool = True
    ends_calls: str = "tool_calls"
    needs_key: bool = True


class ChatApi(MessagesApi):
    """What the API was asked, and what it will say.

    Attributes:
        bodies: the requests as they came; ``requests`` has them in the form of the Messages API.
    """

    def __init__(self, script: Script, server: Server) -> None:
        super().__init__(script)
        self.bodies: list[Body] = []
        self._server = server
        self._messages = 0

    @property
    def environment(self) -> dict[str, str]:
        """What makes a desk with :attr:`settings` call it."""
        return {VARIABLE: KEY}

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that make a desk call it."""
        return (
            "model.provider=openai",
            "model.name=qwen3",
            f"model.url={self.url}/v1",
            f"model.key_env={VARIABLE}",
        )

    def choose_model(self, settings: Model) -> Model:
        """Return settings whose model it serves."""
        return msgspec.structs.replace(
            settings, provider="openai", name="qwen3", url=f"{self.url}/v1", key_env=VARIABLE
        )

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer ``POST /v1/chat/completions``."""
        body = json.loads(await request.read())
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        authorized = request.headers.get("Authorization") == f"Bearer {KEY}"
        if self._server.needs_key and not authorized:
            return _refusal(401, "Incorrect API key provided", code="invalid_api_key")
        for name, message in self._server.refuses.items():
            if name in body:
                named = name if self._server.names_parameter else None
                return _refusal(self._server.status, message, param=named)
        if problem := problem_of(body):
            return _refusal(400, problem)
        read = _as_messages_request(body)
        self.requests.append(read)
        reply = self.script(read)
        if isinstance(reply, Refuse):
            return _refusal(reply.status, "refused", code=reply.type, headers=reply.headers)
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
                await self._say(request, response, body, reply)
        finally:
            self.ended.set()
        return response

    async def _say(  # noqa: C901 -- the wire, from its beginning to its end
        self, request: web.Request, response: web.StreamResponse, body: Body, reply: Say
    ) -> None:
        self._messages += 1

        async def send(delta: Body, reason: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            usage = {"usage": None} if "stream_options" in body else {}
            await _send(response, {**self._chunk(body), "choices": [choice], **usage})

        await send({"role": "assistant", "content": ""})
        room = (body.get("max_tokens") or body["max_completion_tokens"]) * CHARACTERS_PER_TOKEN
        written, is_cut, calls = 0, False, 0
        for block in reply.blocks:
            if isinstance(block, Text):
                text = block.text + _marks(block, body)
                is_cut = is_cut or len(text) > room - written
                text = text[: max(0, room - written)]
                for at in range(0, len(text), block.piece):
                    await send({"content": text[at : at + block.piece]})
                    if reply.holds is not None:
                        await reply.holds.wait()
                written += len(text)
            elif isinstance(block, Use):
                index = calls if self._server.numbers_calls else 0
                id_ = f"call_{self._messages}_{calls}"
                calls += 1
                await send({"tool_calls": [_call(index, id=id_, name=block.name)]})
                text = block.raw if block.raw is not None else json.dumps(block.input)
                is_cut = is_cut or len(text) > room - written
                text = text[: max(0, room - written)]
                for at in range(0, len(text), 9):
                    await send({"tool_calls": [_call(index, arguments=text[at : at + 9])]})
                written += len(text)
        if reply.error:
            error = {"message": "Overloaded", "type": reply.error, "code": None}
            await _send(response, {"error": error})
            return
        if reply.cut_off:
            if request.transport is not None:
                request.transport.close()
            return
        reason = self._server.ends_calls if calls else "stop"
        if reply.stop_reason:
            reason = _REASONS.get(reply.stop_reason, reply.stop_reason)
        await send({}, "length" if is_cut else reason)
        if "stream_options" in body and self._server.counts:
            prompt = len(json.dumps(body["messages"])) // CHARACTERS_PER_TOKEN
            completion = written // CHARACTERS_PER_TOKEN + 1
            usage = {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "prompt_tokens_details": {"cached_tokens": 0},
            }
            await _send(response, {**self._chunk(body), "choices": [], "usage": usage})
        await response.write(b"data: [DONE]\n\n")

    def _chunk(self, body: Body) -> Body:
        return {
            "id": f"chatcmpl-{self._messages}",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": body["model"],
        }


@asynccontextmanager
async def chat_api(script: Script, server: Server | None = None) -> AsyncIterator[ChatApi]:
    """The API on a free port; its address is ``.url``, with ``/v1`` the base URL."""
    api = ChatApi(script, server or Server())
    app = web.Application(client_max_size=8 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", api.handle)
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


def sent_passages(body: Body) -> list[Body]:
    """The numbered passages of a request, in their order."""
    found = []
    for message in body["messages"]:
        if message["role"] in {"user", "tool"}:
            read = [_line(line) for line in message["content"].split("\n")]
            found += [one for one in read if isinstance(one, dict) and "search_result" in one]
    assert [one["search_result"] for one in found] == list(range(1, len(found) + 1))
    return found


def _line(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line


def _marks(block: Text, body: Body) -> str:
    """What a model writes after a text to say where it has it from."""
    results: list[list[int]] = []
    for passage in sent_passages(body):
        if results and passage["source"] == _source(body, results[-1][-1]):
            results[-1].append(passage["search_result"])
        else:
            results.append([passage["search_result"]])
    places = [(cited, 0) if isinstance(cited, int) else cited for cited in block.cites]
    numbers = [results[result][part] for result, part in places]
    return "".join(f" [{number}]" for number in numbers) + " [999]" * len(block.claims)


def _source(body: Body, number: int) -> str:
    return str(sent_passages(body)[number - 1]["source"])


def _call(index: int, id: str | None = None, **function: str) -> Body:
    begun = {} if id is None else {"id": id, "type": "function"}
    return {"index": index, **begun, "function": function}


def _as_messages_request(body: Body) -> Body:
    """A request in the form of the Messages API."""
    system, *said = body["messages"]
    messages: list[Body] = []
    for message in said:
        role = "assistant" if message["role"] == "assistant" else "user"
        content: list[Body]
        if message["role"] == "assistant":
            text = [{"type": "text", "text": message["content"]}] if message["content"] else []
            content = text + [
                {
                    "type": "tool_use",
                    "id": call["id"],
                    "name": call["function"]["name"],
                    "input": json.loads(call["function"]["arguments"]),
                }
                for call in message.get("tool_calls", ())
            ]
        elif message["role"] == "tool":
            lines = message["content"].split("\n")
            is_search = "search_result" in (_line(lines[0]) or {})
            result = _results(lines) if is_search else message["content"]
            block = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
            failed = {"is_error": True} if message["content"].startswith('{"failed":') else {}
            content = [{**block, "content": result, **failed}]
        else:
            content = _results(message["content"].split("\n"))
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += content
        else:
            messages.append({"role": role, "content": content})
    instructions = re.sub(re.escape(f"\n{QUOTING}") + r"\Z", "", system["content"])
    tools = [
        {
            "name": tool["function"]["name"],
            "description": tool["function"]["description"],
            "input_schema": tool["function"]["parameters"],
        }
        for tool in body.get("tools", ())
    ]
    return {
        "model": body["model"],
        "max_tokens": body.get("max_tokens") or body["max_completion_tokens"],
        "system": [{"type": "text", "text": instructions}],
        "messages": messages,
        **({"tools": tools} if tools else {}),
        **({"tool_choice": body["tool_choice"]} if "tool_choice" in body else {}),
    }


def _results(lines: list[str]) -> list[Body]:
    """Lines of a user's message as blocks: passages of one page are one search result."""
    blocks: list[Body] = []
    for line in lines:
        read = _line(line)
        if not (isinstance(read, dict) and "search_result" in read):
            blocks.append({"type": "text", "text": line})
            continue
        last = blocks[-1] if blocks else {"type": "text"}
        if last["type"] != "search_result" or last["source"] != read["source"]:
            last = {"type": "search_result", "source": read["source"], "title": read["title"]}
            blocks.append({**last, "content": [], "citations": {"enabled": True}})
        blocks[-1]["content"].append({"type": "text", "text": read["text"]})
    return blocks


async def _send(response: web.StreamResponse, event: Any) -> None:
    data = event if isinstance(event, str) else json.dumps(event)
    await response.write(f"data: {data}\n\n".encode())


def _refusal(
    status: int,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    headers: dict[str, str] | None = None,
) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)
