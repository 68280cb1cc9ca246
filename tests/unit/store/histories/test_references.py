"""A history of all units of work leaves no row that refers to a missing one."""

from __future__ import annotations

import pytest

from aitp_desk.store.base import Store
from tests.support.store.participants import make_keys
from tests.unit.store.conftest import Rows
from tests.unit.store.histories.catalogue import EVERY_UNIT, live
from tests.unit.store.histories.history import History


@pytest.mark.slow
async def test_a_history_of_every_unit_leaves_whole_references(store: Store, rows: Rows) -> None:
    await make_keys(store)
    await live(History(store), EVERY_UNIT)
    ((said,),) = await rows("SELECT count(*) FROM transport_conversations")
    assert said
    # the fixture checks the database in the end
