"""Answers that one process has made and another gives, with a real server between them."""

from __future__ import annotations

import hmac
from functools import partial

import pytest

from aitp_desk.agent.base import Answer, Clarification, Said, Source
from aitp_desk.agent.speech.person_request import PersonRequest
from aitp_desk.config import Cache
from aitp_desk.desk.dialogue.answer_cache import AnswerCache
from aitp_desk.desk.dialogue.shared_answers import MOST_BYTES, SharedAnswers
from aitp_desk.store.valkey import ValkeyServer
from tests.support.doubles.agent import Clock
from tests.support.store.valkey_process import ValkeyProcess

pytestmark = pytest.mark.servers
REVISION, KEY = "now", ("", "content_search", "what is it?", None)
ANSWER = Answer(
    "It is this.", (Source("This", "https://shop.example/this", "direct"),), ("And that?",)
)


class Process:
    """The cached answers of one of the processes."""

    def __init__(self, server: ValkeyServer, clock: Clock, table: str = "answers") -> None:
        digest = partial(hmac.digest, b"the key of a desk", digest="sha256")
        self.shared = SharedAnswers(server, table=table, digest=digest, ttl=300)
        self.cache = AnswerCache(Cache(), clock, self.shared)
        self.made = 0

    async def ask(self, outcome: Said = ANSWER, revision: str = REVISION) -> Said:
        async def make() -> Said:
            self.made += 1
            return outcome

        return (await self.cache.get_or_make(revision, KEY, make)).outcome


async def fields(server: ValkeyServer) -> list[bytes]:
    """The names of the answers that the server has."""
    found: list[bytes] = await server.client.hkeys("answers")  # type: ignore[misc]
    return [field for field in found if field]


async def test_an_answer_is_made_once_for_all_processes(valkey: ValkeyServer) -> None:
    clock = Clock()
    one, two = Process(valkey, clock), Process(valkey, clock)
    assert await one.ask() == ANSWER
    await one.shared.write()
    clock.advance(20)
    assert await two.ask() == ANSWER
    assert (one.made, two.made) == (1, 0)
    again = await two.cache.get_or_make(REVISION, KEY, two.ask)
    assert again.age_seconds == 20
    clock.advance(300)
    await two.ask()
    assert two.made == 1, "it is as old as where it was made"


async def test_other_content_and_other_settings_have_other_answers(valkey: ValkeyServer) -> None:
    clock = Clock()
    one, newer, other = Process(valkey, clock), Process(valkey, clock), Process(valkey, clock, "o")
    await one.ask()
    await one.shared.write()
    await newer.ask(revision="newer")
    await other.ask()
    assert (newer.made, other.made) == (1, 1)


@pytest.mark.parametrize(
    "outcome",
    [
        Answer("A person will answer.", person=PersonRequest("request", "a lamp")),
        Answer("You have two orders.", tools_used=("list_orders",)),
        Answer("x" * MOST_BYTES),
        Clarification("Which one?", ()),
    ],
    ids=["a person", "a tool", "too long", "a question back"],
)
async def test_what_is_for_one_caller_or_too_long_is_not_shared(
    valkey: ValkeyServer, outcome: Said
) -> None:
    one = Process(valkey, Clock())
    await one.ask(outcome)
    await one.shared.write()
    assert await valkey.client.keys("*") == []


async def test_what_one_process_has_erased_comes_back_from_none(valkey: ValkeyServer) -> None:
    clock = Clock()
    one, two, three = (Process(valkey, clock) for _ in range(3))
    await one.ask()
    await one.shared.write()
    two.cache.clear()
    await two.ask()
    assert two.made == 1, "none is read before they are dropped"
    assert await valkey.client.keys("*") == [b"answers"]
    await two.shared.write()
    await three.ask()
    assert (three.made, three.cache.counts.hits) == (0, 1), "it is what was made since"


async def test_answers_leave_no_question_on_the_server(valkey: ValkeyServer) -> None:
    one = Process(valkey, Clock())
    await one.ask()
    await one.shared.write()
    assert 0 < await valkey.client.ttl("answers") <= 300
    assert b"what is it" not in b"".join(await fields(valkey))


async def test_without_the_server_each_process_makes_its_own(
    valkey_process: ValkeyProcess, valkey: ValkeyServer
) -> None:
    clock = Clock()
    one, two = Process(valkey, clock), Process(valkey, clock)
    await one.ask()
    await one.shared.write()
    valkey_process.kill()
    assert await two.ask() == ANSWER
    two.cache.clear()
    await two.shared.write()
    assert await two.ask() == ANSWER
    assert two.made == 2


async def test_what_is_no_answer_is_not_given(valkey: ValkeyServer) -> None:
    clock = Clock()
    one, two = Process(valkey, clock), Process(valkey, clock)
    await one.ask()
    await one.shared.write()
    for field in await fields(valkey):
        await valkey.write_fields("answers", {field.decode(): '{"answer": 1}'}, seconds=60)
    assert await two.ask() == ANSWER
    assert two.made == 1
