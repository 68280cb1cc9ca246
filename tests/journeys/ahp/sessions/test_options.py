"""What is said in reply to a question back: which option is meant, which is not, or none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.clients.ahp import Said, Visitor, visiting
from tests.support.desk.server import SHOP
from tests.support.sites.boots import write_boots

QUERY = "How much do the boots cost?"
PRICES = {"Ski boots": "240 EUR", "Hiking boots": "160 EUR"}
pytestmark = pytest.mark.asyncio(loop_scope="module")
both_ways = pytest.mark.parametrize("as_query", [False, True], ids=["clarification", "query"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop_visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    async with visiting(tmp_path_factory.mktemp("shop"), folder=SHOP) as visitor:
        yield visitor


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandals_visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    folder = tmp_path_factory.mktemp("sandals")
    site = write_boots(folder)
    (site / "sandals.md").write_text("# Sandals\n\nSandals cost 60 EUR a pair.\n")
    async with visiting(folder / "data", folder=site) as visitor:
        yield visitor


async def reply_to(visitor: Visitor, session_id: str, reply: str, *, as_query: bool) -> Said:
    """Answer what was asked back, in the member for that or as the next question."""
    if as_query:
        return await visitor.ask(reply, session_id=session_id)
    return await visitor.ask(QUERY, session_id=session_id, clarification=reply)


@both_ways
@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("not the first", 1),
        ("Not the second one.", 0),
        ("the second, not the first", 1),
        ("I want the second", 1),
        ("let's take the last one", 1),
        ("option b", 1),
        ("not the {0}", 1),
        ("the {1}, not the {0}", 1),
    ],
)
async def test_what_is_turned_down_is_not_what_is_answered(
    boots_visitor: Visitor, reply: str, place: int, as_query: bool
) -> None:
    asked = await boots_visitor.ask(QUERY)
    options = asked.body["clarification"]["options"]
    said = await reply_to(
        boots_visitor, asked.session_id, reply.format(*options), as_query=as_query
    )
    assert PRICES[options[place]] in said.answer
    assert PRICES[options[1 - place]] not in said.answer


@both_ways
@pytest.mark.parametrize("reply", ["both", "1 and 2", "Either one.", "all of them, please"])
async def test_a_choice_of_several_is_answered_for_each_with_its_source(
    boots_visitor: Visitor, reply: str, as_query: bool
) -> None:
    asked = await boots_visitor.ask(QUERY)
    said = await reply_to(boots_visitor, asked.session_id, reply, as_query=as_query)
    for option, price in PRICES.items():
        assert f"{option}: {option} cost {price} a pair." in said.answer
    sources = {source["url"] for source in said.body["response"]["sources"]}
    assert {url.partition("#")[0] for url in sources} == {
        f"{boots_visitor.desk.url}/ski-boots",
        f"{boots_visitor.desk.url}/hiking-boots",
    }
    short = await boots_visitor.ask(QUERY)
    cut = await boots_visitor.ask(reply, session_id=short.session_id, max_tokens=10)
    assert len(cut.answer) <= 40


@both_ways
@pytest.mark.parametrize("reply", ["neither", "None of them.", "no", "something else"])
async def test_who_means_none_of_them_is_asked_openly_what_it_is(
    sandals_visitor: Visitor, reply: str, as_query: bool
) -> None:
    id_ = (await sandals_visitor.ask(QUERY)).session_id
    again = await reply_to(sandals_visitor, id_, reply, as_query=as_query)
    assert again.body["clarification"] == {
        "question": "What would you like to know about My site?",
        "options": None,
        "free_form": True,
    }
    assert (
        "60 EUR" in (await reply_to(sandals_visitor, id_, "the sandals", as_query=as_query)).answer
    )


async def test_who_says_at_once_what_is_meant_instead_is_answered(
    tmp_path: Path, ambiguous_site: Path
) -> None:
    async with visiting(tmp_path / "data", folder=ambiguous_site) as visitor:
        id_ = (await visitor.ask(QUERY)).session_id
        missing = await visitor.ask("Neither, I mean sandals.", session_id=id_)
        assert missing.answer.startswith("I found nothing about “sandals”")
        (ambiguous_site / "sandals.md").write_text("# Sandals\n\nSandals cost 60 EUR a pair.\n")
        await visitor.desk.desk.knowledge.refresh()
        id_ = (await visitor.ask(QUERY)).session_id
        found = await visitor.ask("Neither, I mean sandals.", session_id=id_)
        assert "60 EUR" in found.answer


@both_ways
@pytest.mark.parametrize(
    "reply", ["the cheaper one", "the expensive ones", "the one for winter", "a pair of boots"]
)
async def test_what_does_not_tell_the_options_apart_is_asked_once_more_then_each_is_answered(
    boots_visitor: Visitor, reply: str, as_query: bool
) -> None:
    asked = await boots_visitor.ask(QUERY)
    again = await reply_to(boots_visitor, asked.session_id, reply, as_query=as_query)
    assert again.body["clarification"] == asked.body["clarification"]
    said = await reply_to(boots_visitor, asked.session_id, reply, as_query=as_query)
    assert all(price in said.answer for price in PRICES.values())


async def test_the_choice_is_heard_after_it_was_asked_once_more(boots_visitor: Visitor) -> None:
    asked = await boots_visitor.ask(QUERY)
    await boots_visitor.ask("the cheaper one", session_id=asked.session_id)
    said = await boots_visitor.ask("2", session_id=asked.session_id)
    assert PRICES[asked.body["clarification"]["options"][1]] in said.answer


@both_ways
async def test_words_that_one_option_s_page_alone_holds_choose_it(
    tmp_path: Path, ambiguous_site: Path, as_query: bool
) -> None:
    with (ambiguous_site / "ski-boots.md").open("a") as page:
        page.write("\n## Size\n\nThe shell is of plastic.\n")
    async with visiting(tmp_path / "data", folder=ambiguous_site) as visitor:
        for reply, price in (("the plastic ones", "240"), ("the 160 one", "160")):
            id_ = (await visitor.ask(QUERY)).session_id
            said = await reply_to(visitor, id_, reply, as_query=as_query)
            assert f"{price} EUR" in said.answer


@both_ways
async def test_of_three_options_one_that_is_turned_down_is_not_offered_again(
    tmp_path: Path, ambiguous_site: Path, as_query: bool
) -> None:
    (ambiguous_site / "rubber-boots.md").write_text(
        "# Rubber boots\n\n## Price\n\nRubber boots cost 40 EUR a pair.\n"
    )
    async with visiting(tmp_path / "data", folder=ambiguous_site) as visitor:
        asked = await visitor.ask(QUERY)
        first, _, third = asked.body["clarification"]["options"]
        fewer = await reply_to(visitor, asked.session_id, "not the 2nd", as_query=as_query)
        assert fewer.body["clarification"]["options"] == [first, third]
        assert fewer.body["clarification"]["question"] == f"Do you mean “{first}” or “{third}”?"
        said = await reply_to(visitor, asked.session_id, "the second", as_query=as_query)
        assert {**PRICES, "Rubber boots": "40 EUR"}[third] in said.answer


@both_ways
@pytest.mark.parametrize("reply", ["{1} and {0}", "the {0}, the {1}"])
async def test_several_named_options_are_answered_each(
    boots_visitor: Visitor, reply: str, as_query: bool
) -> None:
    asked = await boots_visitor.ask(QUERY)
    options = asked.body["clarification"]["options"]
    said = await reply_to(
        boots_visitor, asked.session_id, reply.format(*options), as_query=as_query
    )
    assert all(price in said.answer for price in PRICES.values())


@both_ways
@pytest.mark.parametrize("reply", ["2", "the latter", "not the first"])
async def test_what_is_asked_next_is_about_what_was_chosen(
    shop_visitor: Visitor, reply: str, as_query: bool
) -> None:
    query = "How much is the jacket?"
    asked = await shop_visitor.ask(query)
    id_ = asked.session_id
    assert asked.body["clarification"]["options"][1] == "Tarn Stormline Jacket"
    if as_query:
        said = await shop_visitor.ask(reply, session_id=id_)
    else:
        said = await shop_visitor.ask(query, session_id=id_, clarification=reply)
    assert "$259" in said.answer
    assert "385 g" in (await shop_visitor.ask("And what does it weigh?", session_id=id_)).answer


async def test_a_page_that_was_not_offered_is_no_guess_at_what_was(shop_visitor: Visitor) -> None:
    """A repair of a jacket has a price too, and a page says ``cheaper``."""
    asked = await shop_visitor.ask("How much is the jacket?")
    again = await shop_visitor.ask("the cheaper one", session_id=asked.session_id)
    assert again.body["clarification"] == asked.body["clarification"]
    said = await shop_visitor.ask("the cheaper one", session_id=asked.session_id)
    for told in (*asked.body["clarification"]["options"], "$219", "$259"):
        assert told in said.answer


@pytest.mark.parametrize("declines", [False, True])
async def test_who_names_another_page_instead_is_answered_from_it(
    shop_visitor: Visitor, declines: bool
) -> None:
    id_ = (await shop_visitor.ask("How much is the jacket?")).session_id
    if declines:
        await shop_visitor.ask("neither", session_id=id_)
    said = await shop_visitor.ask("the Pika stove", session_id=id_)
    assert "$64" in said.answer


async def test_who_says_nothing_to_the_open_question_is_asked_it_again(
    boots_visitor: Visitor,
) -> None:
    id_ = (await boots_visitor.ask(QUERY)).session_id
    openly = await boots_visitor.ask("neither", session_id=id_)
    again = await boots_visitor.ask("no", session_id=id_)
    assert again.body["clarification"] == openly.body["clarification"]
    assert "240 EUR" in (await boots_visitor.ask("ski boots", session_id=id_)).answer
