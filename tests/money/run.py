"""Money in every order, for as many steps as one likes: made up, raced, repeated and cut short.

    python -m tests.money.run [--steps 100000] [--seed 1]

A real desk sells in this process, over a store in a temporary folder. Quotes are asked for, passed
on, paid from accounts, channels and codes, declined, and expire; purses are drawn from, captured
and closed; payments are given back; several at once, again and again, by another process, and cut
short at any commit. After each step all that stands on disk is examined. Where something does not
hold, the shortest history that shows it is printed, and the end is 1.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
from collections import Counter

import structlog
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.money.checks.invariants import INVARIANTS
from tests.money.market.history import COUNTS, FAULTS, OUTCOMES
from tests.money.states import MarketStates

RULES = 200
"""How many rules a history has: each makes one step, or some in order or at once."""
HISTORIES = 8
"""How many are made before progress is printed."""


def make_histories(count: int, rules: int, number: int) -> None:
    """Make so many histories, which follow from a number alone.

    Raises:
        whatever the shortest history raises that shows something wrong.
    """
    chosen = settings(
        max_examples=count,
        report_multiple_bugs=False,
        stateful_step_count=rules,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    machine = seed(number)(type("MarketStates", (MarketStates,), {}))
    run_state_machine_as_test(machine, settings=chosen)


def listed(counted: Counter[str]) -> str:
    """What was counted, of the most first."""
    return ", ".join(f"{name} {count:,}" for name, count in counted.most_common())


def main() -> int:
    """Make steps until there are enough; 1 where something did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.money.run", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logger = structlog.make_filtering_bound_logger(logging.CRITICAL)
    structlog.configure(wrapper_class=logger, cache_logger_on_first_use=False)
    began, number = time.monotonic(), given.seed * 1_000_000
    while COUNTS.total() < given.steps:
        try:
            make_histories(HISTORIES, RULES, number)
        except Exception:  # noqa: BLE001 -- whatever it is, it is a finding
            traceback.print_exc()
            print(f"It does not hold, with histories of seed {number}.")
            return 1
        number += 1
        seconds = time.monotonic() - began
        told = f"{COUNTS.total():,} steps in {seconds:.0f} s; {listed(FAULTS)}"
        print(told, flush=True)
    for counted in (COUNTS, FAULTS, OUTCOMES):
        print(listed(counted))
    for name in INVARIANTS:
        print(f"{name}: held after each step")
    return 0


if __name__ == "__main__":
    sys.exit(main())
