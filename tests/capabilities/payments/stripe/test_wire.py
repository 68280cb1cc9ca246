"""Stripe's wire: what the desk asks for, its outcome, and the stand-in against the library.

The stand-in is held against Stripe's own library here, with the library's own client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from aitp_desk.capability import Request, Response, Send, Unanswered
from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.egress import Egress
from aitp_payments.stripe.api import Api, Refused, Unsettled
from tests.support.doubles.agent import NOON, Clock
from tests.support.payments.stripe_account import KEY, SECRET, Account, account_at

if TYPE_CHECKING:
    import stripe

pytestmark = pytest.mark.asyncio(loop_scope="module")

SESSION: Any = {
    "mode": "payment",
    "line_items": [
        {
            "price_data": {
                "currency": "eur",
                "unit_amount": 2999,
                "product_data": {"name": "Tent & pegs"},
            },
            "quantity": 1,
        }
    ],
    "success_url": "https://shop.example/paid",
    "metadata": {"quote_id": "q-1"},
}
CHARGE: Any = {
    "amount": 2999,
    "currency": "eur",
    "confirm": True,
    "payment_method": "pm_card_visa",
    "return_url": "https://shop.example/paid",
}


@pytest_asyncio.fixture(loop_scope="module")
async def account() -> AsyncIterator[Account]:
    async with account_at(Clock()) as one:
        yield one


@pytest_asyncio.fixture(loop_scope="module")
async def send() -> AsyncIterator[Send]:
    async with Egress(allow_loopback=True) as egress:
        yield make_sender(egress)


@pytest_asyncio.fixture(loop_scope="module")
async def library(account: Account) -> AsyncIterator[stripe.StripeClient]:
    import stripe

    http = stripe.AIOHTTPClient()
    base: Any = {"api": account.url}
    yield stripe.StripeClient(KEY, http_client=http, base_addresses=base, max_network_retries=0)
    await http.close_async()  # type: ignore[no-untyped-call]


# --- the stand-in, held against the library ------------------------------------------------------


async def test_the_library_opens_reads_and_closes_a_page(library: stripe.StripeClient) -> None:
    import stripe

    sessions = library.v1.checkout.sessions
    opened = await sessions.create_async(SESSION)
    assert (opened.status, opened.amount_total, opened.currency) == ("open", 2999, "eur")
    assert opened.metadata is not None
    assert opened.metadata.to_dict() == {"quote_id": "q-1"}
    assert (await sessions.retrieve_async(opened.id)).url == opened.url
    assert (await sessions.expire_async(opened.id)).status == "expired"
    with pytest.raises(stripe.InvalidRequestError, match="Only Checkout Sessions with a status"):
        await sessions.expire_async(opened.id)


@pytest.mark.parametrize(
    ("changed", "code", "param"),
    [
        ({"surprise": "1"}, "parameter_unknown", "surprise"),
        ({"success_url": "/paid"}, "url_invalid", "success_url"),
        ({"mode": "setup"}, None, "mode"),
        ({"expires_at": int(NOON) + 60}, None, "expires_at"),
        ({"expires_at": int(NOON) + 25 * 3600}, None, "expires_at"),
        ({"metadata": {"x" * 41: "y"}}, None, "metadata"),
    ],
)
async def test_the_library_is_refused_what_the_api_refuses(
    library: stripe.StripeClient, changed: dict[str, Any], code: str | None, param: str
) -> None:
    import stripe

    with pytest.raises(stripe.InvalidRequestError) as refused:
        await library.v1.checkout.sessions.create_async(SESSION | changed)
    assert (refused.value.code, refused.value.param) == (code, param)


async def test_the_library_reports_declines_and_repeats(library: stripe.StripeClient) -> None:
    import stripe

    intents = library.v1.payment_intents
    with pytest.raises(stripe.CardError) as declined:
        await intents.create_async(CHARGE | {"payment_method": "pm_card_chargeDeclined"})
    assert declined.value.code == "card_declined"
    once = await intents.create_async(CHARGE, {"idempotency_key": "k"})
    assert (await intents.create_async(CHARGE, {"idempotency_key": "k"})).id == once.id
    with pytest.raises(stripe.IdempotencyError):
        await intents.create_async(CHARGE | {"amount": 3000}, {"idempotency_key": "k"})


async def test_the_library_is_refused_without_the_account_s_key(account: Account) -> None:
    import stripe

    http = stripe.AIOHTTPClient()
    base: Any = {"api": account.url}
    stranger = stripe.StripeClient("sk_test_other", http_client=http, base_addresses=base)
    with pytest.raises(stripe.AuthenticationError, match=r"sk_test_\*\*\*\*"):
        await stranger.v1.payment_intents.retrieve_async("pi_1")
    await http.close_async()  # type: ignore[no-untyped-call]


async def test_the_library_believes_what_the_stand_in_signs(account: Account) -> None:
    import stripe

    account = Account(lambda: __import__("time").time())
    body, header = account.signed(
        account.tell("ping", {"id": "x", "object": "x"}), "whsec_a", SECRET
    )
    event = stripe.Webhook.construct_event(body, header, SECRET)
    assert event.type == "ping"
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(body, header, "whsec_other")


# --- what the desk asks --------------------------------------------------------------------------


async def test_a_page_is_opened_once_for_a_key(account: Account, send: Send) -> None:
    api = Api(KEY, account.url)
    opened = await api.open_session(send, SESSION, "checkout-q-1")
    again = await api.open_session(send, SESSION, "checkout-q-1")
    assert opened == again
    assert (opened.status, opened.payment_status, opened.livemode) == ("open", "unpaid", False)
    account.pay(opened.id)
    paid = await api.session(send, opened.id)
    assert (paid.status, paid.payment_status, paid.url) == ("complete", "paid", None)
    with pytest.raises(Refused, match="Only Checkout Sessions"):
        await api.close_session(send, opened.id)


async def test_a_card_pays_declines_or_wants_its_holder(account: Account, send: Send) -> None:
    api = Api(KEY, account.url)
    assert (await api.charge(send, CHARGE, "a")).status == "succeeded"
    with pytest.raises(Refused) as declined:
        await api.charge(send, CHARGE | {"payment_method": "pm_card_chargeDeclined"}, "b")
    assert (declined.value.is_declined, declined.value.code) == (True, "card_declined")
    held = await api.charge(
        send, CHARGE | {"payment_method": "pm_card_authenticationRequired"}, "c"
    )
    assert held.next_action is not None
    assert held.next_action.redirect_to_url is not None
    assert (await api.cancel(send, held.id)).status == "canceled"
    assert (await api.intent(send, held.id)).status == "canceled"


async def test_what_is_broken_off_is_found_out_by_the_same_key(
    account: Account, send: Send
) -> None:
    api = Api(KEY, account.url)
    account.breaks = ["before", "after", "error"]
    with pytest.raises(Unanswered):
        await api.charge(send, CHARGE, "k")
    with pytest.raises(Unanswered):
        await api.charge(send, CHARGE, "k")
    with pytest.raises(Unsettled, match="status 500"):
        await api.charge(send, CHARGE, "k")
    paid = await api.charge(send, CHARGE, "k")
    assert (paid.status, list(account.intents)) == ("succeeded", [paid.id])
    back = await api.refund(send, paid.id, "r", {})
    assert (back.amount, back.status) == (2999, "succeeded")
    assert await api.refund(send, paid.id, "r", {}) == back
    with pytest.raises(Refused) as refused:
        await api.refund(send, paid.id, "r2", {})
    assert refused.value.code == "charge_already_refunded"


async def test_no_key_is_in_a_refusal(account: Account, send: Send) -> None:
    key = "sk_test_nobodysKeyAtAll"
    with pytest.raises(Refused) as refused:
        await Api(key, account.url).intent(send, "pi_1")
    assert "sk_" not in f"{refused.value}{refused.value.reason}{refused.value.__cause__}"


async def test_only_what_a_request_needs_is_sent_and_nothing_of_the_machine() -> None:
    sent: list[Request] = []

    async def note(request: Request) -> Response:
        sent.append(request)
        return Response(status=200, body=b"<html>not Stripe</html>")

    with pytest.raises(Unsettled):
        await Api(KEY, "https://api.stripe.com").charge(note, CHARGE, "k")
    (request,) = sent
    assert request.url == "https://api.stripe.com/v1/payment_intents"
    assert {name.lower() for name in request.headers} == {
        "authorization",
        "content-type",
        "idempotency-key",
        "stripe-version",
    }


async def test_what_has_another_form_is_settled_by_nobody() -> None:
    async def answer(request: Request) -> Response:
        return Response(status=200, body=b'{"id": "pi_1", "object": "payment_intent"}')

    with pytest.raises(Unsettled, match="cannot be read"):
        await Api(KEY, "https://api.stripe.com").charge(answer, CHARGE, "k")
