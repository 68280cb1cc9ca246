"""The memory of answers: what makes two questions one, and who waits for whom."""

from __future__ import annotations

import asyncio
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.base import Answer, Source
from aitp_desk.agent.history.message_codec import make_reply_metadata, write_reply
from aitp_desk.config import Cache, Signals
from aitp_desk.desk.dialogue.answer_cache import AnswerCache, normalise_query
from aitp_desk.desk.dialogue.turn import AskReply
from aitp_desk.protocols.ahp.answer_wire import AnswerEncoder
from tests.support.doubles.agent import Clock

LONGEST = 4096
REVISION, KEY = "now", ("content_search", "what is it?")


@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=60),
    st.sampled_from("abcdefghij0123456789?!.,²ßéж中"),
    st.sampled_from("klmnopqrst$%&-+*/()'łøæд文"),
    st.floats(0, 1),
)
def test_long_questions_that_differ_in_one_character_are_two(
    text: str, one: str, other: str, share: float
) -> None:
    long = (text * LONGEST)[: LONGEST - 1]
    at = round(share * len(long))
    asked = {normalise_query(f"{long[:at]}{sign}{long[at:]}") for sign in (one, other)}
    assert len(asked) == 2


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1)))
def test_white_space_alone_makes_no_other_question(words: list[str]) -> None:
    assert normalise_query(" ".join(words)) == normalise_query("\n \t" + "  ".join(words) + " ")


async def test_who_waits_is_answered_although_who_asked_first_goes_away() -> None:
    cache = AnswerCache(Cache(), Clock())
    go_on = asyncio.Event()
    made = 0

    async def make() -> Answer:
        nonlocal made
        made += 1
        await go_on.wait()
        return Answer("It is this.")

    first, *others = [asyncio.create_task(cache.get_or_make(REVISION, KEY, make)) for _ in range(4)]
    await asyncio.sleep(0)
    assert cache.counts.waiting == len(others)
    first.cancel()
    others.pop().cancel()
    await asyncio.wait({first})
    assert first.cancelled()
    go_on.set()
    answers = await asyncio.gather(*others)
    assert [given.outcome for given in answers] == [Answer("It is this.")] * 2
    assert made == 2
    assert cache.counts.waiting == 0


async def test_an_answer_of_old_content_takes_no_place_among_those_of_the_new() -> None:
    cache = AnswerCache(Cache(), Clock())
    go_on = asyncio.Event()

    async def make_old() -> Answer:
        await go_on.wait()
        return Answer("Old.")

    async def make_new() -> Answer:
        return Answer("New.")

    asking = [asyncio.create_task(cache.get_or_make("old", KEY, make_old)) for _ in range(2)]
    await asyncio.sleep(0)
    assert cache.counts.waiting == 1
    new = await cache.get_or_make("new", KEY, make_new)
    go_on.set()
    old = await asyncio.gather(*asking)
    again = await cache.get_or_make("new", KEY, make_new)
    assert [given.outcome for given in (*old, new, again)] == [
        Answer("Old."),
        Answer("Old."),
        Answer("New."),
        Answer("New."),
    ]
    assert again.kept is not None
    assert (cache.counts.stored, cache.counts.answers) == (1, 1)


@pytest.mark.parametrize("given_again", [False, True])
@pytest.mark.parametrize(
    "piece",
    [
        "word " * 200,
        "word " * 8000,
        "wörd " * 400,
        "– no " * 400,
        "word " * 400 + "🙂",
        "中文" * 1000,
    ],
)
async def test_answers_take_the_memory_that_they_are_counted_with(
    piece: str, given_again: bool
) -> None:
    cache = AnswerCache(Cache(), Clock())
    encoder = AnswerEncoder("https://shop.example", Signals())

    async def keep(number: int) -> None:
        async def make() -> Answer:
            sources = tuple(Source("Returns", f"/returns/{n}", "direct") for n in range(3))
            return Answer(f"Answer {number}: {piece}", sources, (f"And what of {number}?",))

        key = ("content_search", f"what is number {number}?", None, None, None, "anonymous", ())
        await cache.get_or_make(REVISION, key, make)
        if given_again:
            given = await cache.get_or_make(REVISION, key, make)
            assert given.kept is not None
            answer = given.outcome
            encoder.encode(AskReply("session", "content_search", answer, given.kept))
            recorded = given.kept.recorded = write_reply(answer, ""), make_reply_metadata(answer)
            msgspec.json.encode(recorded)

    await keep(0)
    tracemalloc.start()
    try:
        before, counted = tracemalloc.get_traced_memory()[0], cache.counts.size
        for number in range(1, 101):
            await keep(number)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    counted = cache.counts.size - counted
    assert cache.counts.answers == 101
    assert 0.75 < taken / counted < 1.2
