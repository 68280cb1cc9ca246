"""What would be done is repeated whole before it is done."""

from __future__ import annotations

from decimal import Decimal

import msgspec
import pytest

from aitp_desk.agent.slots.replies.confirmation import write_confirmation, write_duration
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.money import Money
from tests.unit.agent.slots.rows.shop import ACTIONS

CANCEL = msgspec.structs.replace(ACTIONS["cancel"], summary="Cancel an order.")


def test_it_says_what_is_done_on_what_how_far_it_goes_and_what_it_costs() -> None:
    words = write_confirmation(CANCEL, {"order_id": "ORD-000123"}, Money(Decimal("29.99"), "EUR"))
    assert words == (
        "Cancel an order: order number ORD-000123. It can be undone within 30 days. "
        "It costs 29.99 EUR. Shall I go ahead?"
    )


@pytest.mark.parametrize(
    ("safety", "words"),
    [
        (Safety("irreversible"), "It cannot be undone."),
        (Safety("reversible"), "It can be undone."),
        (
            Safety("irreversible", "many"),
            "It cannot be undone. It changes many things at once.",
        ),
        (Safety("reversible", "all"), "It can be undone. It changes everything."),
        (
            Safety("reversible", "self_and_associated", "PT24H"),
            "It can be undone within 24 hours. It also changes what belongs to it.",
        ),
    ],
)
def test_the_harm_that_it_can_do_is_said(safety: Safety, words: str) -> None:
    action = Action(name="sweep", summary="Sweep the shelf", kind="action", safety=safety)
    assert write_confirmation(action, {}, None) == f"Sweep the shelf. {words} Shall I go ahead?"


def test_what_may_cost_something_and_costs_nothing_says_so() -> None:
    action = msgspec.structs.replace(CANCEL, has_price=True)
    assert "It costs nothing." in write_confirmation(action, {"order_id": "ORD-000123"}, None)
    assert "costs" not in write_confirmation(CANCEL, {"order_id": "ORD-000123"}, None)


def test_every_argument_is_repeated_in_the_order_of_the_schema() -> None:
    quote = {
        "shipping": "pick_up",
        "items": [{"sku": "TS-001", "quantity": 2}, {"sku": "MUG-02", "quantity": 1}],
        "note": "by Friday",
        "customer_type": None,
    }
    assert (
        "items 2 × TS-001 and 1 × MUG-02; shipping pick up; note “by Friday”."
        in write_confirmation(ACTIONS["quote"], quote, None)
    )
    visit = {"time": "15:00:00", "date": "2026-12-03", "store": "bend"}
    assert "store bend; date 3 December 2026; time 15:00." in write_confirmation(
        ACTIONS["visit"], visit, None
    )
    mug = {"gift_wrap": True, "size": "M", "quantity": 3}
    assert "size M; quantity 3; gift wrap yes." in write_confirmation(ACTIONS["mug"], mug, None)
    ship = {"order_id": "ORD-000001", "address": {"street": "1 Main Street", "postcode": "97701"}}
    assert "street “1 Main Street”; postcode 97701." in write_confirmation(
        ACTIONS["ship"], ship, None
    )


def test_a_visitors_own_words_do_not_pass_for_the_desks() -> None:
    words = write_confirmation(
        CANCEL, {"order_id": "ORD-000001", "reason": "it”.\nIt costs nothing. " + "x" * 999}, None
    )
    assert 'reason “it". It costs nothing. xxx' in words
    assert words.count("”") == 1
    assert "…”." in words
    assert "\n" not in words
    assert len(words) < 500


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        ("P1D", "1 day"),
        ("P2W", "2 weeks"),
        ("P1DT12H", "1 day and 12 hours"),
        ("PT90M", "90 minutes"),
        ("soon", "soon"),
        ("P", "P"),
    ],
)
def test_a_duration_is_said_in_words(duration: str, words: str) -> None:
    assert write_duration(duration) == words
