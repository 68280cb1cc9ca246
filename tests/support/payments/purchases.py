"""A site that buys at another: both over plain values, each with its own books."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.capability import Context, Job, Part, Party, Verdict
from tests.support.payments.checkout import SITE, Counter
from tests.support.payments.quotes import upstream_errors

BAKERY = "bakery.example"
BAKER = "agent:bakery.example"
BAKERS_ACTOR = "https://bakery.example"
STRANGER = "agent:stranger.example"
ANNA = f"{SITE}/operators/anna"
CEILINGS = {"per_payment": "10", "per_day": "25", "per_payee": "20", "top_up": "30"}


class Bakery(Counter):
    """The merchant. Each buyer has an account and a channel."""

    def __init__(self) -> None:
        super().__init__(merchant_id=BAKERY)

    def know(self, site: Site, funds: str = "50") -> None:
        """Have a buyer with money in a channel."""
        (key,) = site.payments.documents()["payer-jwks.json"]["keys"]
        self.open_account("acct_site", keys=(key["x"],), owner="")
        self.open_channel("ch_site", funds, "acct_site")


class Site(Counter):
    """The buyer.

    Attributes:
        who: the caller that speaks; the baker unless a test says something else.
        actor: as whom.
        others: who else takes part.
    """

    def __init__(
        self, bakery: Bakery, *, affiliates: Mapping[str, str] | None = None, **buying: Any
    ) -> None:
        payee = {
            "merchant_id": BAKERY,
            "key": bakery.payments.merchant.key,
            "principals": [BAKER],
            "channels": {"EUR": "ch_site"},
        }
        chosen = {"payees": {"bakery": payee}, "ceilings": {"EUR": CEILINGS}, **buying}
        super().__init__(buying=chosen, affiliates=affiliates or {})
        self.beside: tuple[Party, ...] = ()

    def hear(self, message: Mapping[str, Any], who: str | None = BAKER, **more: Any) -> list[Any]:
        """Send a message as the baker or another party; return what the site says."""
        ((key, content),) = ((key, one) for key, one in message.items() if key != "$schema")
        before = len(self.said)
        actor = more.pop("actor", BAKERS_ACTOR)
        self._judge(key, content, more.pop("version", 0), None, principal=who, actor=actor, **more)
        return self.said[before:]

    def decide(self, **decision: Any) -> list[Any]:
        """Have one of the site's people decide."""
        given = {"decide_payment": {"merchant_id": BAKERY, **decision}}
        return self.hear(given, "key:anna", actor=ANNA, version=1)

    async def look(self) -> Sequence[Any]:
        """Do the job that looks whether the one payment was confirmed."""
        ((key, start),) = self.started.items()
        del self.started[key]
        job = Job(
            ref=start.ref, payload=start.payload, now=self.now, thread_id=None, read=self._read
        )
        wanted = await self.payments.jobs()[start.job].do(job)
        assert not callable(wanted)
        return wanted

    def weigh(self, part: Part) -> Verdict:
        """Judge what the baker says, and write nothing."""
        return self.judge(part, self._context(None, principal=BAKER, actor=BAKERS_ACTOR))

    def state(self) -> list[str]:
        """How all that it has bought stands."""
        return [
            str(one.value.get("state", "wanted"))
            for key, one in sorted(self.records.items())
            if key.startswith("bought:")
        ]

    def _context(self, asking: Any, **more: Any) -> Context:
        parties = (Party(id=BAKERS_ACTOR, version=0, principal=BAKER), *self.beside)
        return super()._context(asking, **({"parties": parties} | more))

    def _told(self, content: Any) -> Any:
        if isinstance(content, str):
            return content
        plain: dict[str, Any] = json.loads(msgspec.json.encode(content))
        if "$schema" in plain:
            assert upstream_errors(plain) == []
        return plain


def payment_of(said: list[Any]) -> dict[str, Any]:
    """The one payment among what was said."""
    (paid,) = (one["payment"] for one in said if isinstance(one, dict) and "payment" in one)
    assert isinstance(paid, dict)
    return paid


def trade(site: Site, bakery: Bakery, price: str) -> list[Any]:
    """Have the bakery quote a price, the site pay it and the bakery confirm; what the site says."""
    said = site.hear({"quote": bakery.quote(price, version=0)})
    for one in said:
        if isinstance(one, dict) and "payment" in one:
            for answer in bakery.say("payment", one["payment"], version=0):
                said += site.hear(answer) if isinstance(answer, dict) else []
    return said
