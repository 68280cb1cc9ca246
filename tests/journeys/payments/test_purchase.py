"""One desk buys at another, over HTTP: within its mandate alone, beyond it as a person decides."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.access.keys import CLIENTS
from tests.support.clients.operator import operating
from tests.support.clients.threads import Talker
from tests.support.payments.buyer import refused, terminal
from tests.support.payments.till_plugin import sold
from tests.support.plugins.trade import OWN, Trade, principal_of, trading

SECONDS = 60


async def test_a_desk_pays_another_within_its_mandate_and_books_what_it_confirms(
    tmp_path: Path,
) -> None:
    async with trading(tmp_path) as trade:
        quote = await trade.ask(name="Ada")
        (payment,) = await trade.bring(quote)
        assert [one["state"] for one in await trade.bought()] == ["pending"]
        (confirmed,) = await trade.pay(payment)
        assert confirmed["payment_confirmation"]["result"] == "success"
        # it is lost; a caller who asks again is told the same, by both, and nothing is paid again
        assert await trade.bring(quote) == [payment]
        assert await trade.bring(quote, await trade.arrive()) == [payment]
        assert await trade.pay(payment) == [confirmed]
        assert await trade.bring(confirmed) == []
        assert await trade.bring(confirmed) == []
        (bought,) = await trade.bought()
        assert (bought["state"], bought["price"]) == ("confirmed", "5.00 EUR")
        assert await trade.holds("spent-at:tickets") == "5.00 EUR"
        assert await trade.holds("channel-at:tickets") == "55.00 EUR"
        assert "channel:ch-site  55.00 EUR" in await terminal(trade.seller, "accounts")
        for desk in (trade.seller, trade.buyer):
            assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")


async def decided(trade: Trade, *, pay: bool, key: Talker | None = None) -> dict[str, Any]:
    """Have one of the buyer's people decide about what was brought last; what the desk says.

    Parameters:
        key: a caller with the scope ``operator``; None for an operator at the console.
    """
    quote = trade.asked["message"]["quote"]
    decision = {"merchant_id": quote["merchant_id"], "quote_id": quote["quote_id"], "pay": pay}
    if key is not None:
        schema = f"{trade.buyer.desk.url}{OWN}"
        message = json.dumps({"$schema": schema, "decide_payment": decision})
        assert (await key.post(trade.thread, message)).status == 200
    else:
        async with operating(trade.buyer.desk, trade.data, "anna") as anna:
            await anna.post(f"threads/{trade.thread}/take")
            said = {"capability": "payments", "message": {"decide_payment": decision}}
            await anna.post(f"threads/{trade.thread}/messages", **said)
    *_, last = await trade.said_by_buyer()
    return last


@pytest.mark.parametrize("by_key", [False, True])
async def test_beyond_a_ceiling_a_person_pays_and_nobody_else_can(
    tmp_path: Path, *, by_key: bool
) -> None:
    async with trading(tmp_path, ceilings={"EUR": ceilings(per_payment="4.99")}) as trade:
        quote = await trade.ask(name="Ada")
        assert await trade.bring(quote) == []
        assert [one["state"] for one in await trade.bought()] == ["wanted"]
        given = {"merchant_id": "tickets.example", "quote_id": trade.asked["quote_id"]}
        message = {"$schema": quote["$schema"], "decide_payment": {**given, "pay": True}}
        refusal = await trade.buyer.post(trade.thread, json.dumps(message))
        assert refusal.refusal[:2] == (403, "forbidden")
        operator = await trade.buyer.with_key("operator") if by_key else None
        payment = await decided(trade, pay=True, key=operator)
        (confirmed,) = await trade.pay(payment)
        assert await trade.bring(confirmed) == []
        assert [one["state"] for one in await trade.bought()] == ["confirmed"]
        noted = "capability:payments.bought_by_person"
        ((who,),) = trade.buyer.rows(f"SELECT principal FROM audit WHERE object = '{noted}'")
        assert operator is None or who == principal_of(operator.key or "")


async def test_a_second_decision_is_reported_as_one_that_does_not_count(tmp_path: Path) -> None:
    async with trading(tmp_path, ceilings={"EUR": ceilings(per_payment="4.99")}) as trade:
        schema = f"{trade.buyer.desk.url}{OWN}"
        own = {"id": trade.seller.desk.url, "capabilities": [{"schema": schema}]}
        await trade.buyer.send("POST", f"/v1/threads/{trade.thread}/actors", own)
        await trade.bring(await trade.ask(name="Ada"))
        operator = await trade.buyer.with_key("operator")
        await decided(trade, pay=False, key=operator)
        last = await decided(trade, pay=True, key=operator)
        rejected = last["rejected_payment_decision"]
        assert (rejected["reason"], rejected["pay"]) == ("answered", True)
        assert [one["state"] for one in await trade.bought()] == ["declined"]
        forged = {"$schema": schema, "rejected_payment_decision": rejected}
        refusal = await trade.buyer.post(trade.thread, json.dumps(forged))
        assert refusal.refusal[:2] == (403, "forbidden")


def ceilings(**other: str) -> dict[str, str]:
    """Ceilings that a ticket is within, but for the ones that are given."""
    usual = {"per_payment": "20", "per_day": "100", "per_payee": "50", "top_up": "20"}
    return {**usual, **other}


@pytest.mark.slow
async def test_what_the_mandate_refuses_and_others_ask_for_is_not_paid(tmp_path: Path) -> None:
    small = ceilings(per_day="12")
    async with trading(tmp_path, otherwise="nobody", ceilings={"EUR": small}) as trade:
        quote = await trade.ask(name="Ada")
        stranger = await trade.buyer.with_key("threads")
        other = {"id": "https://friend.example", "principal": principal_of(stranger.key or "")}
        assert await trade.bring(quote, await trade.arrive(other)) == []
        shared = await trade.arrive()
        grant = {"principal": other["principal"], "may": "write"}
        await trade.buyer.send("POST", f"/v1/threads/{shared}/grants", grant)
        assert await trade.bring(quote, shared) == []
        assert await trade.bought() == []
        quotes = [quote, *[await trade.ask(name=name) for name in ("Ben", "Cyd")]]
        threads = [await trade.arrive() for _ in quotes]
        said = await asyncio.gather(*map(trade.bring, quotes, threads))
        assert sorted(map(len, said)) == [0, 1, 1]
        more = [json.dumps(await trade.ask(name=name)) for name in ("Dan", "Eve")]
        assert (await trade.buyer.post(trade.thread, more)).status == 200
        assert await trade.holds("pending-at:tickets") == "10.00 EUR"
        assert sold(trade.shop) == []


@pytest.mark.slow
async def test_what_is_never_confirmed_is_settled_by_the_owner(tmp_path: Path) -> None:
    async with trading(tmp_path) as trade:
        (payment,) = await trade.bring(await trade.ask(name="Ada"))
        quote_id = trade.asked["quote_id"]
        assert "the quote 'q_0'" in await refused(
            trade.buyer, "settle", "tickets", "q_0", "--unpaid"
        )
        told = await terminal(trade.buyer, "settle", "tickets", quote_id, "--unpaid")
        assert told == [f"{quote_id} of tickets is settled: not paid."]
        (bought,) = await trade.bought()
        assert (bought["state"], bought["said_by"]) == ("failed", "the owner")
        assert await trade.bought("--pending") == []
        assert "The payment is failed" in await refused(
            trade.buyer, "settle", "tickets", quote_id, "--paid"
        )
        (confirmed,) = await trade.pay(payment)
        await trade.bring(confirmed)
        (bought,) = await trade.bought()
        assert (bought["state"], bought["said_by"]) == ("confirmed", "")
        assert (await terminal(trade.buyer, "verify"))[0].startswith("The ledger is correct")


@pytest.mark.servers
async def test_the_program_of_the_page_carries_all_of_it(tmp_path: Path) -> None:
    async with trading(tmp_path, funds="2.00") as trade:
        await trade.ask(name="Ada")
        thread = (await trade.buyer.open()).id
        for _ in range(2):  # begun again it comes to the same
            assert await carried(trade, thread) == (0, "success")
        assert len(sold(trade.shop)) == 1
        assert await trade.holds("spent-at:tickets") == "5.00 EUR"
        assert await trade.holds("channel-at:tickets") == "0.00 EUR"
        for desk in (trade.seller, trade.buyer):
            assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")


async def carried(trade: Trade, thread: str) -> tuple[int | None, str]:
    """Run the program of docs/build/paying.md; its exit code, and what it printed."""
    desks = (trade.seller.desk.url, trade.asked["thread_id"], trade.buyer.desk.url, thread)
    keys = {"SELLER_KEY": trade.seller.key or "", "BUYER_KEY": trade.buyer.key or ""}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        CLIENTS / "carry_payments.py",
        *desks,
        str(SECONDS),
        env={**os.environ, **keys},
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return process.returncode, printed.decode().strip()
