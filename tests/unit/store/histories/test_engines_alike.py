"""Histories of all units of work leave the same rows on SQLite and on PostgreSQL.

Every unit and every read of a history is run on both; what they return is compared each time, types
included, and all rows of all tables in the end. One history is written down and has every unit, the
others are random.
"""

from __future__ import annotations

import asyncio
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.store import units
from aitp_desk.store.base import Store
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.engine.sqlite import SqliteStore
from tests.support.desk.first_start import begin_database
from tests.support.store.participants import make_keys
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_copy import copy_rows
from tests.support.store.twin_store import TwinStore, compare_rows
from tests.unit.store.histories.catalogue import EVERY_UNIT, STEPS, live
from tests.unit.store.histories.history import Draw, History

pytestmark = pytest.mark.servers

TEXTS = st.text(
    st.one_of(
        st.sampled_from("aAbBzZ \"'\\%_ßİı𝄞\n\u2028-'~"),
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("\0\uffff01"),
    ),
    max_size=40,
)
KEYS = st.sampled_from(["a", "A", "a_", "a%", "b", "é", "z", "Z", "~"])
NUMBERS = st.integers(-(2**62), 2**62)
DRAWS = st.builds(Draw, st.integers(0, 9), TEXTS, KEYS, NUMBERS)
HISTORIES = st.lists(st.tuples(st.sampled_from(list(STEPS)), DRAWS), min_size=5, max_size=40)


def every_unit() -> set[Callable[..., Any]]:
    """All units of work: all of their arguments are passed by name."""
    found = set()
    for module in pkgutil.walk_packages(units.__path__, f"{units.__name__}."):
        for name, one in vars(import_module(module.name)).items():
            if not inspect.isgeneratorfunction(one) or one.__module__ != module.name:
                continue
            kinds = {given.kind for given in inspect.signature(one).parameters.values()}
            if not name.startswith("_") and kinds <= {inspect.Parameter.KEYWORD_ONLY}:
                found.add(one)
    return found


async def closed(context: AbstractAsyncContextManager[Store]) -> None:
    await context.__aexit__(None, None, None)


@contextmanager
def opened_twin(
    runner: asyncio.Runner, server: PostgresServer, folder: Path
) -> Iterator[TwinStore]:
    path, copy = folder / "one.db", folder / "other.db"
    begin_database(path)
    url = runner.run(server.begin())
    with ExitStack() as stack:
        stores: list[Store] = []
        opening: tuple[AbstractAsyncContextManager[Store], ...] = (
            SqliteStore.open(path, synchronous="normal"),
            PostgresStore.open(url, {}),
        )
        for context in opening:
            stores.append(runner.run(context.__aenter__()))
            stack.callback(runner.run, closed(context))
        yield TwinStore(*stores)
    runner.run(copy_rows(url, copy))
    compare_rows(path, copy)


def test_a_history_of_every_unit_leaves_the_same_rows(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with asyncio.Runner() as runner, opened_twin(runner, postgres, tmp_path) as twin:
        runner.run(make_keys(twin))
        runner.run(live(History(twin), EVERY_UNIT))
        missed = sorted(one.__name__ for one in every_unit() - twin.done)
    assert missed == []


def test_random_histories_leave_the_same_rows(postgres: PostgresServer, tmp_path: Path) -> None:
    with asyncio.Runner() as runner, opened_twin(runner, postgres, tmp_path) as twin:
        runner.run(make_keys(twin))

        @settings(database=None)
        @given(HISTORIES)
        def holds(steps: list[tuple[str, Draw]]) -> None:
            runner.run(live(History(twin), steps))

        holds()
