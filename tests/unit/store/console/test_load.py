"""What operators see of the load, and when what they look at has changed."""

from __future__ import annotations

from typing import Any

import pytest

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store
from tests.support.store.console_site import BY, Site
from tests.support.store.messages import HOUR, NOW


class TestLoad:
    async def test_an_hour_tells_what_happened_within_it(self, site: Site, narrow: None) -> None:
        begun = NOW - NOW % HOUR + HOUR
        site.now = float(begun)
        thread = await site.thread("One?", "Two?")
        await site.post(thread, "Both.", by_desk=True)
        for _ in range(3):
            await site.folded()
        ids = [await site.ticket() for _ in range(3)]
        for id_, seconds in zip(ids, (10, 60, 300), strict=True):
            made = site.now
            site.now += seconds
            await site.ends.close(id_, "", "anna", BY)
            site.now = made
        site.now = float(begun + HOUR + 1)
        await site.thread("In the next?")
        await site.ticket()
        before, hour, present = await site.sees.read_load(3)
        assert (before.at, before.messages, before.waited_seconds) == (begun - HOUR, 0, None)
        assert (hour.at, hour.messages, hour.visitors_messages) == (begun, 9, 5)
        assert (hour.tickets, hour.ended) == (3, 3)
        waited = sorted(int(row[0]) for row in await _waited(site.store, begun))
        assert hour.waited_seconds == waited[1]
        assert (present.messages, present.visitors_messages, present.tickets) == (1, 1, 1)

    async def test_an_hour_that_is_over_is_counted_once(self, site: Site) -> None:
        site.now = float(NOW - NOW % HOUR + HOUR)
        await site.folded()
        site.now += HOUR + 90
        counted = await site.sees.read_load(2)
        asked: list[str] = []
        read = site.store.read

        async def note(statement: str, params: Any) -> Any:
            asked.append(statement)
            return await read(statement, params)

        site.store.read = note  # type: ignore[method-assign]
        await site.thread("Now?")
        after = await site.sees.read_load(2)
        assert after[0] == counted[0]
        assert after[1].messages == counted[1].messages + 1
        assert asked.count("count_said_between") == 1

    async def test_other_hours_than_there_are_are_refused(self, site: Site) -> None:
        for hours in (0, 169):
            with pytest.raises(InvalidRequest, match="from 1 to 168"):
                await site.sees.read_load(hours)


async def test_the_version_grows_with_what_operators_do(site: Site) -> None:
    thread = await site.thread("Hello?")
    ticket = await site.ticket()
    known = await site.sees.read_version()
    for change in (
        site.steps.take_thread(thread, "anna", BY),
        site.steps.note(thread, "Look.", "anna", BY),
        site.steps.release_thread(thread, BY),
        site.ends.take_ticket(ticket, "anna", BY),
        site.ends.close(ticket, "", "anna", BY),
        site.ticket(),
    ):
        await change
        now = await site.sees.read_version()
        assert now > known
        known = now


async def _waited(store: Store, at: int) -> list[Any]:
    return await store.read("tickets_waited", {"since": at, "before": at + HOUR, "limit": 9})
