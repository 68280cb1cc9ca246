"""Thanks and greetings are returned without a search; ``sure`` agrees to what costs nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.journeys.ahp.sessions.test_readings import PROTOCOLS, over_ahp, over_threads
from tests.support.clients.threads import Talker, talking
from tests.support.sites.declarations import HEAD

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACTIONS = '''
@action(kind="action", mutability="reversible", blast_radius="self", reversible_within="P1D",
        confirmation_recommended=True)
def hold_lamp(lamp: str) -> str:
    """Holds a lamp for a day."""
    return f"Held {lamp}."

@action(kind="action", mutability="irreversible", blast_radius="self")
def scrap_lamp(lamp: str) -> str:
    """Scraps a lamp."""
    return f"Scrapped {lamp}."

@action(kind="action", mutability="reversible", blast_radius="self", reversible_within="P1D",
        cost=Money(Decimal("5.00"), "EUR"))
def rent_lamp(lamp: str) -> str:
    """Rents a lamp."""
    return f"Rented {lamp}."
'''


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=[(), ("capabilities.requests={}",)]
)
async def lamps(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Talker]:
    folder = tmp_path_factory.mktemp("lamps")
    site = folder / "site"
    site.mkdir()
    (site / "returns.md").write_text("# Returns\n\nReturn a lamp within 30 days.\n", "utf-8")
    (site / "desk.toml").write_text('[site]\nname = "Lamps"\n', "utf-8")
    (site / "actions.py").write_text(HEAD + ACTIONS, "utf-8")
    people = 'tickets.people="offered"'
    async with talking(folder, people, *request.param, site=site) as talker:
        yield talker


@PROTOCOLS
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Thanks!", "You’re welcome."),
        ("danke schön", "Gern geschehen."),
        ("merci beaucoup", "Avec plaisir."),
        ("Hello", "Hello! I answer questions about Lamps."),
        ("hi there", "Hello!"),
        ("bye", "Goodbye!"),
    ],
)
async def test_a_courtesy_is_returned(lamps: Talker, ask: Any, said: str, told: str) -> None:
    assert (await ask(lamps, said)).startswith(told)
    after = await ask(lamps, "How long may I return a lamp?", said)
    assert after.startswith(told)
    assert "Shall a person" not in after


@PROTOCOLS
async def test_a_question_that_begins_with_thanks_is_answered(lamps: Talker, ask: Any) -> None:
    assert "30 days" in await ask(lamps, "Hello", "Thanks, and what about returns?")


async def test_a_courtesy_is_not_kept_as_an_answer(lamps: Talker) -> None:
    body = {"capability": "content_search", "query": "Thank you very much"}
    for _ in range(2):
        told = (await lamps.send("POST", "/agent/converse", body)).ok
        assert told["meta"]["cached"] is False
        assert told["response"]["sources"] == []
    told = (await lamps.send("POST", "/agent/converse", {**body, "query": "gracias"})).ok
    assert told["meta"]["locale"] == "es"


AGREEING = ("yes please", "sure", "ok", "Okay.", "go ahead", "yep", "please do", "ja, gerne")


@pytest.mark.parametrize("said", [*AGREEING, "yes"])
async def test_what_costs_nothing_and_can_be_undone_is_agreed_to_freely(
    lamps: Talker, said: str
) -> None:
    buyer = await lamps.with_key("actions")
    told = await over_ahp(buyer, "lamp: A7", said, capability="hold_lamp")
    assert told == "Held A7."


@pytest.mark.parametrize("action", ["scrap_lamp", "rent_lamp"])
@pytest.mark.parametrize("said", AGREEING)
async def test_what_costs_or_cannot_be_undone_wants_a_plain_yes(
    lamps: Talker, action: str, said: str
) -> None:
    buyer = await lamps.with_key("actions")
    told = await over_ahp(buyer, "lamp: A7", said, capability=action)
    assert not told.startswith(("Scrapped", "Rented")), told


@PROTOCOLS
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("go ahead", "Held A7."),
        ("no", "Nothing was done."),
        ("How long may I return a lamp?", "Return a lamp within 30 days."),
    ],
)
async def test_words_alone_go_on_with_an_action(
    lamps: Talker, ask: Any, said: str, told: str
) -> None:
    buyer = await lamps.with_key("actions", "threads")
    assert await ask(buyer, "Please hold the lamp A7", "A7", said) == told


async def test_an_offered_person_is_agreed_to_freely(lamps: Talker) -> None:
    for said in ("yes please", "please do", "Yes, that would be great!", "sure, why not"):
        told = await over_threads(lamps, "What do parrots eat in Bolivia?", said)
        assert told.startswith("A person has been asked."), told


@PROTOCOLS
async def test_a_question_about_the_topics_is_answered_with_them(lamps: Talker, ask: Any) -> None:
    told = "Lamps. It has 1 page: Returns. What would you like to know about Lamps?"
    assert await ask(lamps, "What can I ask you?") == told
    assert await ask(lamps, "who are you") == told


@PROTOCOLS
@pytest.mark.parametrize("said", ["go ahead", "of course", "Absolutely!"])
async def test_agreement_to_nothing_is_not_searched_for(lamps: Talker, ask: Any, said: str) -> None:
    assert await ask(lamps, said) == "What would you like to know about Lamps?"
