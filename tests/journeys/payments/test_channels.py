"""Channels and authorisations over HTTP: opened, paid from, drawn from, captured and closed."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_payments.messages.signatures import sign
from aitp_payments.quotes.merchant import moment
from tests.support.payments.buyer import (
    BUYER,
    PRIVATE,
    SETTINGS,
    Buyer,
    bought,
    funded,
    opened_schema,
    payment_id,
    refused,
    terminal,
)
from tests.support.payments.till_plugin import make_site, selling


@pytest.mark.slow
async def test_a_call_is_paid_from_a_channel_and_the_rest_goes_back(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await funded(desk)
        buyer = await Buyer.arriving(desk)
        channel = {"channel_id": "ch-1", "account": "acct_buyer", "currency": "EUR"}
        opened = await buyer.say(open_channel={**channel, "amount": "6.00"})
        assert (opened["key"], opened["left"]) == ("channel", "6.00")

        await bought(buyer, site, desk)

        closed = await buyer.say(close_channel={"channel_id": "ch-1"})
        assert (closed["state"], closed["left"]) == ("closed", "0.00")
        accounts = await terminal(desk, "accounts")
        assert "acct_buyer  5.00 EUR  spent by a key" in accounts
        assert "merchant  5.00 EUR" in accounts
        (right,) = await terminal(desk, "verify")
        assert right.endswith("1 quote, 1 payment.")

        paid = await payment_id(desk)
        await terminal(desk, "refund", paid)
        while "acct_buyer  10.00 EUR  spent by a key" not in await terminal(desk, "accounts"):
            await buyer.who.read(buyer.thread)
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")
        assert "is refunded" in await refused(desk, "refund", paid)


async def test_a_channels_own_key_takes_no_more_from_the_account(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await funded(desk)
        buyer = await Buyer.arriving(desk)
        agent = Ed25519PrivateKey.from_private_bytes(b"g" * 32)
        raw = agent.public_key().public_bytes_raw()
        key = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
        asked = {"channel_id": "ch-1", "account": "acct_buyer", "amount": "1", "currency": "EUR"}
        assert (await buyer.say(open_channel={**asked, "keys": [key]}))["left"] == "1.00"
        response = {
            "channel_id": "ch-1",
            "amount": "9.00",
            "currency": "EUR",
            "payer_id": BUYER,
            "timestamp": moment(int(time.time())),
        }
        for private, left in ((agent, "1.00"), (PRIVATE, "10.00"), (PRIVATE, "10.00")):
            signed = sign(private, response, "payer_signature")
            content = json.dumps({"$schema": opened_schema(desk), "top_up_response": signed})
            await buyer.who.post(buyer.thread, content, wait=5)
            assert f"channel:ch-1  {left} EUR" in await terminal(desk, "accounts")


async def test_totals_that_race_are_drawn_once(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await funded(desk)
        buyer = await Buyer.arriving(desk)
        channel = {"channel_id": "ch-1", "account": "acct_buyer", "currency": "EUR"}
        await buyer.say(open_channel={**channel, "amount": "1.00"})
        totals = ["0.0003", "0.0006", "0.0006", "0.0009"]
        await asyncio.gather(
            *(buyer.say(draw={"channel_id": "ch-1", "total": total}) for total in totals)
        )
        drawn = await buyer.say(draw={"channel_id": "ch-1", "total": "0.0009"})
        assert (drawn["drawn"], drawn["left"]) == ("0.0009", "0.9991")
        more = await buyer.say(draw={"channel_id": "ch-1", "total": "1.5"})
        assert (more["key"], more["code"], more["lacking"]) == (
            "not_booked",
            "insufficient",
            "0.50",
        )
        people = await desk.with_key("threads", "operator")
        taken = await buyer.say(people, capture={"channel_id": "ch-1"})
        assert (taken["captured"], taken["drawn"]) == ("0.00", "0.0009")
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")


async def test_what_is_held_goes_back_though_its_thread_is_erased(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    passed = 0.0
    async with selling(tmp_path, site, clock=lambda: time.time() + passed) as desk:
        await funded(desk)
        buyer = await Buyer.arriving(desk)
        asked = {"account": "acct_buyer", "amount": "8.00", "currency": "EUR"}
        ends = {"expiration": moment(int(time.time()) + 60)}
        await buyer.say(authorize={**asked, **ends, "authorization_id": "au-1"})
        (await buyer.who.send("DELETE", f"/v1/threads/{buyer.thread}")).ok  # noqa: B018
        passed = 61.0
        later = await Buyer.arriving(desk)
        ends = {"expiration": moment(int(time.time()) + 120)}
        # what begins a job has those taken up whose time has come
        await later.say(authorize={**asked, **ends, "authorization_id": "au-2", "amount": "0.10"})
        while "held:au-1  0.00 EUR" not in await terminal(desk, "accounts"):
            pass
        assert "acct_buyer  9.90 EUR  spent by a key" in await terminal(desk, "accounts")


async def test_an_authorisation_goes_back_when_its_time_is_over(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    passed = 0.0
    async with selling(tmp_path, site, clock=lambda: time.time() + passed) as desk:
        await funded(desk)
        buyer = await Buyer.arriving(desk)
        asked = {
            "authorization_id": "au-1",
            "account": "acct_buyer",
            "amount": "8.00",
            "currency": "EUR",
            "expiration": moment(int(time.time()) + 3600),
        }
        held = await buyer.say(authorize=asked)
        assert (held["key"], held["left"]) == ("authorization", "8.00")
        people = await desk.with_key("threads", "operator")
        taken = await buyer.say(people, capture={"authorization_id": "au-1", "amount": "2.50"})
        assert (taken["captured"], taken["left"]) == ("2.50", "5.50")
        drawn = {"authorization_id": "au-1", "total": "1"}
        passed = 3601.0
        short = {**asked, "authorization_id": "au-2", "amount": "0.10"}
        late = await buyer.say(authorize=short)
        assert late["code"] == "too_late"
        short["expiration"] = moment(int(time.time()) + 3602)
        await buyer.say(authorize=short)  # what begins a job has those taken up whose time has come
        while (await buyer.say(draw=drawn))["code"] != "closed":
            pass
        assert "held:au-1  0.00 EUR" in await terminal(desk, "accounts")
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")
