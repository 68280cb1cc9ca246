"""A desk whose model is behind Chat Completions, as visitors and its owner meet it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aitp_desk.cli import main
from tests.journeys.answers.test_claude_actions import ORDER, Till, buyer, eager
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Refuse, in_turn, say, search_results

QUESTION = "What does gift wrapping cost?"
WRAPPED = "Gift wrapping costs 2 EUR a book."


@pytest.mark.parametrize("is_chat", [False, True], ids=["messages", "chat"])
async def test_an_answer_has_the_same_source_over_both_wires(
    tmp_path: Path, *, is_chat: bool
) -> None:
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0)), is_chat=is_chat) as met:
        said = await met.visitor.ask(QUESTION)
        [sent] = met.api.requests
        url = met.visitor.desk.desk.site.url
    assert said.answer == WRAPPED
    [source] = said.body["response"]["sources"]
    assert source["url"] == url + search_results(sent)[0]["source"]
    assert source["relevance"] == "direct"
    assert said.body["meta"]["model"] == ("qwen3" if is_chat else "claude-haiku-5-5")
    assert said.body["meta"]["tokens_used"] > 100


@pytest.mark.parametrize("is_chat", [False, True], ids=["messages", "chat"])
async def test_what_costs_waits_for_the_visitors_yes(tmp_path: Path, *, is_chat: bool) -> None:
    till = Till()
    async with meeting(tmp_path, eager, actions=(till.offered,), is_chat=is_chat) as met:
        who = await buyer(met)
        opened = await who.open("Yes, two of A7.", wait=30)
        assert not till.took
        await who.post(opened.id, "yes", wait=30)
    assert till.took == [(ORDER["sku"], ORDER["quantity"])]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [((), "model_failed"), (("model.day_tokens=100",), "budget_spent")],
)
async def test_extraction_answers_in_its_place(
    tmp_path: Path, settings: tuple[str, ...], reason: str
) -> None:
    async with meeting(tmp_path, in_turn(Refuse(401, "no")), *settings, is_chat=True) as met:
        said = await met.visitor.ask(QUESTION)
    assert "2 EUR" in said.answer
    assert said.body["meta"]["fallback"] == reason


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (("model.provider=openai",), "model.name: name a model of this server"),
        (
            ("model.provider=openai", "model.name=x", "model.key_env=NO_SUCH_KEY"),
            "model: NO_SUCH_KEY is not set. x is not used.",
        ),
    ],
)
def test_check_tells_what_is_wrong(tmp_path: Path, settings: tuple[str, ...], told: str) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n", "utf-8")
    arguments: list[Any] = ["check", str(tmp_path)]
    for setting in (*settings, "content.folder=."):
        arguments += ["--set", setting]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    assert told in done.output
