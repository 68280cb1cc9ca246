"""What capabilities of strangers tell as actions, and do again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from aitp_desk.capability import (
    Capability,
    Context,
    Health,
    Inquiry,
    InvalidRequest,
    Part,
    Query,
    Round,
    Say,
    Schema,
    Send,
    Take,
    Unanswered,
    Verdict,
    document_of,
)
from aitp_desk.config import ConfigError
from aitp_desk.testing import CapabilityContract, open_desk

TIDES = {"Hamburg": "low"}


class Where(msgspec.Struct, frozen=True):
    """Where.

    Parameters:
        place: the name of a harbour.
    """

    place: str


class Tide(msgspec.Struct, frozen=True):
    """How the water stands."""

    level: str
    told_to: list[str]


class Tides(Capability):
    """Tells the tide of harbours."""

    slug = "tides"

    def schemas(self) -> Sequence[Schema]:
        messages = {"ask_tide": Where}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Tides")),)

    def judge(self, part: Part, context: Context) -> Verdict:
        states = {one.name: one.state for one in context.components}
        return Take((Say(f"{states.get('store')}, {sorted(context.scopes)}, {context.operates}"),))

    def actions(self) -> Sequence[Query]:
        return (
            Query(
                name="tide",
                summary="Tells how the water stands.",
                arguments=Where,
                result=Tide,
                answer=self.answer_tide,
                as_text=lambda tide: f"It is {tide.level}.",
            ),
        )

    async def answer_tide(self, asked: Where, inquiry: Inquiry) -> Tide:
        if asked.place not in TIDES:
            raise InvalidRequest("There is no such harbour.", param="place")
        return Tide(TIDES[asked.place], sorted(inquiry.scopes))


class TestTides(CapabilityContract):
    """The contract of all capabilities."""

    capability = Tides
    examples = {1: [{"ask_tide": {"place": "Hamburg"}}]}  # noqa: RUF012


async def test_it_is_called_as_the_sites_own_actions_are() -> None:
    async with open_desk("capabilities.tides={}", capabilities={"tides": Tides}) as guest:
        told = (await guest.send("POST", "/capabilities/tide", {"place": "Hamburg"})).body
        assert told["result"] == {"level": "low", "told_to": []}
        assert told["response"]["answer"] == "It is low."
        refused = await guest.send("POST", "/capabilities/tide", {"place": "Ulm"})
        assert refused.status == 400
        assert "There is no such harbour." in str(refused.body)
        missing = await guest.send("POST", "/capabilities/tide", {})
        assert missing.status == 400
        asked = {"ahp": "0.1", "capability": "tide", "query": "The tide?"}
        needed = (await guest.send("POST", "/agent/converse", asked)).body
        assert "harbour" in str(needed)


async def test_judging_sees_how_the_desk_is_and_what_the_caller_may() -> None:
    async with open_desk("capabilities.tides={}", capabilities={"tides": Tides}) as guest:
        thread = await guest.open()
        schema = f"{guest.url}/capabilities/tides/v1/schema.json"
        await guest.say(thread, {"$schema": schema, "ask_tide": {"place": "Hamburg"}})
        _, (said,) = await guest.read(thread)
    assert said == "up, [], False"


class Other(Tides):
    """Another one that tells the same."""

    slug = "other"


async def test_two_capabilities_cannot_have_one_action() -> None:
    settings = ("capabilities.tides={}", "capabilities.other={}")
    with pytest.raises(ConfigError, match="both have an action tide"):
        async with open_desk(*settings, capabilities={"tides": Tides, "other": Other}):
            pass


class Badly(Tides):
    """Has a name that no door can tell."""

    slug = "badly"

    def rounds(self) -> Mapping[str, Round]:
        async def go(_send: Send) -> None:
            return

        return {"Every Day": Round(go, 60)}


async def test_a_round_has_a_plain_name() -> None:
    with pytest.raises(ConfigError, match="'Every Day'"):
        async with open_desk("capabilities.badly={}", capabilities={"badly": Badly}):
            pass


async def test_a_round_is_gone_at_the_start_and_its_failure_is_reported(tmp_path: Path) -> None:
    went = asyncio.Event()

    class Lighthouse(Tides):
        slug = "lighthouse"
        found: Mapping[str, Health | None] = {}

        def rounds(self) -> Mapping[str, Round]:
            work = {"look": self.look, "fail": self.fail, "ask": self.ask}
            return {name: Round(do, 3600) for name, do in work.items()}

        def watched(self) -> Mapping[str, Health | None]:
            return self.found

        async def look(self, _send: Send) -> None:
            self.found = {"buoy": Health("down", "Its light is out.")}

        async def fail(self, _send: Send) -> None:
            went.set()
            raise RuntimeError("with what a stranger said")

        async def ask(self, _send: Send) -> None:
            raise Unanswered("harbour.example does not answer.")

    with capture_logs() as logs:
        async with open_desk("capabilities.l={}", capabilities={"l": Lighthouse}) as guest:
            async with asyncio.timeout(60):
                await went.wait()
                status = ""
                while status != "degraded" or len(failed(logs)) < 2:
                    status = (await guest.send("GET", "/ready")).body["status"]
    told = {failure["schedule"]: failure["reason"] for failure in failed(logs)}
    assert told == {
        "lighthouse.fail": "A fault of the desk (RuntimeError); see the log.",
        "lighthouse.ask": "harbour.example does not answer.",
    }


def failed(logs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [line for line in logs if line["event"] == "schedule_failed"]
