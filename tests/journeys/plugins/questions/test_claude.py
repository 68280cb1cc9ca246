"""A model that calls actions where the desk asks by capabilities: what it lacks, and whether."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import load_config
from tests.support.clients.threads import Told
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Script, in_turn, say, tool_results, use
from tests.support.sites.tents import REQUESTS, SLUG, Buyer, decision, make_site, requests_in

SECONDS = 30
ACTOR = {"id": "https://buyer.example", "capabilities": [{"schema": SLUG}]}
BEGINS = use("site_order_tent", "Let me see.")
ORDERS = use("site_order_tent", tent="cove", colour="blue")
DONE = "The blue cove is yours."


class Model:
    """A scripted model, and a caller who buys from it."""

    def __init__(self, buyer: Buyer, requests: list[Any]) -> None:
        self.buyer = buyer
        self.requests = requests

    async def open(self, words: str) -> tuple[str, list[str]]:
        """Open a thread by an actor that reads requests, and read what is said to that."""
        opened = await self.buyer.talker.open(words, wait=SECONDS, metadata={"actors": [ACTOR]})
        return opened.id, replies(opened)


def replies(told: Told) -> list[str]:
    return [text for one in told.ok["replies"] for text in one["content"]]


@asynccontextmanager
async def modelling(folder: Path, script: Script) -> AsyncIterator[Model]:
    site = make_site(folder)
    offered = load_actions(load_config(site)).offered
    async with meeting(folder / "desk", script, REQUESTS, actions=offered) as met:
        who = await met.talker.with_key("actions", "threads")
        yield Model(Buyer(who, site), met.api.requests)


async def test_a_model_begins_and_the_desk_asks_for_the_rest(tmp_path: Path) -> None:
    async with modelling(tmp_path, in_turn(BEGINS, say("Enjoy your tent."))) as model:
        buyer = model.buyer
        thread, (asked,) = await model.open("I'd like a tent")
        assert json.loads(asked)["request_decision"]["title"] == "Which tent?"
        assert "Let me see" not in asked
        assert len(model.requests) == 1
        (colour,) = await buyer.post(thread, decision((await buyer.asked(thread))["id"], "t-cove"))
        assert json.loads(colour)["request_decision"]["title"] == "Which colour?"
        (sure,) = await buyer.post(thread, "blue")
        assert json.loads(sure)["request_decision"]["type"] == "confirmation"
        assert len(model.requests) == 1, "the desk asks without it"
        assert buyer.orders == []
        told = await buyer.post(thread, "yes")
        assert told == ["Enjoy your tent."]
        assert buyer.orders == ["cove blue"]
        (result,) = tool_results(model.requests[1])
        assert DONE in result["content"]


@pytest.mark.slow
async def test_a_consent_is_a_confirmation_and_a_yes_to_something_else_is_none(
    tmp_path: Path,
) -> None:
    script = in_turn(ORDERS, say("We also have maps. Would you like one?"), say("Here you are."))
    async with modelling(tmp_path, script) as model:
        buyer = model.buyer
        thread, (asked,) = await model.open("The blue cove, please")
        assert json.loads(asked)["request_decision"]["type"] == "confirmation"
        await buyer.post(thread, "What else is there?")
        assert await buyer.post(thread, "yes") == ["Here you are."]
        assert buyer.orders == []
        (request,) = requests_in(await buyer.said(thread))
        await buyer.post(thread, decision(request["id"], "yes"))
        assert buyer.orders == ["cove blue"], "a decision names what it agrees to"


async def test_without_a_declaration_the_consent_is_asked_in_words(tmp_path: Path) -> None:
    async with modelling(tmp_path, in_turn(ORDERS, say("It is ordered."))) as model:
        opened = await model.buyer.talker.open("The blue cove, please", wait=SECONDS)
        (asked,) = replies(opened)
        assert asked.endswith("Shall I go ahead?\n1. Yes\n2. No\nReply 1 or 2.")
        assert await model.buyer.post(opened.id, "Yes.") == ["It is ordered."]
        assert model.buyer.orders == ["cove blue"]


@pytest.mark.parametrize("capability", ["order_tent", "content_search"])
async def test_in_a_session_the_desk_asks_for_what_the_model_left_out(
    tmp_path: Path, capability: str
) -> None:
    async with modelling(tmp_path, in_turn(BEGINS)) as model:
        buyer, asking = model.buyer, {"capability": capability}
        first = (await buyer.ask("I'd like a tent", **asking)).ok
        assert first["clarification"]["question"].startswith("Which tent?")
        session = first["session_id"]
        for words in ("the second", "blue"):
            await buyer.ask(words, session, **asking)
        told = (await buyer.ask("yes", session, **asking)).ok
        assert told["response"]["answer"] == DONE
        assert len(model.requests) == 1
        assert buyer.orders == ["cove blue"]
