"""An agent that asks two stalls for an item, and buys at the cheaper one."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

from aitp_desk.model.money import Money
from aitp_desk.visitor import (
    Identity,
    Payer,
    PlannedCall,
    Policy,
    Signer,
    Site,
    VisitError,
    load_key,
    visit,
)
from aitp_desk.visitor.proof.transcript import write_keys

CHOSEN = tomllib.loads(Path("buyer.toml").read_text("utf-8"))
WISH = {"item": CHOSEN["item"], "count": CHOSEN["count"]}
OFFERS = Path("offers.json")


@asynccontextmanager
async def visiting(stall: dict[str, str], most: Decimal) -> AsyncIterator[Site]:
    """Visit a stall, and agree to no price above `most`, in euros."""

    async def confirm(call: PlannedCall) -> bool:
        price = call.quote.money if call.quote else call.action.cost
        return price is None or price.amount <= most

    signer = Signer(CHOSEN["domain"], load_key(Path("agent.pem")))
    payer = Payer(signer.key, CHOSEN["domain"], account=stall["account"])
    async with visit(
        stall["url"],
        protocol="hac",  # its calls have a key: the same key again is the same order
        credential=Path(stall["access_key"]).read_text("utf-8").strip(),
        identity=Identity(CHOSEN["name"], signer=signer, payer=payer),
        policy=Policy(confirm, budget=Money(Decimal(CHOSEN["limit"]), "EUR")),
    ) as site:
        try:
            yield site
        finally:
            number = len(list(Path().glob("visit-*.json"))) + 1
            Path(f"visit-{number}.json").write_bytes(site.write_transcript())
            Path("keys.json").write_bytes(write_keys(signer, since=0))


async def compare() -> None:
    """Get a quote of each stall, and keep them, the cheapest first; pay nothing."""
    offers = []
    for stall in CHOSEN["stalls"]:
        key = secrets.token_urlsafe(16)
        async with visiting(stall, Decimal(0)) as site:
            try:
                quote = (await site.call("order", WISH, key=key, pays=False)).quote
            except VisitError as error:
                print(f"{stall['url']}: {error}")
                continue
        if quote is not None and quote.money.currency == "EUR":
            print(f"{stall['url']}: {quote.money}")
            offers.append({**stall, "key": key, "price": str(quote.money.amount)})
    offers.sort(key=lambda offer: Decimal(offer["price"]))
    OFFERS.write_text(json.dumps(offers, indent=2), "utf-8")


async def buy(*, is_new: bool) -> None:
    """Buy at the cheapest stall, for at most its quote.

    Parameters:
        is_new: whether it is another order; else the quoted one, however often it is repeated.
    """
    offer = json.loads(OFFERS.read_text("utf-8"))[0]
    key = secrets.token_urlsafe(16) if is_new else offer["key"]
    async with visiting(offer, Decimal(offer["price"])) as site:
        outcome = await site.wait(await site.call("order", WISH, key=key))
        print(f"{outcome.text} Paid now: {site.spent}.")
    receipt = {"stall": offer["url"], "price": offer["price"], "order": outcome.result}
    Path("receipt.json").write_text(json.dumps(receipt), "utf-8")


if __name__ == "__main__":
    what = sys.argv[1]  # compare, buy, or again
    try:
        asyncio.run(compare() if what == "compare" else buy(is_new=what == "again"))
    except VisitError as error:
        sys.exit(f"Nothing was bought: {error}")
