"""Calls that agents pay for by x402: with its own client, over HTTP and on threads, once each."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aitp_desk.app.server import open_server
from aitp_desk.config import load_config
from tests.support.clients.threads import Talker, Told
from tests.support.desk.conditions import until
from tests.support.desk.first_start import begin_desk
from tests.support.payments.facilitator import Facilitator, Wallet, before, facilitator
from tests.support.payments.x402_merchant import PAY_TO

ACTIONS = '''
"""What is sold here."""

from pathlib import Path

from aitp_desk.actions import Context, action

LEDGER = Path(__file__).parent / "sold.txt"


@action(open_to="anyone", cost="0.25 USD", prepaid=True)
def stamp(letter: str, context: Context) -> str:
    """Stamps a letter.

    Args:
        letter: which.
    """
    with LEDGER.open("a") as file:
        file.write(f"{context.call_id} {letter}\\n")
    return f"{letter} is stamped."


@action(
    kind="action", mutability="irreversible", blast_radius="self", cost="0.25 USD", prepaid=True
)
def mend() -> str:
    """Mends what is torn."""
    raise ValueError("it is torn")
'''


@pytest.fixture
async def fake() -> AsyncIterator[Facilitator]:
    async with facilitator(time.time(), remembers=True) as one:
        yield one


@pytest.fixture
def site(tmp_path: Path, fake: Facilitator) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.md").write_text("# Stamps\n\nWe sell stamps.\n", "utf-8")
    (folder / "actions.py").write_text(ACTIONS, "utf-8")
    coins = {"pay_to": PAY_TO, "networks": ["base-sepolia"], "facilitator": fake.url}
    written = "".join(f"{name} = {json.dumps(value)}\n" for name, value in coins.items())
    (folder / "desk.toml").write_text(f"[capabilities.payments.x402]\n{written}", "utf-8")
    return folder


@asynccontextmanager
async def selling(site: Path) -> AsyncIterator[Talker]:
    """A desk that takes coins, and a caller without a credential."""
    data = site.parent / "data"
    settings = ("limits.enabled=false", "egress.allow_loopback=true")
    config = load_config(site, settings, port=0, data=data)
    begin_desk(config)
    async with open_server(config) as desk, aiohttp.ClientSession(desk.url) as http:
        yield Talker(desk, data, http)


def sold(site: Path) -> list[str]:
    ledger = site / "sold.txt"
    return ledger.read_text().splitlines() if ledger.exists() else []


def wallet(fake: Facilitator, coins: int = 1_000_000) -> Wallet:
    one = Wallet()
    fake.chain.holds[one.address.lower()] = coins
    return one


async def stamp(who: Talker, letter: str = "A", **headers: str) -> Told:
    return await who.send(
        "POST", "/capabilities/stamp", {"letter": letter}, headers=list(headers.items())
    )


def header(payload: Any) -> str:
    return b64encode(json.dumps(payload).encode()).decode()


async def paying(who: Talker, payload: Any, letter: str = "A") -> Told:
    name = "PAYMENT-SIGNATURE" if payload["x402Version"] == 2 else "X-PAYMENT"
    return await stamp(who, letter, **{name: header(payload)})


async def asked_of(who: Talker, letter: str = "A") -> dict[str, Any]:
    """What x402 asks for a stamp."""
    refused = await stamp(who, letter)
    assert refused.status == 402
    (asked,) = refused.body["payment"]["x402"]
    return dict(asked)


@pytest.mark.slow
async def test_the_client_of_x402_pays_by_the_offer_and_gets_the_result(
    site: Path, fake: Facilitator
) -> None:
    from x402 import x402Client
    from x402.http.utils import (
        decode_payment_required_header,
        decode_payment_response_header,
        encode_payment_signature_header,
    )
    from x402.mechanisms.evm.exact import register_exact_evm_client
    from x402.mechanisms.evm.signers import EthAccountSigner
    from x402.schemas import PaymentPayload

    payer = wallet(fake)
    client = register_exact_evm_client(x402Client(), EthAccountSigner(payer.account))
    async with selling(site) as guest:
        refused = await stamp(guest)
        assert refused.status == 402
        required = decode_payment_required_header(refused.headers["PAYMENT-REQUIRED"])
        payload = await client.create_payment_payload(required)
        assert isinstance(payload, PaymentPayload)
        signature = {"PAYMENT-SIGNATURE": encode_payment_signature_header(payload)}
        done = await stamp(guest, **signature)
        assert done.ok["result"] == "A is stamped."
        settled = decode_payment_response_header(done.headers["PAYMENT-RESPONSE"])
        assert settled.success
        assert settled.transaction in fake.chain.used.values()
        assert (settled.network, settled.payer) == ("eip155:84532", payer.address)
        again = await stamp(guest, **signature)
        assert again.ok["result"] == "A is stamped."
        (line,) = sold(site)
        assert fake.count("/settle") == 1
    async with selling(site) as guest:  # and after a restart
        assert (await stamp(guest, **signature)).ok["result"] == "A is stamped."
        other = await stamp(guest, "B", **signature)
        assert other.status == 409
    assert sold(site) == [line]
    assert fake.chain.holds[PAY_TO.lower()] == 250_000


async def test_who_signs_ahead_calls_and_pays_in_one_request(site: Path, fake: Facilitator) -> None:
    payer = wallet(fake)
    async with selling(site) as guest:
        asked = await asked_of(guest, "C")
        old = before(payer.sign(asked, int(time.time())), "base-sepolia")
        done = await paying(guest, old)
        assert done.ok["result"] == "A is stamped."
        again = await paying(guest, old)
        assert again.ok["result"] == "A is stamped."
    assert len(sold(site)) == 1
    assert fake.count("/settle") == 1


async def test_a_wallet_that_holds_too_little_is_reported_and_can_pay_later(
    site: Path, fake: Facilitator
) -> None:
    payer = wallet(fake, 1)
    async with selling(site) as guest:
        asked = await asked_of(guest)
        refused = await paying(guest, payer.sign(asked, int(time.time())))
        assert refused.status == 402
        assert "The wallet holds too few coins" in json.dumps(refused.body)
        fake.chain.holds[payer.address.lower()] = 250_000
        done = await paying(guest, payer.sign(asked, int(time.time())))
        assert done.ok["result"] == "A is stamped."
    assert len(sold(site)) == 1


async def test_two_payments_of_one_quote_at_once_settle_once(site: Path, fake: Facilitator) -> None:
    async with selling(site) as guest:
        asked = await asked_of(guest)
        payloads = [wallet(fake).sign(asked, int(time.time())) for _ in range(4)]
        await asyncio.gather(*(paying(guest, payload) for payload in payloads))
    assert len(sold(site)) == 1
    assert fake.count("/settle") == 1
    assert fake.chain.holds[PAY_TO.lower()] == 250_000


async def test_a_settlement_whose_answer_is_lost_is_found_out_and_the_stamp_is_made_once(
    site: Path, fake: Facilitator
) -> None:
    fake.moods.append("lost")
    async with selling(site) as guest:
        asked = await asked_of(guest)
        done = await paying(guest, wallet(fake).sign(asked, int(time.time())))
        assert done.ok["result"] == "A is stamped."
    assert len(sold(site)) == 1
    assert fake.count("/settle") == 2
    assert fake.chain.holds[PAY_TO.lower()] == 250_000


async def test_what_fails_after_it_was_paid_is_owed_to_its_payer(
    site: Path, fake: Facilitator
) -> None:
    payer = wallet(fake)
    async with selling(site) as guest:
        ada = await guest.with_key("actions", "threads")
        refused = await ada.send("POST", "/capabilities/mend", {})
        (asked,) = refused.body["payment"]["x402"]
        thread = refused.body["payment"]["thread_id"]
        schema = refused.body["payment"]["message"]["$schema"]
        message = {"payload": payer.sign(asked, int(time.time()))}
        await ada.post(thread, [json.dumps({"$schema": schema, "x402_payment": message})])
        async with asyncio.timeout(60):
            while not any("must be refunded to" in text for text in await ada.texts(thread)):
                pass
    assert sold(site) == []


@pytest.mark.slow
async def test_coins_are_found_out_about_when_the_thread_is_gone_and_are_owed(
    site: Path, fake: Facilitator
) -> None:
    fake.gate = asyncio.Event()
    fake.moods.append("lost")
    async with selling(site) as guest:
        ada = await guest.with_key("actions", "threads")
        refused = await ada.send("POST", "/capabilities/stamp", {"letter": "A"})
        (asked,) = refused.body["payment"]["x402"]
        thread = refused.body["payment"]["thread_id"]
        schema = refused.body["payment"]["message"]["$schema"]
        message = {"payload": wallet(fake).sign(asked, int(time.time()))}
        await ada.post(thread, [json.dumps({"$schema": schema, "x402_payment": message})])
        await fake.came.wait()
        assert (await ada.send("DELETE", f"/v1/threads/{thread}")).status == 200
        fake.gate.set()
        await until(lambda: payment_states(guest) == ["refund_due"])
    assert sold(site) == []
    assert fake.chain.holds[PAY_TO.lower()] == 250_000


def payment_states(desk: Talker) -> list[str]:
    """How payments stand by the desk's records."""
    rows = desk.rows("SELECT value FROM capability_records WHERE key LIKE 'payment:%'")
    return [json.loads(value)["state"] for (value,) in rows]
