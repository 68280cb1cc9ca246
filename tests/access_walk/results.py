"""What the actions of a history's site have done, by their own record.

A response is no source of that: an id in it may look like a marker.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aitp_desk.capability import Asking
from tests.support.payments.till_plugin import Till

LEDGER = "results.txt"
"""The file next to the actions in which they record each result, as a line of JSON."""
ACTIONS = f'''
"""Actions whose results tell what they were called with, and something that only they know."""

import json
from pathlib import Path

from aitp_desk.actions import Context, action

LEDGER = Path(__file__).with_name("{LEDGER}")


def result(note: str, context: Context) -> str:
    marker = f"mr{{context.call_id[-12:]}}q"
    with LEDGER.open("a") as file:
        file.write(json.dumps([context.call_id, note, marker]) + "\\n")
    return f"{{note}} {{marker}}"


@action(open_to="anyone")
def tell(note: str, context: Context) -> str:
    """Tells a note.

    Args:
        note: what it says.
    """
    return result(note, context)


@action(kind="async", mutability="reversible", blast_radius="self")
def work(note: str, context: Context) -> str:
    """Works on a note.

    Args:
        note: what it says.
    """
    return result(note, context)


@action(open_to="anyone", cost="5.00 EUR", prepaid=True)
def buy(note: str, context: Context) -> str:
    """Sells a note.

    Args:
        note: what it says.
    """
    return result(note, context)
'''


class QuotingTill(Till):
    """Takes payments, and records for which call each quote is.

    Attributes:
        quoted: ids of calls, by those of quotes.
    """

    def __init__(self, chosen: Any) -> None:
        super().__init__(chosen)
        self.quoted: dict[str, str] = {}

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        """Record the quote, and phrase it."""
        self.quoted[asking.id] = asking.call_id or ""
        return super().phrase(asking)


@dataclass(frozen=True)
class Result:
    """What an action returned once.

    Parameters:
        note: what it was called with.
        quotes: ids of the quotes that its call could be paid by.
    """

    call_id: str
    note: str
    marker: str
    quotes: frozenset[str]


class Results:
    """Reads what the actions have recorded.

    Parameters:
        site: the folder of the actions.
        till: where calls of the same site are paid.
    """

    def __init__(self, site: Path, till: QuotingTill) -> None:
        self._ledger = site / LEDGER
        self._ledger.touch()
        self._till = till
        self._size = 0

    def read(self) -> list[Result]:
        """Return the results since this was last called."""
        if self._ledger.stat().st_size == self._size:
            return []
        with self._ledger.open("rb") as file:
            file.seek(self._size)
            lines = file.readlines()
        self._size += sum(map(len, lines))
        return [self._parse(line) for line in lines]

    def _parse(self, line: bytes) -> Result:
        call_id, note, marker = json.loads(line)
        quotes = frozenset(
            quote for quote, quoted in self._till.quoted.items() if quoted == call_id
        )
        return Result(call_id, note, marker, quotes)
