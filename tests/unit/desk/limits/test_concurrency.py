"""So many at once, the others in a queue: callers come, wait, leave and are called."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.config import Concurrency as Settings
from aitp_desk.config import Tier
from aitp_desk.desk.limits.concurrency import RETRY_SECONDS, ConcurrencyLimiter, ConcurrencySlot
from aitp_desk.desk.limits.tiers import Tiers
from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.errors import Unavailable


def concurrency(
    at_once: int = 2, per_caller: int = 2, waiting: int = 2, *, tiers: Sequence[Tier] = ()
) -> ConcurrencyLimiter:
    settings = Settings(at_once=at_once, at_once_per_caller=per_caller, waiting=waiting)
    return ConcurrencyLimiter(settings, Tiers(tiers))


class Crowd:
    """Requests of callers with names of a letter.

    Attributes:
        inside: the places that are taken, by the requests' names.
        refused: why requests were turned away, by their names.
    """

    def __init__(self, doing: ConcurrencyLimiter) -> None:
        self._doing = doing
        self._gone: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.inside: dict[str, ConcurrencySlot] = {}
        self.refused: dict[str, Unavailable] = {}

    async def come(self, *names: str) -> None:
        """Requests come, each of the caller of its first letter."""
        for name in names:
            self._tasks[name] = asyncio.create_task(self._enter(name))
            await asyncio.sleep(0)

    async def leave(self, *names: str) -> None:
        for name in names:
            self.inside.pop(name).release()
        await settle()

    async def go_away(self, *names: str) -> None:
        self._gone.update(names)
        await settle()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])

    async def _enter(self, name: str) -> None:
        caller = make_anonymous(name[0])
        place = self._doing.try_acquire(caller)
        try:
            self.inside[name] = place or await self._doing.wait(caller, lambda: name in self._gone)
        except Unavailable as refusal:
            self.refused[name] = refusal


async def settle() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


async def test_who_finds_no_place_waits_and_goes_on_in_order() -> None:
    crowd = Crowd(concurrency())
    await crowd.come("a1", "b1", "c1", "d1")
    assert list(crowd.inside) == ["a1", "b1"]
    await crowd.leave("b1")
    assert list(crowd.inside) == ["a1", "c1"]
    await crowd.come("e1", "f1")
    assert crowd.refused["f1"].retry_after == RETRY_SECONDS
    await crowd.leave("a1", "c1")
    assert list(crowd.inside) == ["d1", "e1"]


async def test_nobody_waits_behind_a_caller_whose_places_are_taken() -> None:
    crowd = Crowd(concurrency(at_once=3, per_caller=2, waiting=9))
    await crowd.come("a1", "a2", "a3", "a4", "b1")
    assert list(crowd.inside) == ["a1", "a2", "b1"]
    await crowd.come("c1")
    await crowd.leave("b1")
    assert list(crowd.inside) == ["a1", "a2", "c1"]
    await crowd.leave("a2")
    assert list(crowd.inside) == ["a1", "c1", "a3"]


async def test_one_caller_does_not_fill_the_queue() -> None:
    crowd = Crowd(concurrency(at_once=9, per_caller=1, waiting=4))
    await crowd.come("a1", "a2", "a3", "b1", "b2")
    assert list(crowd.inside) == ["a1", "b1"]
    assert list(crowd.refused) == ["a3"]


async def test_a_place_in_the_queue_is_given_up_by_who_goes_away() -> None:
    crowd = Crowd(concurrency(at_once=1, per_caller=1, waiting=2))
    await crowd.come("a1", "b1", "c1")
    await crowd.go_away("b1")
    # the queue looks full and is not
    await crowd.come("d1")
    await settle()
    assert list(crowd.refused) == ["b1"]
    await crowd.go_away("c1")
    await crowd.leave("a1")
    assert list(crowd.inside) == ["d1"]
    assert list(crowd.refused) == ["b1", "c1"]


async def test_a_place_that_was_given_to_a_cancelled_request_is_free_again() -> None:
    crowd = Crowd(concurrency(at_once=1, waiting=3))
    await crowd.come("a1", "b1", "c1", "d1")
    await crowd.cancel("c1")
    crowd.inside.pop("a1").release()  # b1 has the place now, and has not learnt of it
    await crowd.cancel("b1")
    await settle()
    assert list(crowd.inside) == ["d1"]


@pytest.mark.slow
async def test_who_waits_too_long_is_turned_away_and_nobody_is_called_in_its_place() -> None:
    doing = ConcurrencyLimiter(Settings(at_once=1, wait_seconds=1), Tiers())
    place = doing.try_acquire(make_anonymous("a"))
    assert place is not None
    with pytest.raises(Unavailable, match=r"has waited 1 second\.") as refused:
        await doing.wait(make_anonymous("b"), lambda: False)
    assert refused.value.retry_after == RETRY_SECONDS
    place.release()
    place.release()  # more than once does no harm
    assert doing.try_acquire(make_anonymous("c")) is not None
    assert doing.try_acquire(make_anonymous("d")) is None


async def test_a_caller_of_a_tier_has_as_many_places_as_the_tier() -> None:
    tier = Tier(name="t", principals=("key:much",), at_once=3)
    doing = concurrency(at_once=9, per_caller=1, tiers=(tier,))
    much, other = (
        Principal(f"key:{name}", PrincipalKind.AGENT, frozenset(), "a") for name in ("much", "one")
    )
    assert [doing.try_acquire(much) is not None for _ in range(4)] == [True, True, True, False]
    assert [doing.try_acquire(other) is not None for _ in range(2)] == [True, False]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=40))
def test_no_place_is_lost_and_none_is_given_twice(steps: list[tuple[str, int]]) -> None:
    """Against an account by hand: as callers come and leave."""

    async def play() -> None:
        crowd = Crowd(concurrency(at_once=4, per_caller=2, waiting=5))
        queue: deque[str] = deque()
        inside: list[str] = []

        def has_room(name: str) -> bool:
            return len(inside) < 4 and sum(one[0] == name[0] for one in inside) < 2

        for number, (caller, leaver) in enumerate(steps):
            if leaver < 5 and leaver < len(inside):
                left = inside.pop(leaver)
                called = next(filter(has_room, queue), None)
                if called is not None:
                    queue.remove(called)
                    inside.append(called)
                await crowd.leave(left)
            else:
                name = f"{caller}{number}"
                if has_room(name):
                    inside.append(name)
                elif len(queue) < 5 and Counter(one[0] for one in queue)[caller] < 2:
                    queue.append(name)
                await crowd.come(name)
            await settle()
            assert sorted(crowd.inside) == sorted(inside)
        for name in queue:
            await crowd.cancel(name)

    asyncio.run(play())
