"""What must hold of money, whatever has happened, told by names: looked up on disk alone.

It shares no code with what it examines but the forms of what is kept.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

CENT = 10_000
"""In millionths, as all that is kept is."""
REFUNDED = frozenset({"refunded", "refund_due"})
PAID = REFUNDED | {"settled", "refunding"}
CAPTURE_BPS, CAPTURE_WEIGHTS = 333, MappingProxyType({"a": 3, "b": 2})
"""What affiliates share of each capture of a purse that is shared."""


def is_shared(purse: str) -> bool:
    """Whether affiliates share in what is captured of a purse of this id."""
    return purse.startswith("shared")


class Kept(msgspec.Struct, frozen=True):
    """What stands on disk at one moment, when the desk has nothing to do.

    Parameters:
        records, held: those of the capability.
        by_kind: records by the first part of their keys, and the rest.
        calls: how each call stands that has a price.
        refunds: the payments whose refund is promised, and not done yet.
        releases: the holds whose end is promised, and not done yet.
        sold: what was sold, as often as it was, by calls.
        put_in: what has come in from outside, less what was paid out.
        given_back: payments that people of the site have returned.
        added: how often so much was to be added to a channel, by its id and the millionths.
        now: Unix seconds.
    """

    records: Mapping[str, Any]
    by_kind: Mapping[str, Mapping[str, Any]]
    held: Mapping[str, int]
    calls: Mapping[str, str]
    refunds: frozenset[str]
    releases: frozenset[str]
    sold: Mapping[str, int]
    put_in: int
    given_back: frozenset[str]
    added: Mapping[tuple[str, int], int]
    now: int

    def of(self, kind: str) -> Iterator[tuple[str, Any]]:
        """The records of a kind, with what follows it in their keys."""
        yield from self.by_kind.get(kind, {}).items()

    @property
    def payments(self) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, int]]]:
        """Payments that were booked: their ids, records, and legs by accounts."""
        for transaction, entry in self.of("entry"):
            if transaction.startswith("pay:"):
                id = transaction.removeprefix("pay:")
                yield id, self.records[f"payment:{id}"], legs_of(entry)


def read(
    disk: sqlite3.Connection,
    sold: Path,
    put_in: int,
    given_back: Iterable[str],
    added: Mapping[tuple[str, int], int],
    now: int,
) -> Kept:
    """Read all of it, as it is at one moment; the rest as of :class:`Kept`."""
    disk.execute("BEGIN")
    try:
        records = disk.execute("SELECT key, value FROM capability_records")
        kept = {key: msgspec.json.decode(value) for key, value in records}
        held = dict(disk.execute("SELECT key, value FROM capability_counters").fetchall())
        calls = dict(disk.execute("SELECT id, state FROM calls WHERE price IS NOT NULL").fetchall())
        promised = defaultdict[str, list[str]](list)
        for kind, ref in disk.execute("SELECT kind, ref FROM jobs WHERE state <> 'done'"):
            promised[kind].append(ref)
    finally:
        disk.execute("ROLLBACK")
    lines = sold.read_text().splitlines() if sold.exists() else []
    by_kind = defaultdict[str, dict[str, Any]](dict)
    for key, value in kept.items():
        kind, _, rest = key.partition(":")
        by_kind[kind][rest] = value
    return Kept(
        kept,
        by_kind,
        held,
        calls,
        frozenset(ref.partition(":")[0] for ref in promised["payments.refund"]),
        frozenset(promised["payments.purses_release"]),
        Counter(lines),
        put_in,
        frozenset(given_back),
        added,
        now,
    )


def legs_of(entry: Mapping[str, Any]) -> Counter[str]:
    """What a transaction adds to each account."""
    sums = Counter[str]()
    for leg in entry["legs"]:
        sums[leg["account"]] += leg["millionths"]
    return sums


def no_money_made_or_lost(kept: Kept) -> Iterator[str]:
    """Accounts hold what was booked, which adds up to 0, and all together what was put in."""
    booked = Counter[str]()
    for transaction, entry in kept.of("entry"):
        legs = legs_of(entry)
        if sum(legs.values()):
            yield f"{transaction} adds up to {sum(legs.values())}"
        booked.update({f"balance:EUR:{account}": count for account, count in legs.items()})
    for name in booked.keys() | kept.held.keys():
        if booked[name] != kept.held.get(name, 0):
            yield f"{name} is {kept.held.get(name, 0)}, and {booked[name]} by the journal"
    inside = sum(count for name, count in kept.held.items() if ":outside:" not in name)
    if inside != kept.put_in:
        yield f"{inside} are here, and {kept.put_in} were put in"


def no_negative_balance(kept: Kept) -> Iterator[str]:
    """Nobody has less than nothing but the world outside, and what is closed holds nothing."""
    for name, count in kept.held.items():
        if count < 0 and ":outside:" not in name:
            yield f"{name} is {count}"
    for kind, pot in (("channel", "channel"), ("hold", "held")):
        for id, purse in kept.of(kind):
            accounts = (f"{pot}:{id}", f"drawn:{kind}:{id}")
            left = sum(kept.held.get(f"balance:EUR:{account}", 0) for account in accounts)
            if not purse.get("is_open", True) and left:
                yield f"{kind}:{id} is closed, and holds {left}"


def no_quote_paid_twice(kept: Kept) -> Iterator[str]:
    """Of a quote one payment is booked, at its price; then it is paid, and else it is not."""
    by_quote = defaultdict[str, list[str]](list)
    for id, payment, legs in kept.payments:
        by_quote[payment["quote_id"]].append(id)
        price = int(Decimal(payment["price"]["amount"]) * 1_000_000)
        taken = -sum(count for count in legs.values() if count < 0)
        if taken != price:
            yield f"{id} has taken {taken}, and costs {price}"
        if payment["state"] not in PAID:
            yield f"{id} is booked, and {payment['state']}"
    for quote_id, quote in kept.of("quote"):
        ids = by_quote.pop(quote_id, [])
        if len(ids) > 1:
            yield f"{quote_id} was paid by {' and by '.join(ids)}"
        if (quote.get("state") == "paid") != bool(ids):
            yield f"{quote_id} is {quote.get('state', 'open')}, and was paid by {ids}"
        if ids and quote["payment_id"] not in ids:
            yield f"{quote_id} names {quote['payment_id']}, and was paid by {ids}"
    if by_quote:
        yield f"payments of no quote: {dict(by_quote)}"


def nothing_booked_twice(kept: Kept) -> Iterator[str]:
    """What payers have asked for once is drawn and added once, and what was captured is told."""
    drawn, captured, added = Counter[str](), Counter[str](), Counter[tuple[str, int]]()
    for transaction, entry in kept.of("entry"):
        purse = entry.get("memo", "")
        count = sum(max(leg["millionths"], 0) for leg in entry["legs"])
        if entry["kind"] == "draw" and "/total/" in transaction:
            drawn[purse] += count
        if entry["kind"] in {"capture", "release"}:
            got = legs_of(entry)
            captured[purse] += sum(n for to, n in got.items() if to.startswith(("m", "affiliate")))
        if transaction.startswith("fund:"):
            added[purse, count] += 1
    for kind in ("channel", "hold"):
        for id, purse in kept.of(kind):
            if f"{'hold' if kind == 'channel' else 'channel'}:{id}" in kept.records:
                continue
            if drawn[id] != purse.get("signed", 0):
                yield f"{drawn[id]} was drawn from {id} by totals, up to {purse.get('signed', 0)}"
            if captured[id] != purse.get("captured", 0):
                yield f"{captured[id]} was captured of {id}, and it says {purse.get('captured')}"
    for (purse, count), times in added.items():
        if times > kept.added.get((purse, count), 0):
            yield f"{count} was added to {purse} {times} times"


def nothing_late(kept: Kept) -> Iterator[str]:
    """Quotes are paid in their time, holds drawn from in theirs, and then the rest goes back."""
    for id, payment, _ in kept.payments:
        at = kept.records[f"entry:pay:{id}"]["at"]
        until = kept.records[f"quote:{payment['quote_id']}"]["expires_at"]
        if at >= until:
            yield f"{id} was paid at {at}, and could be until {until}"
    for transaction, entry in kept.of("entry"):
        hold = kept.records.get(f"hold:{entry.get('memo')}")
        if hold is None or not transaction.startswith("draw:hold:"):
            continue
        if entry["at"] >= hold["ends_at"]:
            yield f"{transaction} is of {entry['at']}, and could be until {hold['ends_at']}"
    for id, hold in kept.of("hold"):
        if hold.get("is_open", True) and hold["ends_at"] <= kept.now and id not in kept.releases:
            yield f"{id} could be drawn from until {hold['ends_at']}, and nobody ends it"


def shares_sum_exactly(kept: Kept) -> Iterator[str]:
    """Affiliates get all of their part and no more, each within a cent of its weight."""
    for id, payment, legs in kept.payments:
        quote = kept.records[f"quote:{payment['quote_id']}"]
        price = int(Decimal(payment["price"]["amount"]) * 1_000_000)
        weights = Counter[str]()
        for share in quote.get("shares", ()):
            weights[f"affiliate:{share['id']}"] += share.get("weight", 1)
        yield from _shared(id, price, legs, quote.get("share_bps", 0), weights)
    for transaction, entry in kept.of("entry"):
        if entry["kind"] == "capture":
            legs = legs_of(entry)
            taken = -sum(count for count in legs.values() if count < 0)
            among = CAPTURE_WEIGHTS if is_shared(entry["memo"]) else {}
            weights = Counter({f"affiliate:{id}": weight for id, weight in among.items()})
            yield from _shared(transaction, taken, legs, CAPTURE_BPS, weights)
    for transaction, back in kept.of("returned"):
        legs = legs_of(kept.records[f"entry:{transaction}"])
        parts = back.get("parts", {})
        if sum(parts.values()) != back.get("count", 0):
            yield f"the parts of what was returned of {transaction} are not all of it"
        if over := [account for account, part in parts.items() if part > max(legs[account], 0)]:
            yield f"more was returned of {transaction} than {over} got"


def _shared(
    id: str, price: int, legs: Mapping[str, int], bps: int, weights: Counter[str]
) -> Iterator[str]:
    """Whether legs share a price as it should be."""
    got = {account: count for account, count in legs.items() if account.startswith("affiliate:")}
    part = price * bps // 10_000 // CENT * CENT if weights else 0
    if sum(got.values()) != part:
        yield f"{id} shares {sum(got.values())}, and it is {part}"
    if legs.get("merchant", 0) != price - part:
        yield f"{id} leaves {legs.get('merchant', 0)}, and it is {price - part}"
    if others := got.keys() - weights.keys():
        yield f"{id} gives some of it to {others}"
    for account, weight in weights.items():
        exact = Decimal(part) * weight / weights.total()
        if abs(got.get(account, 0) - exact) >= CENT or got.get(account, 0) % CENT:
            yield f"{id} gives {account} {got.get(account, 0)}, and it is {exact}"


def released_once_or_refunded(kept: Kept) -> Iterator[str]:
    """What was paid is sold once, or the money goes back; what was not paid is not sold."""
    payments = {payment["call_id"]: (id, payment["state"]) for id, payment, _ in kept.payments}
    for call_id, state in kept.calls.items():
        id, paid = payments.get(call_id, ("", ""))
        times = kept.sold.get(call_id, 0)
        is_back = id in kept.refunds or paid in REFUNDED
        by_hand = id in kept.given_back
        if times > 1:
            yield f"{call_id} was sold {times} times"
        if times and not id:
            yield f"{call_id} was sold, and not paid"
        if id and state == "waiting_payment":
            yield f"{call_id} waits to be paid, and {id} has paid it"
        if state == "succeeded" and (not times or not id or (is_back and not by_hand)):
            yield f"{call_id} is done, was sold {times} times, and its payment {id} is {paid}"
        if state in {"failed", "expired"} and ((id and not is_back) or times):
            yield f"{call_id} is {state}, was sold {times} times, and its payment {id} is {paid}"
        if state == "unknown" and is_back and not by_hand:
            yield f"nobody knows what came of {call_id}, and {id} went back"


INVARIANTS: Mapping[str, Callable[[Kept], Iterable[str]]] = MappingProxyType(
    {
        rule.__name__.replace("_", " "): rule
        for rule in (
            no_money_made_or_lost,
            no_negative_balance,
            no_quote_paid_twice,
            nothing_booked_twice,
            nothing_late,
            shares_sum_exactly,
            released_once_or_refunded,
        )
    }
)
"""All of them, by their names."""


def broken(kept: Kept) -> Sequence[str]:
    """Whatever does not hold, each with the name of the invariant."""
    return [f"{name}: {why}" for name, rule in INVARIANTS.items() for why in rule(kept)]


def told(kept: Kept) -> Mapping[str, int]:
    """What has come of it all: how much of each there is."""
    outcomes = Counter(f"booked: {entry['kind']}" for _, entry in kept.of("entry"))
    for _, entry in kept.of("entry"):
        gives = any(account.startswith("affiliate:") for account in legs_of(entry))
        outcomes[f"booked: {entry['kind']} with affiliates"] += gives
    for _, quote in kept.of("quote"):
        state = quote.get("state", "open")
        is_over = state == "open" and quote["expires_at"] <= kept.now
        outcomes[f"quotes: {'expired' if is_over else state}"] += 1
        outcomes["quotes: passed on by two or more"] += len(quote.get("wrappers", ())) > 1
    outcomes.update(f"payments: {payment['state']}" for _, payment in kept.of("payment"))
    for transaction, back in kept.of("returned"):
        paid = sum(max(n, 0) for n in legs_of(kept.records[f"entry:{transaction}"]).values())
        outcomes["payments: returned in part"] += 0 < back.get("count", 0) < paid
    for kind in ("channel", "hold"):
        for _, purse in kept.of(kind):
            outcomes[f"{kind}s: {'open' if purse.get('is_open', True) else 'closed'}"] += 1
            outcomes[f"{kind}s: captured twice or more"] += purse.get("captures", 0) > 1
    outcomes.update(f"calls: {state}" for state in kept.calls.values())
    return +outcomes
