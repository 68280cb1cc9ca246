"""Two processes pay one quote at the same instant, again and again: one pays it, always.

    python -m tests.money.race --quotes 100 [--seed 1]

A real desk sells, in a separate process. Two further processes wait for each other before each
quote, and then both pay it: from two channels, from a channel and the account, as the owner of the
account and by a code, by the very same payment, by the call itself. Then everything is examined as
after :mod:`tests.money.kill`.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.money.checks.promises import examine, examine_thread
from tests.money.market.messages import CODE, by_account, by_approval, by_channel
from tests.money.market.payers import Payers, Purchase, Sent, called, posted
from tests.money.market.process import Shop, shop

SECONDS = 120
Pair = tuple[Sent, Sent]


class Answer(msgspec.Struct, frozen=True):
    """What one of the processes was answered.

    Parameters:
        began, ended: seconds of the machine's clock, which all processes share.
        held_off: how often it was told to come again later.
    """

    status: int
    body: Any
    began: float
    ended: float
    held_off: int


class Race(msgspec.Struct, frozen=True):
    """What came of all quotes.

    Parameters:
        overlapping: of how many quotes both payments were under way at once.
        answers: how payments were answered, by kinds of pairs.
        problems: whatever did not hold.
    """

    quotes: int
    overlapping: int
    held_off: int
    answers: Mapping[str, int]
    problems: tuple[str, ...]


def _channels(purchase: Purchase) -> Pair:
    first, second = (by_channel(purchase.offer, f"ch_{n}", number=n) for n in range(2))
    return posted("payment", first), posted("payment", second)


def _channel_and_account(purchase: Purchase) -> Pair:
    first = by_channel(purchase.offer, "ch_0", number=0)
    return posted("payment", first), posted("payment", by_account(purchase.offer, number=0))


def _owner_and_code(purchase: Purchase) -> Pair:
    owner, code = by_approval(purchase.offer), by_approval(purchase.offer, code=CODE)
    return posted("payment", owner), posted("payment", code)


def _owner_twice(purchase: Purchase) -> Pair:
    owner = by_approval(purchase.offer)
    return posted("payment", owner), posted("payment", owner)


def _same_payment(purchase: Purchase) -> Pair:
    letter = by_channel(purchase.offer, "ch_0", number=0)
    return posted("payment", letter), posted("payment", letter)


def _calls(purchase: Purchase) -> Pair:
    first, second = (by_channel(purchase.offer, f"ch_{n}", number=n) for n in range(2))
    return called(purchase, first), called(purchase, second)


def _call_and_message(purchase: Purchase) -> Pair:
    letter = by_channel(purchase.offer, "ch_0", number=0)
    return called(purchase, letter), posted("payment", by_account(purchase.offer, number=0))


PAIRS: Mapping[str, Callable[[Purchase], Pair]] = MappingProxyType(
    {
        "two channels": _channels,
        "channel and account": _channel_and_account,
        "owner and code": _owner_and_code,
        "owner twice": _owner_twice,
        "same payment": _same_payment,
        "two calls": _calls,
        "call and message": _call_and_message,
    }
)
"""How a quote is paid twice."""
SAME = frozenset({"owner twice", "same payment"})
"""Where both say the same, so that both are told that it is paid."""


async def race(folder: Path, *, quotes: int, seed: int) -> Race:
    """Have quotes paid twice at once.

    Parameters:
        folder: empty; everything is written there.
    """
    async with shop(folder) as desk:
        payers = Payers(random.Random(seed), desk.credentials)
        bought = await payers.quote(desk.url, quotes)
        kinds = [list(PAIRS)[number % len(PAIRS)] for number in range(quotes)]
        for purchase, kind in zip(bought, kinds, strict=True):
            purchase.sent += PAIRS[kind](purchase)
        told = await asyncio.to_thread(_race, desk, bought)
        await desk.idle()
        kept = await desk.kept(set(), payers.added)
        problems = [*await desk.verified(), *examine(kept, payers)]
        answers = Counter[str]()
        for purchase, kind in zip(bought, kinds, strict=True):
            said = await payers.said(desk.url, purchase)
            problems += examine_thread(purchase, said)
            results = _results(said)
            answers[f"{kind}: {' and '.join(results)}"] += 1
            messages = [one for one in purchase.sent if one.kind == "payment"]
            wanted = ["success", "success" if kind in SAME else "failure"]
            if len(messages) == 2 and results[:2] != wanted:
                problems.append(f"{purchase.quote_id}, {kind}: {results}")
    return Race(
        quotes=quotes,
        overlapping=sum(max(a.began, b.began) < min(a.ended, b.ended) for a, b in told),
        held_off=sum(one.held_off for both in told for one in both),
        answers=answers,
        problems=tuple(problems),
    )


def _race(desk: Shop, bought: Sequence[Purchase]) -> list[tuple[Answer, Answer]]:
    """Have two processes send what they have, and note what they were answered."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2, timeout=SECONDS)
    started = []
    for side in range(2):
        here, there = context.Pipe()
        sent = [(one.sent[side].path, json.dumps(one.sent[side].body)) for one in bought]
        told = (desk.url, desk.credentials, sent, barrier, there)
        process = context.Process(target=_load, args=told, daemon=True)
        process.start()
        there.close()
        started.append((process, here))
    sides = [msgspec.json.decode(here.recv_bytes(), type=list[Answer]) for _, here in started]
    for process, here in started:
        process.join(SECONDS)
        here.close()
    both = list(zip(*sides, strict=True))
    for purchase, answers in zip(bought, both, strict=True):
        for one, answer in zip(purchase.sent, answers, strict=True):
            is_message = one.kind == "payment" and answer.status == 200
            one.answer = answer.body["id"] if is_message else f"{answer.status} {answer.body}"
    return [(first, second) for first, second in both]


