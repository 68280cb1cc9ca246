"""What a partner answers later is told on the thread of the visitor who asked."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.peers.test_long_calls import find_pause, read_until
from tests.support.clients.operator import operating
from tests.support.clients.threads import THREADS, Talker
from tests.support.doubles.agent import Clock
from tests.support.protocols.scripted_site import ScriptedSite, scripted_site
from tests.support.sites.partners import BOOKSHOP, LIBRARY, peer, serving_site, write_site

QUESTION = "Do you lend e-readers?"
ANSWER = "Yes, for three weeks."
CONVERSE = "/agent/converse"
STATUS = f"{CONVERSE}/status/s-1"


class Late:
    """A partner that answers once a test lets it, and the next question at once."""

    def __init__(self, site: ScriptedSite) -> None:
        self.site = site
        self.is_done = False

    def offer_ahp(self) -> None:
        """Speak AHP: the answer is accepted, and polled."""
        search = {"name": "content_search", "mode": "MODE2", "response_types": ["text/answer"]}
        manifest = {"ahp": "0.1", "modes": ["MODE2"], "capabilities": [search]}
        accepted = {"status": "accepted", "session_id": "s-1", "poll": STATUS, "eta_seconds": 60}
        done = {"status": "success", "session_id": "s-1", "response": {"answer": ANSWER}}
        further = {"status": "success", "session_id": "s-2", "response": {"answer": "And books."}}
        self.site.will("/.well-known/agent.json", manifest, method="GET")
        self.site.will(CONVERSE, lambda body: accepted if body["query"] == QUESTION else further)
        self.site.will(STATUS, lambda _: done if self.is_done else accepted, method="GET")

    def offer_aitp(self) -> None:
        """Speak AITP: the run on the thread goes on."""
        message = {"id": "m-2", "thread_id": "thread_1", "role": "assistant", "content": [ANSWER]}
        opened = {"id": "thread_1", "messages": [{"id": "m-1", "role": "user", "content": ["?"]}]}
        run = f"{THREADS}/thread_1/runs/run_1"
        self.site.will(THREADS, {**opened, "run": {"id": "run_1", "status": "in_progress"}})
        self.site.will(run, lambda _: {"id": "run_1", "status": self._state()}, method="GET")
        path = f"{THREADS}/thread_1/messages"
        self.site.will(path, lambda _: {"data": [message] if self.is_done else []}, method="GET")

    def offer_a2a(self) -> None:
        """Speak A2A: the task is worked on."""
        there = {
            "url": f"{self.site.url}/a2a",
            "protocolBinding": "JSONRPC",
            "protocolVersion": "1.0",
        }
        card = {"name": "Agent", "supportedInterfaces": [there], "skills": []}
        self.site.will("/.well-known/agent-card.json", card, method="GET")
        self.site.will("/a2a", self._respond)

    def _respond(self, body: Any) -> Mapping[str, Any]:
        state = "COMPLETED" if self.is_done else "WORKING"
        parts = [{"artifactId": "a-1", "parts": [{"text": ANSWER}]}] if self.is_done else []
        task = {
            "id": "t-1",
            "contextId": "c-1",
            "status": {"state": f"TASK_STATE_{state}"},
            "artifacts": parts,
        }
        result = {"task": task} if body["method"] == "SendMessage" else task
        return {"jsonrpc": "2.0", "id": body["id"], "result": result}

    def _state(self) -> str:
        return "completed" if self.is_done else "in_progress"


OFFERS: Mapping[str, Callable[[Late], None]] = {
    "ahp": Late.offer_ahp,
    "aitp": Late.offer_aitp,
    "a2a": Late.offer_a2a,
}


@asynccontextmanager
async def library(
    folder: Path, clock: Clock, protocol: str = "ahp"
) -> AsyncIterator[tuple[Talker, Late]]:
    """Serve a library with a partner that answers later."""
    async with scripted_site() as site:
        partner = Late(site)
        OFFERS[protocol](partner)
        toml = peer(site.url, title="Norwood", topics=["e-readers"], protocol=protocol, seconds=2)
        async with serving_site(write_site(folder / "library", LIBRARY, toml), clock=clock) as desk:
            yield desk, partner


async def ask(talker: Talker) -> str:
    """Ask what the partner answers later; return the thread's id."""
    opened = await talker.open(QUESTION, wait=20)
    (told,) = opened.ok["replies"][-1]["content"]
    assert told.startswith("**Norwood**: The answer has not come yet."), told
    return opened.id


