"""A model behind Chat Completions answers, cites, calls tools and fails as Claude does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn, read_outcome
from aitp_desk.agent.generative.agent import ModelAgent
from aitp_desk.agent.generative.providers.base import Citation, Text
from aitp_desk.agent.generative.providers.chain import connect_models
from aitp_desk.agent.generative.providers.completions.marks import CitationMarks
from aitp_desk.agent.generative.providers.completions.thoughts import Thoughts
from aitp_desk.agent.tools import ToolResult
from aitp_desk.config import Model
from aitp_desk.knowledge.snapshot import open_knowledge
from aitp_desk.model.conversation.run import ToolCall
from tests.support.desk.server import SITE as PAGES
from tests.support.doubles.chat_api import VARIABLE, ChatApi, Server, chat_api
from tests.support.doubles.claude_agent import PRICE, QUESTION, SITE, WRAPPED, order_tool
from tests.support.doubles.messages_api import (
    KEY,
    Raw,
    Refuse,
    Reply,
    Say,
    Use,
    in_turn,
    say,
    search_results,
    tool_results,
    use,
)
from tests.support.doubles.messages_api import (
    Text as Said,
)


class Asked:
    def __init__(self, agent: ModelAgent, api: ChatApi) -> None:
        self.agent = agent
        self.api = api

    async def outcome(self, **details: Any) -> Outcome:
        return await read_outcome(self.agent, Turn(QUESTION, SITE, **details))

    async def answer(self, **details: Any) -> Answer:
        outcome = await self.outcome(**details)
        assert isinstance(outcome, Answer), outcome
        return outcome


@asynccontextmanager
async def asking(
    folder: Path, *replies: Reply, server: Server | None = None, key: str = KEY, **settings: Any
) -> AsyncIterator[Asked]:
    async with (
        chat_api(in_turn(*replies), server) as api,
        open_knowledge(PAGES, data=folder, poll_seconds=60) as knowledge,
    ):
        url, variable = f"{api.url}/v1", VARIABLE if key else ""
        model = Model(provider="openai", name="qwen3", url=url, key_env=variable, **settings)
        models = connect_models(model, {VARIABLE: key})
        agent = ModelAgent(knowledge, model, models=models, sleep=lambda _: asyncio.sleep(0))
        try:
            yield Asked(agent, api)
        finally:
            await agent.close()


async def test_what_a_model_thinks_before_its_answer_is_not_shown(tmp_path: Path) -> None:
    thought = "<think>\nThe visitor [1] asks for a price.\n</think>\n\n"
    reply = Say((Said(f"{thought}{WRAPPED}", (0,), piece=4),))
    async with asking(tmp_path, reply) as asked:
        said = await asked.answer()
    assert (said.text, len(said.sources)) == (WRAPPED, 1)


@pytest.mark.parametrize("piece", [1, 2, 3, 99])
async def test_a_mark_becomes_a_source_however_the_text_comes(tmp_path: Path, piece: int) -> None:
    reply = Say((Said(WRAPPED, (0,), ("https://elsewhere.example",), piece=piece),))
    async with asking(tmp_path, reply) as asked:
        said = await asked.answer()
        [sent] = asked.api.requests
    assert (said.text, said.model, said.fallback) == (WRAPPED, "qwen3", None)
    [source] = said.sources
    assert (source.url, source.relevance) == (search_results(sent)[0]["source"], "direct")
    assert said.usage is not None
    assert said.usage.total > 100


async def test_a_search_and_its_result_are_a_call_and_its_answer(tmp_path: Path) -> None:
    async with asking(tmp_path, use("search_site", query="returns"), say(WRAPPED, 0)) as asked:
        said = await asked.answer()
        [_, second] = asked.api.requests
    assert said.text == WRAPPED
    assert len(tool_results(second)) == 1


@pytest.mark.parametrize("server", [Server(), Server(numbers_calls=False, ends_calls="stop")])
async def test_calls_at_once_are_both_carried_out(tmp_path: Path, server: Server) -> None:
    invoked: list[str] = []

    async def invoke(call: ToolCall) -> ToolResult:
        invoked.append(call.arguments)
        return ToolResult("sent")

    both = Say((Use("site_order_status", {"order": "1"}), Use("site_order_status", {"order": "2"})))
    async with asking(tmp_path, both, say("Both were sent."), server=server) as asked:
        said = await asked.answer(tools=(order_tool(),), invoke=invoke)
    assert said.text == "Both were sent."
    assert invoked == ['{"order":"1"}', '{"order":"2"}']


async def test_the_model_may_ask_the_visitor(tmp_path: Path) -> None:
    async with asking(tmp_path, use("ask_visitor", question="Which?", options=["a"])) as asked:
        outcome = await asked.outcome()
    assert isinstance(outcome, Clarification)


FAILS: dict[str, tuple[Reply, ...]] = {
    "filtered": (say("I am sor", stop_reason="refusal"),),
    "a reason of the future": (say("Hm", stop_reason="gone_fishing"),),
    "nothing": (Say(()),),
    "cut off": (say("Gift wrapping costs some ", cut_off=True),),
    "an error inside": (say("Gift wrapping costs some ", error="server_error"),),
    "too long": (Refuse(400, "context_length_exceeded"),),
    "no money": (Refuse(429, "insufficient_quota"),),
    "unavailable": (Refuse(503, "overloaded"),) * 3,
    "no JSON": (Raw(("{",)),),
    "no choices": (Raw(({"choices": [{}]}, {"choices": 7})),),
    "arguments that are no JSON": (Say((Use("search_site", raw='{"query": ]'),)),),
}


@pytest.mark.parametrize("replies", FAILS.values(), ids=FAILS.keys())
async def test_extraction_answers_where_the_model_fails(
    tmp_path: Path, replies: tuple[Reply, ...]
) -> None:
    async with asking(tmp_path, *replies) as asked:
        with capture_logs() as logs:
            said = await asked.answer()
    assert (said.fallback, PRICE in said.text) == ("model_failed", True)
    assert len([line for line in logs if line["event"] == "model_failed"]) == 1


async def test_a_refused_key_is_told_by_its_variable(tmp_path: Path) -> None:
    async with asking(tmp_path, key="wrong") as asked:
        with capture_logs() as logs:
            said = await asked.answer()
    assert said.fallback == "model_failed"
    assert [line["hint"] for line in logs] == [f"The API refuses {VARIABLE}."]


async def test_a_server_without_keys_is_sent_none(tmp_path: Path) -> None:
    server = Server(needs_key=False)
    async with asking(tmp_path, say(WRAPPED, 0), server=server, key="") as asked:
        assert (await asked.answer()).text == WRAPPED
        [headers] = asked.api.headers
    assert "authorization" not in headers


async def test_tokens_that_are_not_counted_are_estimated(tmp_path: Path) -> None:
    async with asking(tmp_path, say(WRAPPED, 0), server=Server(counts=False)) as asked:
        said = await asked.answer()
    assert said.usage is not None
    assert said.usage.prompt > 100
    assert said.usage.completion > 5


async def test_a_budget_that_is_used_up_ends_the_reply(tmp_path: Path) -> None:
    async with asking(tmp_path, reply_tokens=256) as asked:
        said = await asked.answer()
        assert asked.api.bodies == []
    assert said.fallback == "budget_spent"


REFUSED = {
    "tools": ("does not support tools", "tools", False),
    "tools by vLLM": (
        '"auto" tool choice requires --enable-auto-tool-choice',
        "tools",
        False,
    ),
    "stream_options": ("Unknown parameter: 'stream_options'.", "stream_options", True),
    "max_tokens": (
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "max_tokens",
        True,
    ),
}


@pytest.mark.parametrize(("message", "name", "keeps_tools"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("names_parameter", [True, False])
async def test_a_refused_parameter_is_left_out_from_then_on(
    tmp_path: Path, message: str, name: str, keeps_tools: bool, names_parameter: bool
) -> None:
    server = Server(refuses={name: message}, names_parameter=names_parameter)
    async with asking(tmp_path, say(WRAPPED, 0), say(WRAPPED, 0), server=server) as asked:
        with capture_logs() as logs:
            said = [await asked.answer(), await asked.answer()]
        assert len(asked.api.bodies) == 3
        assert asked.agent.calls_tools == keeps_tools
    assert [one.text for one in said] == [WRAPPED, WRAPPED]
    told = [line["parameter"] for line in logs if line["event"] == "model_refuses_parameter"]
    assert told == ([] if name == "max_tokens" else [name])


SENT = tuple(Citation(place, 0, f"/{place}") for place in range(3))


def read(pieces: list[str], passages: tuple[Citation, ...] = SENT) -> tuple[str, list[int]]:
    marks = CitationMarks(passages)
    out = [one for piece in pieces for one in marks.feed(piece)] + marks.close()
    text = "".join(one.text for one in out if isinstance(one, Text))
    return text, [one.index + 1 for one in out if isinstance(one, Citation)]


@pytest.mark.parametrize(
    ("said", "shown", "cited"),
    [
        ("It costs 2 EUR [1].", "It costs 2 EUR.", [1]),
        ("It costs 2 EUR[1][3].", "It costs 2 EUR.", [1, 3]),
        ("Both [1, 2] and 【3】", "Both and", [1, 2, 3]),
        ("Invented [9], none [0].", "Invented, none.", []),
        ("In [2024] and [a] and [", "In [2024] and [a] and [", []),
        ("See [1](https://fern.example).", "See [1](https://fern.example).", []),
        ("Write `items[1]` here [2].", "Write `items[1]` here.", [2]),
    ],
)
def test_marks_are_taken_out(said: str, shown: str, cited: list[int]) -> None:
    assert read([said]) == (shown, cited)
    assert read(list(said)) == (shown, cited)


def test_without_passages_the_text_stays() -> None:
    assert read(["As said in [1]."], ()) == ("As said in [1].", [])


@given(st.lists(st.text(alphabet="a [1],]`(9", max_size=6), max_size=8))
def test_no_division_of_a_text_changes_what_is_read(pieces: list[str]) -> None:
    assert read(pieces) == read(["".join(pieces)])


def think(pieces: list[str]) -> str:
    thoughts = Thoughts()
    return "".join(thoughts.feed(piece) for piece in pieces) + thoughts.close()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<think>Hm.</think>\n\nYes.", "Yes."),
        ("\n<think></think><think>Again.</think> Yes. ", "Yes. "),
        ("<think>Never ended", ""),
        ("<think>", ""),
        ("<thin", "<thin"),
        (" Yes, <think> is a tag.</think>", " Yes, <think> is a tag.</think>"),
    ],
)
def test_thoughts_before_an_answer_are_left_out(said: str, shown: str) -> None:
    assert think([said]) == shown
    assert think(list(said)) == shown


PARTS = st.sampled_from(["<think>", "</think>", "<thi", "nk>", "a", " ", "\n", "</", "<"])


@given(st.lists(st.lists(PARTS, max_size=3).map("".join), max_size=6))
def test_no_division_of_a_text_changes_what_is_left_out(pieces: list[str]) -> None:
    assert think(pieces) == think(["".join(pieces)])
