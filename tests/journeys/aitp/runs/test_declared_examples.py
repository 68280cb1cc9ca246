"""What an action declares as an example asks for it, whatever the words mean elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.clients.threads import Talker, talking
from tests.support.protocols.conversation import DOORS

ACTIONS = '''
from typing import Literal

from aitp_desk.actions import action

Lamp = Literal["tall", "small"]


@action(
    open_to="anyone",
    says=lambda price: f"It costs {price} EUR.",
    examples=["How much is a tall lamp?", "Our lamps"],
)
def lamp_price(lamp: Lamp) -> int:
    """Says what a lamp costs."""
    return {"tall": 40, "small": 20}[lamp]


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    says=lambda _: "The loan has ended.",
    examples=["How do I end the loan of a small lamp?", "End the loan of my tall lamp"],
)
def end_loan(lamp: Lamp) -> None:
    """Ends the loan of a lamp."""


@action(open_to="operators", says=lambda _: "12 are sold.", examples=["What do you sell most?"])
def sales() -> int:
    """Counts what is sold."""
    return 12
'''
PRICE = "how much  is a TALL lamp"
LOAN = "How do I end the loan of a small lamp?"
KEY = "with the scope actions:end_loan"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Talker]:
    """A shop that declares questions as examples, and a visitor without a key."""
    site = tmp_path / "site"
    (site / "content").mkdir(parents=True)
    (site / "content" / "index.md").write_text("# Our lamps\n\nWe sell and lend lamps.\n")
    (site / "actions.py").write_text(ACTIONS)
    (site / "desk.toml").write_text(
        '[site]\ncontact = { email = "lamps@shop.example" }\n[content]\nfolder = "content"\n'
    )
    async with talking(tmp_path, "content.meaning.enabled=false", site=site) as talker:
        yield talker


async def say(talker: Talker, words: str, **metadata: str) -> str:
    """Say something on a new thread; returns the desk's reply."""
    message = {"role": "user", "content": words, "metadata": metadata}
    told = await talker.open(message, wait=10)
    (reply,) = told.ok["replies"]
    return "\n".join(reply["content"])


async def test_an_example_is_a_request_with_the_arguments_of_its_words(desk: Talker) -> None:
    assert await say(desk, PRICE) == "It costs 40 EUR."
    assert "40 EUR" in (await DOORS["ahp"].ask(desk, PRICE)).answer
    assert "EUR" not in await say(desk, "Our lamps")


async def test_what_cannot_be_undone_is_still_proposed_first(desk: Talker) -> None:
    said = await say(await desk.with_key("threads", "actions"), LOAN)
    assert "Shall I go ahead?" in said
    assert "small" in said
    assert "Shall I go ahead?" not in await say(await desk.with_key("threads"), LOAN)


async def test_an_example_of_the_operators_is_theirs(desk: Talker) -> None:
    assert "12 are sold" not in await say(desk, "What do you sell most?")
    operator = await desk.with_key("operator")
    assert await say(operator, "What do you sell most?") == "12 are sold."


async def test_people_learn_whom_to_ask_and_programs_which_key_they_need(desk: Talker) -> None:
    loan = "End the loan of my tall lamp"
    assert KEY in await say(desk, loan)
    assert KEY in (await DOORS["ahp"].ask(desk, loan)).answer
    in_chat = await say(desk, loan, draft="chat-1")
    assert "visitors whom I do not know" in in_chat
    assert "lamps@shop.example" in in_chat
    assert "key" not in in_chat
    assert "actions:" not in in_chat
