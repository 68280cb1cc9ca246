"""Make a random history of who may see what, and walk all addresses after its steps.

    python -m tests.access_walk [--steps 5000] [--seed 1]

A desk serves in this process, over a store in a temporary folder. Callers with keys, operators,
holders of links and anonymous visitors open threads, speak, call, pay, upload, fork, share, take
back, join, leave, claim, and have their keys rotated or revoked. Everything that is said carries a
marker. After each step everybody asks again for what they know of. Where a caller is sent a marker
that they may not see, the steps that led there are printed, and the end is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time

import structlog

from tests.access_walk.history import make_history


def main() -> int:
    """Make a history; 1 where something leaked."""
    parser = argparse.ArgumentParser(prog="python -m tests.access_walk", description=__doc__)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--complete-every", type=int, default=250)
    parser.add_argument("--stops-at", type=int, default=20)
    parser.add_argument("--refusals", action="store_true", help="print steps that were refused")
    given = parser.parse_args()
    logger = structlog.make_filtering_bound_logger(logging.CRITICAL)
    structlog.configure(wrapper_class=logger, cache_logger_on_first_use=False)
    began = time.monotonic()
    told = asyncio.run(
        make_history(
            given.steps,
            given.seed,
            complete_every=given.complete_every,
            stops_at=given.stops_at,
        )
    )
    print(
        f"{told.steps:,} steps, {told.requests:,} requests, {told.pushes:,} pushes,"
        f" {told.threads:,} threads, {told.markers:,} markers, {len(told.leaks):,} leaks,"
        f" {time.monotonic() - began:.0f} s"
    )
    for name, count in sorted(told.counts.items()):
        print(f"  {name}: {count:,}")
    if given.refusals:
        for step, what, status, body in told.refusals[:40]:
            print(step, what, status, body.decode(errors="replace"))
    for address in sorted(told.unwalked):
        print(f"not walked: {address}")
    for leak in told.leaks:
        print(f"\nstep {leak.step}: {leak.who} was sent {leak.what}\n  by {leak.asked}")
        for line in told.shrunk(leak):
            print(f"    {line}")
    return 1 if told.leaks or told.unwalked else 0


if __name__ == "__main__":
    sys.exit(main())
