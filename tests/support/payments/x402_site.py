"""A till that takes x402 as well, and a site that sells by it, for tests of the protocols.

It accepts every authorization of the right sum, of any signer: what a signature is worth
is for the capability that settles. A sum that is not right is refused, as one that lacks money.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from aitp_desk.app.server import open_server
from aitp_desk.capability import (
    Capability,
    Context,
    Effect,
    Job,
    Keep,
    Paid,
    Part,
    PayLink,
    Record,
    Say,
    Start,
    Take,
    Verdict,
    Waiting,
    Work,
)
from aitp_desk.config import load_config
from tests.support.clients.threads import Talker
from tests.support.desk.first_start import begin_desk
from tests.support.desk.server import UNLIMITED
from tests.support.payments.methods import REQUIREMENT
from tests.support.payments.till_plugin import Quote, Receipt, Till, X402Payment

if TYPE_CHECKING:
    from x402 import x402Client

_MILLION = 1_000_000
NETWORK = "eip155:84532"
ACTIONS = '''
"""What is sold here."""

from decimal import Decimal
from pathlib import Path

from aitp_desk.actions import action, resource
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.model.money import Money

LEDGER = Path(__file__).parent / "sold.txt"


def write(line: str) -> None:
    with LEDGER.open("a") as file:
        file.write(line + "\\n")


@action(open_to="anyone", cost="0.25 USD", prepaid=True)
def weather(town: str) -> str:
    """Tells tomorrow's weather.

    Args:
        town: where.
    """
    if town == "Atlantis":
        raise PreconditionFailed("It has sunk.")
    write(f"weather {town}")
    return f"It rains in {town}."


@action(kind="async", mutability="reversible", blast_radius="self", cost="2.00 USD", prepaid=True)
def survey(town: str) -> str:
    """Surveys a town.

    Args:
        town: which.
    """
    write(f"survey {town}")
    return f"{town} has forty houses."


@resource("/reports/{year}", open_to="anyone", cost="0.50 USD", prepaid=True)
def report(year: int) -> dict[str, str] | None:
    """A year's report."""
    return {"year": str(year), "text": "It rained."} if year > 1999 else None


def per_letter(word: str) -> Money | None:
    return Money(Decimal(len(word) - 2), "USD") if len(word) > 2 else None


@resource("/words/{word}", open_to="anyone", cost=per_letter, prepaid=True)
def word(word: str) -> list[str]:
    """What a word means; short ones are free."""
    return [word.upper()]
'''


class Kiosk(Till):
    """A till that takes x402, and has a page where people pay."""

    def judge(self, part: Part, context: Context) -> Verdict:
        match part.content:
            case Quote(quote_id) if context.asking is not None:
                verdict = super().judge(part, context)
                assert isinstance(verdict, Take)
                here = f"here:{context.thread_id}"
                before = context.record(here)
                kept = Keep(here, quote_id, before.version if before else 0, outlives=True)
                return msgspec.structs.replace(verdict, effects=(*verdict.effects, kept))
            case X402Payment(payload):
                return self._take_signed(payload, context)
            case _:
                return super().judge(part, context)

    def _take_signed(self, payload: Mapping[str, Any], context: Context) -> Verdict:
        authorization = payload["payload"]["authorization"]
        used = f"used:{authorization['nonce']}"
        here = context.record(f"here:{context.thread_id}")
        if here is None or context.record(used) is not None:
            return Take((Say("There is nothing to pay, or not by this."),))
        quote_id = here.value
        record = context.record(f"quote:{quote_id}")
        if record is None or int(authorization["value"]) != asked_for(record):
            refused = Receipt(quote_id, "refused: the sum is another")
            return Take((Say({"receipt": refused}),))
        paying = Keep(
            record.key,
            {**record.value, "state": "paying"},
            record.version,
            outlives=True,
        )
        job = Start("settle", ref=quote_id, payload=authorization["from"])
        return Take((Keep(used, quote_id, 0, outlives=True), paying, job))

    def ways_to_pay(self) -> Sequence[str]:
        return ("x402",)

    def jobs(self) -> Any:
        return {**super().jobs(), "settle": Work(self._settle)}

    async def _settle(self, job: Job) -> Sequence[Effect]:
        record = await job.read(f"quote:{job.ref}")
        assert record is not None
        receipt = {
            "success": True,
            "transaction": f"0x{job.ref}",
            "network": NETWORK,
            "payer": job.payload,
        }
        refund = Start("refund", ref=f"pay-{job.ref}")
        return (
            Keep(record.key, {**record.value, "state": "paid"}, record.version, outlives=True),
            Say({"receipt": Receipt(job.ref, "paid")}),
            Paid(record.value["call_id"], f"pay-{job.ref}", refund, receipt),
        )

    def waiting(self, record: Record) -> Waiting | None:
        if not isinstance(record.value, dict):
            return None
        waits = super().waiting(record)
        if waits is None or waits.terms is None:
            return waits
        quote_id = waits.terms.quote_id
        wanted = {
            **REQUIREMENT,
            "amount": str(asked_for(record)),
            "extra": {**REQUIREMENT["extra"], "quote_id": quote_id},
        }
        link = PayLink("Pay by card", f"https://pay.example/{quote_id}")
        terms = msgspec.structs.replace(waits.terms, x402=(wanted,), links=(link,))
        return msgspec.structs.replace(waits, terms=terms)


def asked_for(record: Record) -> int:
    """What a quote asks for, in millionths."""
    return int(Decimal(record.value["amount"]) * _MILLION)


def make_kiosk(folder: Path) -> Path:
    """Write a site that sells by x402, and return its folder."""
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Weather\n\nWe sell the weather.\n", "utf-8")
    (site / "actions.py").write_text(ACTIONS, "utf-8")
    (site / "desk.toml").write_text("[capabilities.till]\n", "utf-8")
    return site


@asynccontextmanager
async def kiosk(folder: Path, *settings: str) -> AsyncIterator[Talker]:
    """A desk that sells by x402, and a caller without a credential."""
    config = load_config(
        make_kiosk(folder),
        (*UNLIMITED, *settings),
        port=0,
        data=folder / "data",
    )
    begin_desk(config)
    beside: dict[str, type[Capability]] = {"till": Kiosk}
    async with (
        open_server(config, capabilities_beside=beside) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Talker(desk, folder / "data", http)


def sold_at(desk: Talker) -> list[str]:
    """What was done there, a line each."""
    ledger = Path(str(desk.rows("PRAGMA database_list")[0][2])).parents[1] / "site" / "sold.txt"
    return ledger.read_text().splitlines() if ledger.exists() else []


def payer() -> x402Client:
    """A payer with the package's client, whose money is not checked."""
    from eth_account import Account
    from x402 import x402Client
    from x402.mechanisms.evm.exact.register import register_exact_evm_client
    from x402.mechanisms.evm.signers import EthAccountSigner

    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.create()))
    return client
