"""A client that knows AITP-01 alone: it reads the quote after a 402, pays it, and is answered."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.signatures import sign, verifies
from aitp_payments.quotes.merchant import moment
from tests.support.clients.threads import THREADS, Talker
from tests.support.payments.buyer import BUYER, PRIVATE, SETTINGS, Buyer, funded
from tests.support.payments.quotes import upstream_errors
from tests.support.payments.till_plugin import make_site, selling, sold

OWN = "/capabilities/payments/v1/schema.json"


async def structured(who: Talker, thread: str) -> list[dict[str, Any]]:
    """The structured messages of a thread as a caller reads them, the oldest first."""
    return [json.loads(text) for text in await who.texts(thread) if text.startswith("{")]


async def test_a_client_that_joins_later_reads_and_pays_the_quote(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await funded(desk, "16")
        buyer = await Buyer.arriving(desk)
        channel = {"channel_id": "ch-1", "account": "acct_buyer", "currency": "EUR"}
        await buyer.say(open_channel={**channel, "amount": "6"})

        asked = await buyer.who.send("POST", "/capabilities/buy_ticket", {"name": "Ada"})
        assert asked.status == 402
        waiting = asked.body["payment"]
        thread, published = waiting["thread_id"], waiting["aitp_message"]
        assert waiting["message"]["$schema"].endswith(OWN)
        assert published["$schema"] == PUBLISHED
        assert upstream_errors(published) == []
        quote = published["quote"]
        (key,) = (await desk.send("GET", "/capabilities/payments/jwks.json")).ok["keys"]
        assert verifies(f"ed25519:{key['x']}", quote, "merchant_signature")
        assert await structured(buyer.who, thread) == [], "nothing is declared there yet"
        (listed,) = (await buyer.who.send("GET", f"{THREADS}/{thread}/requests")).ok["data"]
        assert listed["payment"]["aitp_message"] == published

        joining = {"id": BUYER, "capabilities": [{"schema": PUBLISHED}]}
        joined = await buyer.who.send("POST", f"{THREADS}/{thread}/actors", joining)
        assert joined.status == 200, joined.body
        assert await structured(buyer.who, thread) == [published]

        (option,) = quote["payment_options"]
        (method,) = option["payment_methods"]
        payment = {
            "quote_id": quote["quote_id"],
            "payment_method": {
                "type": method["type"],
                "token": method["token"],
                "channel_id": "ch-1",
                "amount": option["amount"],
                "currency": option["currency"],
            },
            "payer_id": BUYER,
            "timestamp": moment(int(time.time())),
        }
        signed = sign(PRIVATE, payment, "payer_signature")
        content = json.dumps({"$schema": PUBLISHED, "payment": signed})
        await buyer.who.post(thread, content, wait=5)
        confirmed = (await structured(buyer.who, thread))[2]
        assert upstream_errors(confirmed) == []
        assert confirmed["payment_confirmation"]["result"] == "success"
        while not sold(site):
            await buyer.who.read(thread)


async def test_the_desk_signs_no_quote_in_another_form_that_it_has_not_made(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        buyer = await Buyer.arriving(desk)
        asked = await buyer.who.send("POST", "/capabilities/buy_ticket", {"name": "Ada"})
        message = asked.body["payment"]["message"]
        cheap = json.loads(json.dumps(message).replace('"5.00"', '"0.01"'))
        assert cheap != message
        own = {"id": "seller", "capabilities": [{"schema": f"{desk.desk.url}{OWN}"}]}
        thread = (await buyer.who.open(metadata={"actors": [own]})).id
        assert (await buyer.who.post(thread, json.dumps(cheap))).status == 200
        operator = await desk.with_key("operator")
        joining = {"id": "reader", "capabilities": [{"schema": PUBLISHED}]}
        joined = await operator.send("POST", f"{THREADS}/{thread}/actors", joining)
        assert joined.status == 200, joined.body
        assert await structured(operator, thread) == []