async def tell_of_end(talker: Talker, clock: Clock, thread: str, words: str) -> str:
    """Let time pass until a message of the thread has these words; return it."""
    begun = int(clock())

    async def read() -> str | None:
        wait = find_pause(talker) - (clock() - begun)
        if wait > 0:
            clock.advance(wait)
            await talker.open("When does the library open?", wait=20)
        found = [text for text in await talker.texts(thread) if words in text]
        return found[-1] if found else None

    return await read_until(talker, read)


@pytest.mark.parametrize("protocol", OFFERS)
async def test_an_answer_that_a_partner_gives_later_is_told_on_the_thread(
    tmp_path: Path, protocol: str
) -> None:
    clock = Clock(time.time())
    async with library(tmp_path, clock, protocol) as (talker, partner):
        thread = await ask(talker)
        partner.is_done = True
        told = await tell_of_end(talker, clock, thread, ANSWER)
        assert told == f"Norwood: {ANSWER}"
        (child,) = (await talker.send("GET", f"{THREADS}/{thread}/threads")).ok["data"]
        assert child["messages"][-1]["content"] == [ANSWER]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"status": "failed", "error": {"message": "Nobody is in."}}, 200, "Nobody is in."),
        ({"status": "error", "message": "No such call."}, 404, "The outcome is unknown."),
    ],
)
async def test_an_answer_that_does_not_come_is_told_as_well(
    tmp_path: Path, body: Any, status: int, words: str
) -> None:
    clock = Clock(time.time())
    async with library(tmp_path, clock) as (talker, partner):
        thread = await ask(talker)
        for _ in range(2):  # the first response of the script is used up first
            partner.site.will(STATUS, body, method="GET", status=status)
        assert words in await tell_of_end(talker, clock, thread, words)


async def test_a_later_question_goes_on_while_an_earlier_one_is_open(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with library(tmp_path, clock) as (talker, partner):
        thread = await ask(talker)
        again = await talker.post(thread, "What else of e-readers is there?", wait=20)
        assert "And books." in str(again.ok["replies"])
        partner.is_done = True
        await tell_of_end(talker, clock, thread, ANSWER)
        await talker.post(thread, "And which e-readers?", wait=20)
        assert partner.site.bodies(CONVERSE)[-1]["session_id"] == "s-2"


@pytest.mark.parametrize("protocol", ["", "ahp", "aitp", "a2a", "mcp"])
async def test_what_a_partners_person_answers_is_told_on_the_thread(
    tmp_path: Path, protocol: str
) -> None:
    clock = Clock(time.time())
    people = '[tickets]\npeople = "offered"\n'
    async with serving_site(write_site(tmp_path / "books", BOOKSHOP, people)) as partner:
        toml = peer(partner.desk.url, title="Norwood", topics=["e-readers"], protocol=protocol)
        site = write_site(tmp_path / "library", LIBRARY, toml)
        async with (
            serving_site(site, clock=clock) as talker,
            operating(partner.desk, tmp_path / "books" / "data") as person,
        ):
            wish = "I want to talk to a person about e-readers for my school."
            opened = await talker.open(wish, wait=20)
            (told,) = opened.ok["replies"][-1]["content"]
            assert told.startswith("**Norwood**: The answer has not come yet."), told
            # what the partner's agent says meanwhile is not the person's answer
            further = await talker.post(opened.id, "How long do you lend e-readers?", wait=20)
            assert "three weeks" in str(further.ok["replies"])
            (ticket,) = (await person.get("tickets"))["data"]
            await person.post(f"tickets/{ticket['id']}/answer", words="Schools pay nothing.")
            said = await tell_of_end(talker, clock, opened.id, "Schools pay nothing.")
            assert said == "Norwood: Schools pay nothing."
            again = await talker.post(opened.id, "And what else of e-readers?", wait=20)
            assert again.ok["replies"]
            threads = partner.rows("SELECT COUNT(*) FROM threads")
            assert threads == [(1,)]
