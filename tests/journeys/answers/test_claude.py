"""A desk that answers with Claude, as visitors meet it over HTTP and its operator in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.generative.prompt import NOT_FOUND
from aitp_desk.model.calls.action import Action
from aitp_desk.store.reads import threads as reads
from tests.support.clients.ahp import CONVERSE
from tests.support.desk.command import Served, serving_command
from tests.support.desk.server import SITE
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import (
    KEY,
    Body,
    Refuse,
    Reply,
    Say,
    Text,
    in_turn,
    messages_api,
    said_in,
    say,
    search_results,
    tool_results,
    use,
)
from tests.support.sites.actions import offering

SECONDS = 30
QUESTION = "What does gift wrapping cost?"
WRAPPED = "Gift wrapping costs 2 EUR a book."
OVERLOADED = (Refuse(529, "overloaded_error", {"retry-after": "0"}),) * 3


async def test_an_ahp_answer_is_the_models_with_its_sources_and_its_tokens(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0))) as met:
        said = await met.visitor.ask(QUESTION)
        again = await met.visitor.ask(QUESTION)
        [sent] = met.api.requests
        url = met.visitor.desk.desk.site.url
    assert said.answer == WRAPPED
    [source] = said.body["response"]["sources"]
    assert source["url"] == url + search_results(sent)[0]["source"]
    assert source["relevance"] == "direct"
    meta = said.body["meta"]
    assert meta["model"] == "claude-haiku-5-5"
    assert meta["tokens_used"] > 100
    assert "fallback" not in meta
    assert again.is_cached
    assert again.answer == WRAPPED


@pytest.mark.requirement("AHP-11.4-4")
@pytest.mark.parametrize(("wished", "granted"), [(20, 20), (32_768, 600)])
async def test_the_callers_length_is_kept_and_the_owners_in_any_case(
    tmp_path: Path, wished: int, granted: int
) -> None:
    long = "Gift wrapping costs 2 EUR a book, paper and ribbon and card and all. " * 100
    async with meeting(tmp_path, in_turn(say(long, 0))) as met:
        said = await met.visitor.ask(QUESTION, max_tokens=wished)
        [sent] = met.api.requests
    assert sent["max_tokens"] == granted
    assert 0 < len(said.answer) <= granted * 4


async def test_an_ahp_answer_in_the_models_place_says_so_and_is_not_kept(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(*OVERLOADED, *OVERLOADED)) as met:
        for _ in range(2):
            said = await met.visitor.ask(QUESTION)
            assert "2 EUR" in said.answer
            assert said.body["meta"]["fallback"] == "model_failed"
            assert "model" not in said.body["meta"]
            assert not said.is_cached
        assert len(met.api.requests) == 6


async def test_the_record_of_an_ahp_answer_says_what_its_making_involved(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(*OVERLOADED)) as met:
        said = await met.visitor.ask(QUESTION)
        await met.visitor.desk.store.settled()
        session = await reads.session(met.visitor.desk.store, said.session_id)
        assert session is not None
        kept = await met.talker.messages(session.thread_id, "?order=asc")
    asked, answered = kept.ok["data"]
    assert "fallback" not in asked["metadata"]
    assert answered["metadata"]["fallback"] == "model_failed"


async def test_half_a_character_of_the_models_is_answered_as_a_whole_one(tmp_path: Path) -> None:
    half = "Gift wrapping \ud83d costs 2 EUR."
    whole = "Gift wrapping \N{REPLACEMENT CHARACTER} costs 2 EUR."
    async with meeting(tmp_path, in_turn(*[Say((Text(half, piece=99),))] * 2)) as met:
        said = await met.visitor.ask(QUESTION)
        opened = await met.talker.open(QUESTION, wait=SECONDS)
    assert said.answer == whole
    assert opened.ok["replies"][0]["content"][0] == whole


@pytest.mark.requirement("AHP-11.4-1", "AHP-11.4-5")
async def test_a_desk_whose_day_is_spent_answers_by_extraction(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(), "claude.day_tokens=100") as met:
        said = await met.visitor.ask(QUESTION)
        assert not met.api.requests
    assert "2 EUR" in said.answer
    assert said.body["meta"]["fallback"] == "budget_spent"


@pytest.mark.requirement("AHP-11.4-2", "AHP-11.4-6")
async def test_what_the_api_counts_is_what_a_session_has_used(tmp_path: Path) -> None:
    replies = in_turn(say(WRAPPED, 0), say(WRAPPED, 0))
    settings = ("limits.enabled=true", "limits.session_tokens=100")
    async with meeting(tmp_path, replies, *settings) as met:
        first = await met.visitor.ask(QUESTION)
        assert first.body["meta"]["tokens_used"] > 100
        again = await met.visitor.ask("In what?", session_id=first.session_id)
        assert again.refusal == (429, "rate_limited", None)
        assert again.body["scope"] == "session_tokens"
        assert (await met.visitor.ask("How much is gift wrapping?")).status == 200
        assert len(met.api.requests) == 2


@pytest.mark.slow
@pytest.mark.requirement("AHP-11.4-2")
async def test_by_default_the_tokens_of_a_session_last_for_all_its_turns(tmp_path: Path) -> None:
    """Ten of them, each with a search of the model's own and a good hundred words of answer."""
    words = "Gift wrapping costs 2 EUR a book, paper and ribbon and card and all. " * 10

    def script(body: Body) -> Reply:
        last = body["messages"][-1]["content"]
        has_searched = any(block["type"] == "tool_result" for block in last)
        return say(words, 0) if has_searched else use("search_site", query="gift wrapping")

    async with meeting(tmp_path, script, "limits.enabled=true") as met:
        said = await met.visitor.ask(QUESTION)
        for turn in range(2, 11):
            question = f"How much is gift wrapping for {turn} books?"
            said = await met.visitor.ask(question, session_id=said.session_id)
            assert said.answer == words
        late = await met.visitor.ask(QUESTION, session_id=said.session_id)
        assert late.refusal == (400, "invalid_request", "session_limit")
        assert len(met.api.requests) == 20


