"""Calls that are paid on Stripe's page, and what Stripe tells of it.

Stripe is a stand-in on the loopback (``tests/support/payments/stripe_account.py``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.payments.card_shop import HOOK, Till, selling_by_card
from tests.support.payments.stripe_account import SECRET
from tests.support.payments.till_plugin import sold

pytestmark = pytest.mark.asyncio(loop_scope="module")

DUE = {"merchant": 5_000_000, "outside:stripe": -5_000_000}
"""What stands in the books once a ticket is paid, and nothing else was."""
HOME = "https://shop.example/thanks"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Till]:
    async with selling_by_card(tmp_path_factory.mktemp("shop")) as one:
        yield one


@pytest.fixture
def till(shop: Till) -> Till:
    shop.renew()
    return shop


async def test_a_call_is_made_once_its_page_is_paid_and_stripe_has_told(till: Till) -> None:
    payment = await till.ask()
    (link,) = payment["links"]
    assert link["title"] == "Pay by card"
    (option,) = payment["message"]["quote"]["payment_options"]
    assert option["payment_methods"] == [
        {"type": "stripe", "url": link["url"], "publishable_key": "pk_test_51Public"}
    ]
    session = await till.open_page(payment)
    assert sold(till.site) == []
    event = till.account.pay(session)
    assert (await till.hear(event)).ok == {"status": "ok"}
    assert (await till.ended(payment))["status"] == "success"
    assert sold(till.site) == [f"{payment['call_id']} Ada"]
    assert till.balances() == DUE
    said = await till.until(payment, "A ticket for Ada.")
    assert any("Paid: 5.00 EUR. Thank you." in one for one in said)


async def test_a_link_leads_to_one_page_until_it_is_paid_and_home_from_then_on(till: Till) -> None:
    payment = await till.ask()
    (link,) = payment["links"]
    till.account.delay = 0.05  # the others ask while Stripe has the first in hand
    led = await asyncio.gather(*(till.follow(link["url"]) for _ in range(5)))
    assert {one.status for one in led} == {303}
    (page,) = {one.headers["Location"] for one in led}
    assert page.startswith(till.account.url)
    assert (await till.follow(link["url"])).headers["Location"] == page
    assert len(till.account.sessions) == 1
    (session,) = till.account.sessions.values()
    assert session["metadata"]["quote_id"] == payment["quote_id"]
    assert session["success_url"] == f"{link['url']}.paid"
    await till.hear(till.account.pay(session["id"]))
    assert (await till.follow(link["url"])).headers["Location"] == HOME


async def test_a_returning_buyer_has_paid_even_where_stripe_notifies_nothing(till: Till) -> None:
    payment = await till.ask()
    session = await till.open_page(payment)
    till.account.pay(session)
    back = till.account.sessions[session]["success_url"]
    assert (await till.follow(back)).headers["Location"] == HOME
    assert (await till.ended(payment))["status"] == "success"
    assert till.balances() == DUE
    assert (await till.follow(back)).headers["Location"] == HOME


async def test_a_returning_buyer_who_has_not_paid_has_not(till: Till) -> None:
    payment = await till.ask()
    session = await till.open_page(payment)
    await till.follow(till.account.sessions[session]["success_url"])
    await till.until_true(lambda: till.account.asked[-1] == f"GET /v1/checkout/sessions/{session}")
    assert till.account.sessions[session]["status"] == "open"
    await till.hear(till.account.pay(session))
    assert (await till.ended(payment))["status"] == "success"


async def test_what_stripe_tells_twice_at_once_and_again_is_paid_once(till: Till) -> None:
    payment = await till.ask()
    event = till.account.pay(await till.open_page(payment))
    told = await asyncio.gather(*(till.hear(event) for _ in range(4)))
    assert {one.status for one in told} <= {200, 409}
    assert (await till.hear(event)).ok == {"status": "ok"}
    await till.ended(payment)
    await till.hear(event)
    assert till.balances() == DUE
    assert len(sold(till.site)) == 1
    assert till.account.refunds == {}


async def test_where_the_first_page_was_not_opened_it_is_opened_with_the_next_visit(
    till: Till,
) -> None:
    payment = await till.ask()
    (link,) = payment["links"]
    till.account.breaks = ["after", "error"]
    assert (await till.follow(link["url"])).status == 503
    assert (await till.follow(link["url"])).status == 503
    assert (await till.follow(link["url"])).status == 303
    assert len(till.account.sessions) == 1


async def test_nobody_pays_what_is_not_there_is_over_or_was_declined(till: Till) -> None:
    assert (await till.follow("https://x/capabilities/payments/stripe/none")).status == 404
    payment = await till.ask()
    (link,) = payment["links"]
    schema = payment["message"]["$schema"]
    declined = {"$schema": schema, "decline_quote": {"quote_id": payment["quote_id"]}}
    await till.buyer.post(payment["thread_id"], [json.dumps(declined)])
    assert (await till.follow(link["url"])).status == 409
    payment = await till.ask()
    till.clock.advance(601)
    assert (await till.follow(payment["links"][0]["url"])).status == 409
    assert till.account.sessions == {}


async def test_a_page_is_closed_when_the_time_of_its_quote_is_over(till: Till) -> None:
    session = await till.open_page(await till.ask())
    await till.pass_time(601)
    await till.until_true(lambda: till.account.sessions[session]["status"] == "expired")


async def test_what_was_paid_in_time_and_told_by_nobody_is_found_out_in_the_end(till: Till) -> None:
    payment = await till.ask()
    till.account.pay(await till.open_page(payment))
    await till.pass_time(601)
    assert (await till.ended(payment))["status"] == "success"
    assert till.balances() == DUE


async def test_what_a_desk_finds_out_long_after_its_time_goes_back(till: Till) -> None:
    payment = await till.ask()
    till.account.pay(await till.open_page(payment))
    await till.pass_time(3600)
    await till.until(payment, "The money is refunded.")
    await till.until_refunded()
    assert sold(till.site) == []


async def test_a_payment_that_is_reported_too_late_goes_back(till: Till) -> None:
    payment = await till.ask()
    event = till.account.pay(await till.open_page(payment))
    till.clock.advance(3600)
    assert (await till.hear(event)).ok == {"status": "ok"}
    await till.until_refunded()
    assert sold(till.site) == []


async def test_what_was_declined_meanwhile_and_is_paid_all_the_same_goes_back(till: Till) -> None:
    payment = await till.ask()
    session = await till.open_page(payment)
    schema = payment["message"]["$schema"]
    declined = {"$schema": schema, "decline_quote": {"quote_id": payment["quote_id"]}}
    await till.buyer.post(payment["thread_id"], [json.dumps(declined)])
    paid = till.account.pay(session)
    await till.hear(paid)
    await till.until_refunded()
    said = await till.until(payment, "were refunded")
    assert "This quote was declined. The money is refunded." in said
    await till.hear(paid)  # late, and again
    assert (await till.follow(payment["links"][0]["url"])).status == 409
    assert len(till.account.refunds) == 1
    assert sold(till.site) == []


async def test_a_card_that_is_charged_after_a_failure_and_a_decline_goes_back(till: Till) -> None:
    payment = await till.ask()
    session = await till.open_page(payment)
    await till.hear(till.account.pay(session, "pm_usBankAccount"))
    await till.until(payment, "is pending")
    await till.hear(till.account.clear(session, succeeds=False))
    await till.until(payment, "The payment failed")
    schema = payment["message"]["$schema"]
    declined = {"$schema": schema, "decline_quote": {"quote_id": payment["quote_id"]}}
    await till.buyer.post(payment["thread_id"], [json.dumps(declined)])
    await till.hear(till.account.clear(session))  # the bank has sent it after all
    await till.until_refunded()
    said = await till.until(payment, "were refunded")
    assert "This quote was declined. The money is refunded." in said
    assert (await till.follow(payment["links"][0]["url"])).status == 409
    assert sold(till.site) == []


async def test_a_call_that_fails_after_it_was_paid_is_given_back_once(till: Till) -> None:
    payment = await till.ask("Nobody")
    till.account.breaks = ["", "error"]  # the page is opened, the refund is not at first
    event = till.account.pay(await till.open_page(payment))
    await till.hear(event)
    assert (await till.ended(payment))["status"] == "failed"
    await till.until_true(lambda: "POST /v1/refunds" in till.account.asked)
    while not till.account.refunds:
        await till.pass_time(10)
    await till.until_refunded()
    said = await till.until(payment, "were refunded")
    assert sum("were refunded" in one for one in said) == 1


async def test_a_refund_that_stripe_refuses_is_left_to_people(till: Till) -> None:
    payment = await till.ask("Nobody")
    event = till.account.pay(await till.open_page(payment))
    (intent,) = till.account.intents.values()
    intent["status"] = "processing"  # of what has not come Stripe gives nothing back
    await till.hear(event)
    said = await till.until(payment, "People of the site will handle it")
    assert not any("were refunded" in one for one in said)
    assert till.balances() == DUE


# --- payments that take days ---------------------------------------------------------------------


async def test_a_payment_that_takes_days_is_waited_for(till: Till) -> None:
    payment = await till.ask()
    session = await till.open_page(payment)
    await till.hear(till.account.pay(session, "pm_usBankAccount"))
    await till.until(payment, "is pending")
    assert (await till.follow(payment["links"][0]["url"])).status == 409
    assert till.balances() == {}
    await till.hear(till.account.clear(session))
    assert (await till.ended(payment))["status"] == "success"
    assert till.balances() == DUE


async def test_a_payment_that_fails_in_the_end_leaves_the_quote_to_be_paid(till: Till) -> None:
    payment = await till.ask()
    session = await till.open_page(payment)
    began = till.account.pay(session, "pm_usBankAccount")
    await till.hear(began)
    failed = till.account.clear(session, succeeds=False)
    await till.hear(failed)
    await till.until(payment, "The payment failed")
    await till.hear(began)  # late, and again
    await till.hear(failed)
    assert till.balances() == {}
    assert sold(till.site) == []


async def test_what_comes_before_what_was_to_come_first_changes_nothing(till: Till) -> None:
    payment = await till.ask()
    session = await till.open_page(payment)
    began = till.account.pay(session, "pm_usBankAccount")
    came = till.account.clear(session)
    await till.hear(came)
    await till.hear(began)
    assert (await till.ended(payment))["status"] == "success"
    assert till.balances() == DUE


# --- what else comes by the hook -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("secrets", "age"),
    [
        (("whsec_another",), 0),
        ((SECRET,), 301),
        ((SECRET,), -301),
        (("whsec_one", "whsec_another"), 0),
    ],
)
async def test_what_stripe_has_not_signed_just_now_is_refused(
    till: Till, secrets: tuple[str, ...], age: int
) -> None:
    event = till.account.pay(await till.open_page(await till.ask()))
    refused = await till.hear(event, *secrets, age=age)
    assert refused.status == 401
    assert (
        refused.body["error"]["message"]
        == "The header Stripe-Signature is missing, wrong or too old."
    )
    assert till.balances() == {}


async def test_while_a_secret_is_replaced_either_signature_is_right(till: Till) -> None:
    event = till.account.pay(await till.open_page(await till.ask()))
    assert (await till.hear(event, "whsec_next", SECRET, age=299)).status == 200
    assert till.balances() == DUE


@pytest.mark.parametrize(
    "header",
    [
        "",
        "v1=00",
        "t=soon,v1=00",
        "t=1800000000",
        "t=1800000000,v1=\u00e9\u00e9",
        "t=1800000000,t=1800000000,v1=00",
        "nothing at all",
        "t=1800000000,v0=00",
    ],
)
async def test_what_is_signed_in_no_way_that_is_known_is_refused(till: Till, header: str) -> None:
    headers = [("Stripe-Signature", header)] if header else []
    assert (await till.desk.send("POST", HOOK, b"{}", headers=headers)).status == 401


async def test_what_is_no_event_is_refused(till: Till) -> None:
    assert (await till.hear({"id": "evt_1"})).status == 400
    body, header = b"\xff\xfe", "t=1800000000,v1=00"
    refused = await till.desk.send("POST", HOOK, body, headers=[("Stripe-Signature", header)])
    assert refused.status == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"livemode": True},
        {"metadata": {}},
        {"metadata": None},
        {"metadata": {"site": "https://another.example", "quote_id": "q"}},
        {"status": "open"},
        {"id": None},
    ],
)
async def test_what_is_not_about_this_site_is_taken_and_left(
    till: Till, changed: dict[str, object]
) -> None:
    payment = await till.ask()
    event = till.account.pay(await till.open_page(payment))
    event["data"]["object"] |= changed
    assert (await till.hear(event)).ok == {"status": "ok"}
    assert till.balances() == {}


@pytest.mark.parametrize(
    "changed", [{"amount_total": 499}, {"currency": "usd"}, {"metadata": {"quote_id": "gone"}}]
)
async def test_money_that_fits_no_quote_is_noted_for_people(
    till: Till, changed: dict[str, object]
) -> None:
    payment = await till.ask()
    event = till.account.pay(await till.open_page(payment))
    thing = event["data"]["object"]
    if "metadata" in changed:
        changed = {"metadata": thing["metadata"] | changed["metadata"]}
    event["data"]["object"] = thing | changed
    assert (await till.hear(event)).ok == {"status": "ok"}
    assert till.balances() == {}
    assert till.audited("stripe_unmatched") == 1


async def test_other_events_are_taken_and_left(till: Till) -> None:
    for type in ("ping", "customer.created", "checkout.session.expired", "charge.dispute.closed"):
        event = till.account.tell(type, {"id": "x", "object": "x"})
        assert (await till.hear(event)).ok == {"status": "ok"}


# --- what becomes of money later -----------------------------------------------------------------


async def paid(till: Till) -> str:
    """Have a ticket sold; the id of what was paid by."""
    payment = await till.ask()
    await till.hear(till.account.pay(await till.open_page(payment)))
    await till.ended(payment)
    (intent,) = till.account.intents
    return intent


def refund(till: Till, intent: str, amount: int, id: str = "re_1", **more: str) -> Any:
    """An event of a refund that people have made in the dashboard."""
    thing = {
        "id": id,
        "object": "refund",
        "amount": amount,
        "currency": "eur",
        "payment_intent": intent,
        "status": "pending",
        "metadata": {},
    }
    kind = "created" if "status" not in more else "failed"
    return till.account.tell(f"refund.{kind}", thing | more)


async def test_what_people_give_back_in_the_dashboard_is_booked(till: Till) -> None:
    intent = await paid(till)
    some, rest = refund(till, intent, 200), refund(till, intent, 300, "re_2")
    for event in (some, some):
        assert (await till.hear(event)).status == 200
        assert till.balances() == {"merchant": 3_000_000, "outside:stripe": -3_000_000}
    for event in (rest, some, rest):
        assert (await till.hear(event)).status == 200
        assert till.balances() == {}


async def test_money_that_a_bank_does_not_take_back_is_the_site_s_again_and_due(
    till: Till,
) -> None:
    payment = await till.ask("Nobody")
    await till.hear(till.account.pay(await till.open_page(payment)))
    await till.until_refunded()
    (back,) = till.account.refunds.values()
    failed = till.account.tell("refund.failed", back | {"status": "failed"})
    for event in (failed, till.account.tell("refund.created", back), failed):
        assert (await till.hear(event)).status == 200
        assert till.balances() == DUE
    assert till.audited("refund_failed") == 1
    await till.until(payment, "The refund to the card failed")
    again = refund(till, back["payment_intent"], 500, "re_again")
    for _ in range(2):
        assert (await till.hear(again)).status == 200
        assert till.balances() == {}
    assert till.audited("refunded") == 2


async def test_a_refund_that_has_failed_before_it_was_told_of_moves_nothing(till: Till) -> None:
    intent = await paid(till)
    for event in (refund(till, intent, 200, status="failed"), refund(till, intent, 200)):
        assert (await till.hear(event)).status == 200
        assert till.balances() == DUE
    assert till.audited("refund_failed") == 1


async def test_a_refund_of_the_desk_s_that_fails_at_once_is_due(till: Till) -> None:
    till.account.refunds_fail = True
    payment = await till.ask("Nobody")
    await till.hear(till.account.pay(await till.open_page(payment)))
    await till.until(payment, "The refund to the card failed")
    assert till.balances() == DUE
    assert till.audited("refund_failed") == 1


async def test_a_dispute_is_noted_and_the_money_that_it_moves_is_booked(till: Till) -> None:
    intent = await paid(till)
    created = till.account.dispute(intent)
    assert (await till.hear(created)).status == 200
    assert till.audited("disputed") == 1
    assert till.balances() == DUE
    dispute = created["data"]["object"]
    for type, left in (("funds_withdrawn", {}), ("funds_reinstated", DUE)):
        event = till.account.tell(f"charge.dispute.{type}", dispute)
        for _ in range(2):
            assert (await till.hear(event)).status == 200
            assert till.balances() == left


async def test_a_dispute_of_what_is_not_here_any_more_is_noted(tmp_path: Path) -> None:
    async with selling_by_card(tmp_path) as till:
        intent = await paid(till)
        await till.hear(refund(till, intent, 500))
        dispute = till.account.dispute(intent)["data"]["object"]
        event = till.account.tell("charge.dispute.funds_withdrawn", dispute)
        assert (await till.hear(event)).status == 200
        assert till.audited("stripe_unbooked") == 1
        assert till.balances() == {}
