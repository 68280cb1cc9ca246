"""The program of docs/protocols/quotes.md pays a quote."""

from __future__ import annotations

import json
from typing import Any

from aitp_payments.messages.signatures import sign, verifies
from tests.docs.snippets import ROOT, blocks
from tests.support.payments.buyer import PRIVATE
from tests.support.payments.checkout import KEY, Counter, public_of, results

PAGE = ROOT / "docs/protocols/quotes.md"


def test_the_payment_from_an_account_on_the_page_is_signed_and_pays() -> None:
    shown = [json.loads(one.code) for one in blocks(PAGE) if one.language == "json"]
    (message,) = (one for one in shown if one.get("payment", {}).get("payment_method"))
    payment = message["payment"]
    assert payment["payment_method"]["type"] == "ledger"
    assert verifies(public_of(PRIVATE), payment, "payer_signature")
    one = Counter()
    account = payment["payment_method"]["account"]
    one.open_account(account, keys=(public_of(PRIVATE),), owner="")
    quote_id = one.quote("4.90")["quote_id"]
    left = {name: value for name, value in payment.items() if name != "payer_signature"}
    signed = sign(PRIVATE, {**left, "quote_id": quote_id}, "payer_signature")
    assert results(one.say("payment", signed)) == ["success"]


def test_the_program_of_the_page_pays_a_quote() -> None:
    (block,) = [one for one in blocks(PAGE) if one.language == "python"]
    page: dict[str, Any] = {}
    exec(compile(block.code, "docs/protocols/quotes.md", "exec"), page)
    one = Counter()
    one.open_account()
    one.open_channel()
    quote = one.quote("4.90", version=0)
    message = page["pay"](quote, "ch_1", KEY, "user.example", "2027-01-15T08:00:00Z")
    assert results(one.say("payment", message["payment"], version=0)) == ["success"]
