"""Nobody is sent what they may not see, in random histories of who may."""

from __future__ import annotations

import pytest

from tests.access_walk.history import Told, make_history


async def walk(steps: int, seed: int) -> Told:
    """Make a history; what leaked in it fails the test with the steps that led there."""
    told = await make_history(steps, seed, complete_every=steps, stops_at=1)
    assert told.unwalked == set()
    for leak in told.leaks:
        steps_before = "\n".join(told.shrunk(leak))
        pytest.fail(f"{leak.who} was sent {leak.what} by {leak.asked}:\n{steps_before}")
    return told


async def test_nobody_is_sent_what_they_may_not_see() -> None:
    told = await walk(25, seed=1)
    assert told.counts["2xx"] > told.steps


@pytest.mark.servers
@pytest.mark.parametrize("seed", [2, 3])
async def test_nobody_is_sent_what_they_may_not_see_in_longer_histories(seed: int) -> None:
    told = await walk(400, seed)
    assert told.pushes > 0