@pytest.mark.requirement("AHP-11.4-3")
async def test_a_caller_whose_day_is_spent_costs_nothing_more(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.day_tokens=100")
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0)), *settings) as met:
        assert (await met.visitor.ask(QUESTION)).status == 200
        refused = await met.visitor.ask("In what?")
        assert refused.refusal == (429, "rate_limited", None)
        assert "scope" not in refused.body
        assert (await met.visitor.ask(QUESTION)).is_cached
        assert (await met.visitor.ask("Where are you?", "contact")).status == 200
        assert len(met.api.requests) == 1


@pytest.mark.requirement("AHP-11.4-3")
async def test_what_a_model_has_used_that_failed_counts_as_well(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.day_tokens=100")
    replies = in_turn(say("", stop_reason="refusal"))
    async with meeting(tmp_path, replies, *settings) as met:
        said = await met.visitor.ask(QUESTION)
        assert said.body["meta"]["fallback"] == "model_failed"
        assert (await met.visitor.ask("In what?")).status == 429


async def test_a_follow_up_includes_what_was_said(tmp_path: Path) -> None:
    replies = in_turn(say(WRAPPED, 0), say(f"{NOT_FOUND} The site does not tell."))
    async with meeting(tmp_path, replies) as met:
        first = await met.visitor.ask(QUESTION)
        second = await met.visitor.ask("And for hats?", session_id=first.session_id)
        told = said_in(met.api.requests[1])
    assert told == [
        ("user", {"visitor": QUESTION}),
        ("assistant", WRAPPED),
        ("user", {"visitor": "And for hats?"}),
    ]
    assert second.answer == "The site does not tell."
    assert second.body["response"]["sources"] == []


async def test_the_model_asks_back_and_gets_the_answer(tmp_path: Path) -> None:
    asks = use("ask_visitor", question="Paper or ribbon?", options=["Paper", "Ribbon"])
    async with meeting(tmp_path, in_turn(asks, say(WRAPPED, 0))) as met:
        first = await met.visitor.ask("How much is it?")
        assert first.body["status"] == "clarification_needed"
        assert first.body["clarification"]["options"] == ["Paper", "Ribbon"]
        assert first.body["meta"]["tokens_used"] > 100
        assert first.body["meta"]["model"] == "claude-haiku-5-5"
        second = await met.visitor.ask(
            "How much is it?", session_id=first.session_id, clarification="Paper"
        )
        told = said_in(met.api.requests[1])
    assert second.answer == WRAPPED
    assert [role for role, _ in told] == ["user", "assistant", "user"]
    assert told[-1] == ("user", {"visitor": "Paper"})


@pytest.mark.requirement("AHP-8.1-2")
@pytest.mark.parametrize("context", [{}, {"requesting_agent": "admin"}])
async def test_the_model_calls_what_the_visitor_may_call_and_nothing_else(
    tmp_path: Path, context: dict[str, Any]
) -> None:
    performed: list[tuple[str, str]] = []

    def action(name: str, *, is_open: bool) -> OfferedAction:
        async def perform(who: str, arguments: Mapping[str, Any]) -> str:
            performed.append((name, str(arguments["order"])))
            return "Order A7 left on Monday."

        return offering(
            Action(name, "Tells how far an order is.", open_to="anyone" if is_open else "actions"),
            perform,
        )

    def script(body: dict[str, Any]) -> Reply:
        """Calls all that it can name, whatever it was offered."""
        if tool_results(body):
            return say("It left on Monday.")
        calls = [use(f"site_{name}", order="A7").blocks[0] for name in ("track", "cancel")]
        return msgspec.structs.replace(say(""), blocks=tuple(calls))

    actions = (action("track", is_open=True), action("cancel", is_open=False))
    async with meeting(tmp_path, script, actions=actions) as met:
        said = await met.visitor.ask("Where is A7?", **context)
        offered = {tool["name"] for tool in met.api.requests[0]["tools"]}
        tracked, cancelled = tool_results(met.api.requests[1])
    assert performed == [("track", "A7")]
    assert "site_cancel" not in offered
    assert "left on Monday" in tracked["content"]
    assert cancelled["is_error"]
    assert said.body["meta"]["tools_used"] == ["track"]


async def test_what_a_tool_returned_to_one_caller_is_returned_to_no_other(tmp_path: Path) -> None:
    asked_by: list[str] = []

    async def perform(who: str, _arguments: Mapping[str, Any]) -> str:
        asked_by.append(who)
        return f"The order of {who} left on Monday."

    def script(body: dict[str, Any]) -> Reply:
        results = tool_results(body)
        return say(results[0]["content"]) if results else use("site_track")

    actions = (offering(Action("track", "Tells how far an order is."), perform),)
    async with meeting(tmp_path, script, actions=actions) as met:
        answers = [await met.visitor.ask("Where is it?") for _ in range(2)]
    assert len(asked_by) == 2
    assert not any(said.is_cached for said in answers)


async def test_who_may_call_more_is_not_answered_from_what_others_were_told(tmp_path: Path) -> None:
    async def perform(_who: str, _arguments: Mapping[str, Any]) -> str:
        return "Sent."

    def script(body: dict[str, Any]) -> Reply:
        names = {tool["name"] for tool in body["tools"]}
        return say("I can send vouchers." if "site_send" in names else "I cannot send vouchers.")

    actions = (offering(Action("send", "Sends a voucher.", open_to="actions"), perform),)
    async with meeting(tmp_path, script, actions=actions) as met:
        key = (await met.talker.with_key("actions")).key
        mine = [("Authorization", f"Bearer {key}")]
        assert (await met.visitor.ask("Can you?")).answer == "I cannot send vouchers."
        assert (await met.visitor.ask("Can you?", headers=mine)).answer == "I can send vouchers."
        assert (await met.visitor.ask("Can you?")).is_cached


async def test_a_thread_is_answered_by_the_model(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0), say("You are welcome."))) as met:
        opened = await met.talker.open(QUESTION, wait=SECONDS)
        [reply] = opened.ok["replies"]
        assert reply["content"][0] == WRAPPED
        assert "/guides/gift-wrapping#what-it-costs" in reply["content"][1]
        assert "fallback" not in reply["metadata"]
        await met.talker.post(opened.id, "Thanks!", wait=SECONDS)
        told = said_in(met.api.requests[1])
    assert told[:2] == [("user", {"visitor": QUESTION}), ("assistant", WRAPPED)]


