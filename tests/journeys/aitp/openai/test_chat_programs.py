"""What chat programs send to any server of the OpenAI API is answered: models and odd members."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.threads import talking
from tests.support.doubles.agent import ScriptedAgent

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "Hello!", "name": "Ada"},
    {"role": "assistant", "content": "Hello.", "tool_calls": None, "refusal": None},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": [{"type": "text", "text": "When do you open?"}]},
]
USUAL: dict[str, Any] = {
    "temperature": 0.7,
    "top_p": 1,
    "user": "",
    "metadata": {},
    "store": False,
    "parallel_tool_calls": True,
    "service_tier": "auto",
    "prompt_cache_key": "chat-1",
    "safety_identifier": "ada",
    "tools": [],
    "tool_choice": "auto",
}
OF_CHAT: dict[str, Any] = {
    "frequency_penalty": 0,
    "presence_penalty": 0.0,
    "logit_bias": {},
    "logprobs": False,
    "max_tokens": 4096,
    "n": 1,
    "reasoning_effort": "medium",
    "response_format": {"type": "text"},
    "seed": 42,
    "stop": None,
    "stream_options": {"include_usage": True},
    "verbosity": "medium",
    "web_search_options": {},
    "functions": None,
    "chat_id": "of the program itself",
}
OF_RESPONSES: dict[str, Any] = {
    "include": ["reasoning.encrypted_content", "web_search_call.action.sources"],
    "max_output_tokens": 4096,
    "reasoning": {"effort": "medium", "summary": "auto"},
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "truncation": "auto",
    "tools": [{"type": "web_search"}],
    "previous_response_id": None,
    "background": False,
}


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_every_model_that_is_listed_works_with_all_that_programs_send(
    tmp_path: Path, *, streams: bool
) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        listed = (await talker.send("GET", "/v1/models")).ok["data"]
        assert listed
        assert all({"id", "object", "created", "owned_by"} <= one.keys() for one in listed)
        for one in listed:
            assert (await talker.send("GET", f"/v1/models/{one['id']}")).ok["id"] == one["id"]
            chat = {"model": one["id"], "messages": HISTORY, "stream": streams, **USUAL, **OF_CHAT}
            items = [part for part in HISTORY if part["content"]]
            asked = {"model": one["id"], "input": items, "stream": streams, **USUAL, **OF_RESPONSES}
            for path, body in ((CHAT, chat), (RESPONSES, asked)):
                async with talker.http.post(path, json=body) as response:
                    text = await response.text()
                    assert response.status == 200, (path, text)
                assert "asked: When do you open?" in said(text, streams=streams), (path, text)


def said(text: str, *, streams: bool) -> str:
    """The answer's text, whole or put together."""
    if not streams:
        return text
    pieces = [
        json.loads(line.removeprefix("data: "))
        for line in text.splitlines()
        if line.startswith("data: {")
    ]
    deltas = [
        piece.get("delta", "") if piece.get("type", "").endswith("output_text.delta") else ""
        for piece in pieces
    ]
    chosen = [choice["delta"].get("content") for one in pieces for choice in one.get("choices", ())]
    return "".join((*deltas, *filter(None, chosen)))
