"""What payers were told, and what was paid for, against what a desk has kept of it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.money.checks import invariants
from tests.money.checks.invariants import CENT, Kept
from tests.money.market.payers import Payers, Purchase
from tests.money.market.process import CHANNELS, FUNDS

ASKED = frozenset({"payment", "approve_quote", "draw", "top_up_channel", "open_channel"})
"""What payers say: each is followed by what the desk says to it, written in the same commit."""


def examine(kept: Kept, payers: Payers) -> Iterator[str]:
    """Whatever does not hold of all that was ever bought, once all of it was answered."""
    yield from invariants.broken(kept)
    for purchase in payers.bought:
        yield from _of_quote(purchase, kept)
    yield from _of_sums(kept, payers)
    yield from payers.refusals


def examine_thread(purchase: Purchase, said: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Whatever does not hold of a quote's thread.

    Parameters:
        said: the ids and texts of its messages, in order.
    """
    if not said:
        yield f"{purchase.offer.thread_id} is gone"
        return
    ids = {id for id, _ in said}
    for one in purchase.sent:
        if one.kind != "call" and one.answer not in ids:
            yield f"{one.answer} was answered, and is not on its thread"
    messages = [_read(text) for _, text in said]
    confirmed = defaultdict[tuple[str, str], set[str]](set)
    for key, given, (next_key, _) in zip(
        *zip(*messages, strict=True), [*messages[1:], ("", {})], strict=True
    ):
        if key in ASKED and next_key in {*ASKED, ""}:
            yield f"{key} on {purchase.offer.thread_id} has no answer"
        if key == "payment_confirmation":
            told = (given["payment_id"], given["result"])
            confirmed[told].add(json.dumps(given, sort_keys=True))
    paid = {id for id, result in confirmed if result == "success"}
    if len(paid) != 1:
        yield f"{purchase.quote_id} was confirmed as paid by {sorted(paid)}"
    for (id, _), told_so in confirmed.items():
        if id in paid and len(told_so) != 1:
            yield f"{id} was told in {len(told_so)} ways"


def _read(text: str) -> tuple[str, Mapping[str, Any]]:
    """A message's key and what it holds; words are called so."""
    if not text.startswith("{"):
        return "words", {}
    whole = json.loads(text)
    (key,) = whole.keys() - {"$schema"}
    return key, whole[key]


def _of_quote(purchase: Purchase, kept: Kept) -> Iterator[str]:
    call_id = purchase.offer.call_id
    quote, state = kept.records.get(f"quote:{purchase.quote_id}"), kept.calls.get(call_id)
    if quote is None or state is None:
        yield f"{purchase.quote_id} or its call is gone"
        return
    if quote.get("state") != "paid":
        yield f"{purchase.quote_id} is {quote.get('state', 'open')}, and every payment was answered"
    wanted = {"succeeded" if purchase.works else "failed"}
    # one that may not be repeated and was cut short: people find out what became of it
    may_be = wanted | {"unknown"} if purchase.action == "sell" else wanted
    if state not in may_be:
        yield f"{call_id} of {purchase.action} is {state}"
    if state != "unknown" and kept.sold.get(call_id, 0) != purchase.works:
        yield f"{call_id} is {state}, and was sold {kept.sold.get(call_id, 0)} times"


def _of_sums(kept: Kept, payers: Payers) -> Iterator[str]:
    """Payers have what they had but for what they have bought, to the cent."""
    sums = Counter[str]()
    for name, count in kept.held.items():
        account = name.removeprefix("balance:EUR:")
        sums[account.partition("_")[0] if account.startswith("acct_") else account] += count
    spent = sum(
        one.cents * CENT
        for one in payers.bought
        if kept.calls.get(one.offer.call_id) != "failed"
        and kept.records.get(f"quote:{one.quote_id}", {}).get("payment_id") not in kept.given_back
    )
    theirs = sum(n for name, n in sums.items() if name.startswith(("acct", "channel:", "drawn:")))
    if theirs != 2 * FUNDS - spent:
        yield f"payers have {theirs}, and have spent {spent}"
    drawn = sum(sums[f"drawn:channel:{channel}"] for channel in CHANNELS)
    if drawn != payers.drawn * CENT:
        yield f"{drawn} is drawn, and {payers.drawn} cents were"
    own = [count for account, count in sums.items() if account.startswith("channel:own_")]
    if own != [100 * CENT] * payers.opened:
        yield f"{payers.opened} channels of a euro were opened, and there are {Counter(own)}"