async def test_a_reply_on_a_thread_says_that_extraction_answered(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(*OVERLOADED)) as met:
        opened = await met.talker.open(QUESTION, wait=SECONDS)
        [reply] = opened.ok["replies"]
    assert "2 EUR" in reply["content"][0]
    assert reply["metadata"]["fallback"] == "model_failed"


# --- the process ----------------------------------------------------------------------------


async def ask(served: Served) -> dict[str, Any]:
    """Put the question to a desk in a separate process."""
    question = {"capability": "content_search", "query": QUESTION}
    async with (
        aiohttp.ClientSession(served.url) as http,
        http.post(CONVERSE, json=question) as response,
    ):
        body: dict[str, Any] = await response.json()
        return body


@pytest.mark.servers
@pytest.mark.parametrize("key", [KEY, "sk-ant-wrong-0123456789"])
async def test_the_key_in_the_environment_switches_the_model_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    async with messages_api(lambda _: say(WRAPPED, 0)) as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_LOG", "debug")
        debug = ("--set", "log.level=debug")
        async with serving_command(SITE, tmp_path / "data", *debug) as served:
            [line] = [line for line in served.report if line.startswith("  agent")]
            assert line.endswith("claude-haiku-5-5, else extractive")
            said = await ask(served)
            log = await served.stop()
    assert served.process.returncode == 0
    assert api.headers[0]["authorization"] == f"Bearer {key}"
    [event] = [event for line in log if "model_" in (event := json.loads(line))["event"]]
    if key == KEY:
        assert said["response"]["answer"] == WRAPPED
        assert (event["event"], event["level"]) == ("model_replied", "info")
    else:
        assert "2 EUR" in said["response"]["answer"]
        assert said["meta"]["fallback"] == "model_failed"
        assert (event["event"], event["level"]) == ("model_failed", "warning")
        assert "ANTHROPIC_API_KEY" in event["hint"]
    assert key not in "\n".join([*log, *served.report])
    assert QUESTION not in "\n".join(log)


ANSWERS = """
import asyncio, sys
from pathlib import Path
import aiohttp
from aitp_desk.app.server import open_server
from aitp_desk.config import load_config

async def main(site, data, key):
    config = load_config(Path(site), (), port=0, data=Path(data))
    question = {"capability": "content_search", "query": "What does gift wrapping cost?"}
    environment = {} if key is None else {"ANTHROPIC_API_KEY": key}
    async with open_server(config, environment=environment) as desk:
        if key is None:
            async with aiohttp.ClientSession(desk.url) as http:
                async with http.post("/agent/converse", json=question) as response:
                    assert "2 EUR" in (await response.json())["response"]["answer"]
    heavy = ("anthropic", "httpx2", "pydantic", "opentelemetry")
    print([name for name in heavy if name in sys.modules])

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None))
"""


@pytest.mark.servers
@pytest.mark.parametrize("key", [(), (KEY,)], ids=["answering without a key", "only serving"])
def test_the_sdk_is_not_loaded_before_it_is_used(tmp_path: Path, key: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS, str(SITE), str(tmp_path / "data"), *key],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={name: value for name, value in os.environ.items() if "ANTHROPIC" not in name},
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
