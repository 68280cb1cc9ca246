"""Writes the named statements of ``queries/`` as asyncpg takes them, once.

A parameter ``:name`` becomes ``$1``, ``$2`` … in the order in which the names first occur. Each
statement exists in two forms: as it is, and as a *numbered* one, whose rows begin with a number
that its caller gave. Many numbered statements of one name go to the server in one round trip, and
the number tells whose rows are whose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.store.base import Params
from aitp_desk.store.engine.postgres.texts import encode_values
from aitp_desk.store.engine.statements import load_statements

_PARAMETER = re.compile(r"'(?:[^']|'')*'|::|:([a-z_]+)")
_READS = re.compile(r"\A(?:SELECT|WITH)\b")
_RETURNS = re.compile(r"\bRETURNING\b")
_WRITES = re.compile(r"\b(?:cut|drop)_[a-z_]+\(")
"""A call of a function of the schema that changes something."""


class Statement(msgspec.Struct, frozen=True):
    """A statement with positional parameters.

    Parameters:
        names: the parameters, in their order.
        numbered: the statement with one more parameter, which is the first column of its rows;
            None for a statement without rows.
        writes: whether it may change something.
    """

    name: str
    sql: str
    names: tuple[str, ...]
    numbered: str | None
    writes: bool

    def arguments(self, params: Params) -> tuple[Any, ...]:
        """Return the values of the parameters, in their order, as the database takes them.

        Raises:
            KeyError: one is missing.
        """
        return encode_values([params[name] for name in self.names])


@cache
def load_postgres_statements() -> Mapping[str, Statement]:
    """Return the statements by their names."""
    return MappingProxyType(
        {name: translate(name, sql) for name, sql in load_statements("postgres").items()}
    )


def translate(name: str, sql: str) -> Statement:
    """Return a statement with positional parameters."""
    names: dict[str, int] = {}

    def position(found: re.Match[str]) -> str:
        if found[1] is None:  # a text or a cast
            return found[0]
        return f"${names.setdefault(found[1], len(names) + 1)}"

    translated = _PARAMETER.sub(position, sql)
    reads = _READS.match(sql) is not None
    number = f"${len(names) + 1}::bigint"
    numbered = None
    if reads:
        numbered = f"SELECT {number}, found.* FROM ({translated}) AS found"  # noqa: S608 -- ours
    elif _RETURNS.search(sql):
        numbered = f"WITH found AS ({translated}) SELECT {number}, found.* FROM found"  # noqa: S608
    writes = not reads or _WRITES.search(sql) is not None
    return Statement(name, translated, tuple(names), numbered, writes=writes)
