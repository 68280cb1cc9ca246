"""Drives units side by side: many units, few round trips.

The units of a group are sorted into waves. No two units of a wave touch the same thread, key or
other thing (``engine/unit.py``), and a unit is in a later wave than every earlier one with which it
shares something; so each thread's units take effect in their order. A unit that may touch anything
is alone in its wave, after all before it and before all after it.

All units of a wave go on by one statement at a time. Statements of one name go to the server
together, in one round trip, each with the number of its unit, which is the first column of its
rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from asyncpg import Connection

from aitp_desk.store.base import Params, ParamSets, Row
from aitp_desk.store.engine.postgres.statements import Statement
from aitp_desk.store.engine.postgres.texts import decode_row
from aitp_desk.store.engine.unit import Unit, list_touched_keys, one_statement


def sort_into_waves(units: Sequence[Unit]) -> list[list[Unit]]:
    """Return the waves of a group, each with its units in their order."""
    waves: list[list[Unit]] = []
    newest: dict[tuple[str, ...], int] = {}
    """The last wave in which each thing is touched."""
    first = 0
    """The first wave after the last unit that may touch anything."""
    for unit in units:
        touched = list_touched_keys(unit)
        if touched is None:
            place = len(waves)
            first = place + 1
        else:
            place = max([first, *(newest[key] + 1 for key in touched if key in newest)])
            newest.update(dict.fromkeys(touched, place))
        if place == len(waves):
            waves.append([])
        waves[place].append(unit)
    return waves


async def drive_wave(
    connection: Connection, statements: Mapping[str, Statement], units: Sequence[Unit]
) -> None:
    """Drive units to their ends. An error is raised only if the transaction is spoiled."""
    single: dict[str, list[Unit]] = {}
    steps: list[_Step] = []
    for unit in units:
        if (only := one_statement(unit.work)) is None:
            steps.append(_Step(unit))
        else:
            single.setdefault(only, []).append(unit)
    for name, those in single.items():
        await _execute_single(connection, statements[name], those)
    while steps := [step for step in steps if step.request is not None]:
        together: dict[str, list[_Step]] = {}
        for step in steps:
            if step.request is not None:
                together.setdefault(step.request[0], []).append(step)
        for name, equal in together.items():
            statement = statements.get(name)
            if statement is None:
                for step in equal:
                    step.fail(KeyError(name))
            else:
                await _execute(connection, statement, equal)


async def _execute_single(
    connection: Connection, statement: Statement, units: Sequence[Unit]
) -> None:
    """Execute the only statement of units that have no rows."""
    await connection.executemany(
        statement.sql, [statement.arguments(unit.kwargs) for unit in units]
    )
    for unit in units:
        unit.error = None


async def _execute(connection: Connection, statement: Statement, steps: Sequence[_Step]) -> None:
    """Execute one statement of each unit, and give each its rows."""
    given = [
        (number, statement.arguments(params))
        for number, step in enumerate(steps)
        for params in step.param_sets
    ]
    dealt: list[list[Row]] = [[] for _ in steps]
    if len(given) == 1:
        number, arguments = given[0]
        found = await connection.fetch(statement.sql, *arguments)
        dealt[number] = [decode_row(row) for row in found]
    elif statement.numbered is None:
        await connection.executemany(statement.sql, [arguments for _, arguments in given])
    elif given:
        numbered = [(*arguments, number) for number, arguments in given]
        for row in await connection.fetchmany(statement.numbered, numbered):
            dealt[row[0]].append(decode_row(row[1:]))
    for step, rows in zip(steps, dealt, strict=True):
        step.has_written = step.has_written or statement.writes
        step.go_on(rows)


class _Step:
    """A unit between two of its statements.

    Attributes:
        request: the next statement and its parameters; None at the end.
        has_written: whether it may have changed something.
    """

    def __init__(self, unit: Unit) -> None:
        self.request: tuple[str, ParamSets] | None = None
        self.has_written = False
        self._unit = unit
        self._generator: Any = None
        unit.error = None
        self.go_on(None)

    @property
    def param_sets(self) -> Sequence[Params]:
        """The parameters with which the next statement runs, once for each."""
        if self.request is None:
            return ()
        params = self.request[1]
        return params if isinstance(params, tuple) else (params,)

    def go_on(self, rows: list[Row] | None) -> None:
        """Drive the unit to its next statement.

        Parameters:
            rows: those of the statement before; None at the start.
        """
        try:
            if rows is None:
                self._generator = self._unit.work(*self._unit.args, **self._unit.kwargs)
                self.request = next(self._generator)
            else:
                self.request = self._generator.send(rows)
        except StopIteration as done:
            self._unit.result = done.value
            self.request = None
        except Exception as error:  # noqa: BLE001 - its caller receives it
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """End the unit by an error; raise it if the unit has written."""
        if self.has_written:
            raise error
        self._unit.error = error
        self.request = None
