"""What is replied to the desk's own questions, and in which time zone visitors speak."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from aitp_desk.desk.maintenance.expiry import Expiry
from tests.support.clients.ahp import Said
from tests.support.clients.threads import talking
from tests.support.doubles.agent import Clock
from tests.support.sites.orders import Caller, calling, write_site

LAMPS = '''
"""Lamps, of which there are five."""

from pathlib import Path

from aitp_desk.actions import action

BOOK = Path(__file__).with_name("book.txt")


@action(kind="action", mutability="irreversible", blast_radius="self")
def take_lamps(quantity: int) -> None:
    """Takes lamps."""
    BOOK.write_text(str(quantity))


@take_lamps.requires("there", "There are as many lamps.", recovery="Take fewer.")
def there(quantity: int) -> str | None:
    return "There are only five." if quantity > 5 else None
'''
VISITS = '''
"""The shop's visits."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from aitp_desk.actions import action

BOOK = Path(__file__).with_name("book.txt")


@action(kind="action", mutability="irreversible", blast_radius="self")
def book_visit(
    starts_at: Annotated[datetime, Meta(tz=True, description="When it begins.")],
) -> None:
    """Books a visit."""
    BOOK.write_text(starts_at.isoformat())
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path)


def question(said: Said) -> str:
    """What the desk asks back."""
    assert said.body["status"] == "clarification_needed", said.body
    text: str = said.body["clarification"]["question"]
    return text


async def test_what_is_meant_instead_is_shown_and_asked_about_before_it_is_done(
    tmp_path: Path, site: Path
) -> None:
    async with calling(tmp_path, site) as caller:
        asked = await caller.ask("2x ABC-01", "place_order")
        assert "It costs 19.00 EUR." in question(asked)
        for words, shown, price in (
            ("make it 3", "quantity 3", "28.50 EUR"),
            ("no, ABC-02 instead", "sku ABC-02; quantity 3", "28.50 EUR"),
            ("yes, but only 1", "sku ABC-02; quantity 1", "9.50 EUR"),
            ("yes please", "sku ABC-02; quantity 1", "9.50 EUR"),
        ):
            asked = await caller.reply(asked, words, "place_order")
            assert shown in question(asked)
            assert price in question(asked)
            assert asked.body["clarification"]["options"] == ["yes", "no"]
        assert caller.booked == []
        await caller.reply(asked, "yes", "place_order")
        assert caller.booked == ["1 of ABC-02"]


async def test_a_change_of_what_was_sent_as_arguments_is_agreed_to_as_well(
    tmp_path: Path, site: Path
) -> None:
    async with calling(tmp_path, site) as caller:
        asked = await caller.ask({"sku": "ABC-01", "quantity": 2}, "place_order")
        asked = await caller.reply(asked, "make it 3", "place_order")
        assert "quantity 3" in question(asked)
        await caller.reply(asked, "yes", "place_order")
        assert caller.booked == ["3 of ABC-01"]
        assert caller.talker.rows("SELECT source, state FROM calls") == [("text", "succeeded")]


async def test_a_yes_after_a_change_that_cannot_be_is_to_nothing(
    tmp_path: Path, site: Path
) -> None:
    (site / "actions.py").write_text(LAMPS, encoding="utf-8")
    async with calling(tmp_path, site) as caller:
        asked = await caller.ask("take 2 lamps", "take_lamps")
        assert "quantity 2" in question(asked)
        refused = await caller.reply(asked, "make it 9", "take_lamps")
        assert refused.refusal == (409, "invalid_request", "precondition_failed")
        assert "How many" in question(await caller.reply(asked, "yes", "take_lamps"))
        assert caller.booked == []
        asked = await caller.reply(asked, "3", "take_lamps")
        assert "quantity 3" in question(asked)
        await caller.reply(asked, "yes", "take_lamps")
        assert caller.booked == ["3"]


async def test_a_no_ends_what_waited_however_it_is_said(tmp_path: Path, site: Path) -> None:
    async with calling(tmp_path, site) as caller:
        refusals = ("No thanks!", "not now", "cancel that", "no, that is too much", "please don't")
        for words in refusals:
            asked = await caller.ask("2x ABC-01", "place_order")
            assert (await caller.reply(asked, words, "place_order")).answer == "Nothing was done."
        assert caller.booked == []
        states = caller.talker.rows("SELECT DISTINCT state FROM calls")
        assert states == [("failed",)]
        asked = await caller.ask("I would like to order ABC-01.", "place_order")
        assert "How many" in question(asked)
        assert (await caller.reply(asked, "nope", "place_order")).answer == "Nothing was done."


async def test_what_is_never_answered_ends_after_a_day(tmp_path: Path, site: Path) -> None:
    clock = Clock()
    async with calling(tmp_path, site, clock=clock) as caller:
        await caller.ask("2x ABC-01", "place_order")
        await caller.ask("I would like to order ABC-01.", "place_order")
        desk, seconds = caller.talker.desk, 365 * 24 * 60 * 60
        clock.advance(24 * 60 * 60)
        assert await Expiry(desk.store, seconds, clock).drop_expired() == 0
        late = await caller.ask("3x ABC-01", "place_order")
        clock.advance(1)
        assert await Expiry(desk.store, seconds, clock).drop_expired() == 2
        states = "SELECT state, memory, ended_at FROM calls ORDER BY created_at, state"
        assert caller.talker.rows(states) == [
            ("expired", None, int(clock())),
            ("expired", None, int(clock())),
            ("waiting_input", None, None),
        ]
        await caller.reply(late, "yes", "place_order")
        assert caller.booked == ["3 of ABC-01"]


async def test_visitors_speak_in_the_sites_time_zone(tmp_path: Path, site: Path) -> None:
    (site / "actions.py").write_text(VISITS, encoding="utf-8")
    clock = Clock(datetime(2027, 3, 26, 23, 30, tzinfo=UTC).timestamp())  # a Friday
    vienna = "site.timezone=Europe/Vienna"
    async with talking(tmp_path, vienna, site=site, clock=clock) as talker:
        caller = Caller(await talker.with_key("actions"), site)
        # it is Saturday there, and clocks are put forward in the night to Sunday
        asked = await caller.ask("a visit tomorrow at 3pm, please", "book_visit")
        assert "28 March 2027 at 15:00 (+02:00)" in question(asked)
        asked = await caller.reply(asked, "no, today", "book_visit")
        assert "27 March 2027 at 15:00 (+01:00)" in question(asked)
        await caller.reply(asked, "yes", "book_visit")
        assert caller.booked == ["2027-03-27T15:00:00+01:00"]
        # there is no such time, and twice there is one
        never = await caller.ask("28 March 2027 at 2:30 am", "book_visit")
        assert "(when it begins)" in question(never)
        twice = await caller.ask("31 October 2027 at 2:30 am", "book_visit")
        assert twice.body["clarification"]["options"] == [
            "2027-10-31T02:30:00+02:00",
            "2027-10-31T02:30:00+01:00",
        ]
        second = await caller.reply(twice, "the second one", "book_visit")
        assert "31 October 2027 at 02:30 (+01:00)" in question(second)