def _load(
    url: str,
    credentials: Mapping[str, str],
    sent: Sequence[tuple[str, str]],
    barrier: Barrier,
    there: Connection,
) -> None:
    """Be one of the processes: send each as soon as the other is ready to."""
    address = urlsplit(url)
    headers = {**credentials, "Content-Type": "application/json"}
    answers = []
    line = http.client.HTTPConnection(address.hostname or "", address.port or 0, timeout=SECONDS)
    with closing(line):
        for path, body in sent:
            barrier.wait()
            began, held_off = time.monotonic(), 0
            while True:
                line.request("POST", path, body, headers)
                answer = line.getresponse()
                told = json.loads(answer.read())
                if answer.headers.get("Retry-After") is None:
                    break
                held_off += 1
            answers.append(Answer(answer.status, told, began, time.monotonic(), held_off))
    there.send_bytes(msgspec.json.encode(answers))
    there.close()


def _results(said: Sequence[tuple[str, str]]) -> list[str]:
    """How the confirmations on a thread say that payments stand: what is paid first."""
    given = (json.loads(text) for _, text in said if text.startswith("{"))
    told = [one["payment_confirmation"]["result"] for one in given if "payment_confirmation" in one]
    return sorted(told, reverse=True)


async def report(quotes: int, seed: int) -> bool:
    """Print what came of it; return whether everything held."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aitp-desk-at-once-") as folder:
        found = await race(Path(folder), quotes=quotes, seed=seed)
    print(*sorted(f"{name} {count}" for name, count in found.answers.items()), sep="\n")
    print(*(found.problems or ["all holds"]), sep="\n")
    print(
        f"{found.quotes} quotes paid by two processes in {time.monotonic() - began:.0f} s,"
        f" {found.overlapping} of them at once, {found.held_off} told to come again"
    )
    return not found.problems


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.money.race")
    parser.add_argument("--quotes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(0 if asyncio.run(report(given.quotes, given.seed)) else 1)
