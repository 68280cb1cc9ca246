"""What a database and a book hold of calls, against what their callers were promised."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from tests.faults.checks.database import SOLD
from tests.faults.databases import open_database
from tests.faults.processes.callers import LONG, Calls

_ONCE = ("enter", "enter_later")
_MAY_BE_UNKNOWN = (*_ONCE, "ask_people")
_ENTERS = (*_ONCE, "enter_again")
_STATUS = {"succeeded": "success", "unknown": "failed"}
"""How a call that ended so is told."""
_CALLS = (
    "SELECT id, action, state, session_id, arguments ->> 'note', callback_url FROM calls"
    f" WHERE action NOT IN {SOLD}"
)
_TASKS = "SELECT task_id, call_id FROM task_turns"
_UNTOLD = "SELECT ref FROM jobs WHERE kind = 'callback' AND state IN ('queued', 'at_work')"


class CallFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        lost: calls, and tasks of calls, that were acknowledged and are not there as they were.
        done_twice: calls of what is not idempotent that were carried out more than once.
        called_twice: notes for which there is more than one call, though each was sent once.
        not_done: calls that are said to have succeeded and were not carried out.
        endless: calls that have not ended.
        misjudged: calls that ended as none of their action may.
        untold: calls that ended, whose caller was not told.
        told_otherwise: calls of whose end different things were told, or something else than is
            so.
        calls_refused: calls that were answered with an error.
    """

    lost: int = 0
    done_twice: int = 0
    called_twice: int = 0
    not_done: int = 0
    endless: int = 0
    misjudged: int = 0
    untold: int = 0
    told_otherwise: int = 0
    calls_refused: int = 0


class CallCounts(msgspec.Struct, frozen=True):
    """What there was.

    Parameters:
        acknowledged: calls whose success or acceptance was answered.
        unknown: calls that were cut short, of which nobody knows what became of them.
        entered_again: lines of idempotent calls past the first of each.
        told_again: tellings past the first of each call.
    """

    acknowledged: int
    unknown: int
    entered_again: int
    told_again: int


class _Call(msgspec.Struct, frozen=True):
    id: str
    action: str
    state: str
    session_id: str
    note: str
    callback_url: str | None


def examine_calls(database: Path, book: Path, calls: Calls) -> tuple[CallFindings, CallCounts]:
    """Count the faults of calls while their desk is idle."""
    with closing(open_database(database)) as connection:
        kept = [_Call(*row) for row in connection.execute(_CALLS)]
        tasks = set(connection.execute(_TASKS))
        waiting = {ref for (ref,) in connection.execute(_UNTOLD)}
    entries = [line.split() for line in book.read_text().splitlines()] if book.exists() else []
    lines = Counter((id_, note) for id_, note in entries)
    tasked = calls.tasks.items()
    by_note = {one.note: one for one in kept}
    nobody = _Call("", "", "", "", "", None)
    once = [one for one in kept if one.action in _ONCE]
    over = [one for one in kept if one.state != "started"]
    to_tell = [one for one in over if one.callback_url and one.id not in waiting]
    findings = CallFindings(
        lost=sum(
            (one := by_note.get(note, nobody)).id != id_ or one.state != "succeeded"
            for note, id_ in calls.done.items()
        )
        + sum(by_note.get(note, nobody).session_id != id_ for note, id_ in calls.accepted.items())
        + sum(by_note.get(note, nobody).id != id_ for note, id_ in calls.taken_on.items())
        + sum((id_, by_note.get(note, nobody).id) not in tasks for note, id_ in tasked),
        done_twice=sum(lines[one.id, one.note] > 1 for one in once),
        called_twice=len(kept) - len(by_note),
        not_done=sum(
            one.state == "succeeded" and one.action in _ENTERS and not lines[one.id, one.note]
            for one in kept
        )
        + len({id_ for id_, _ in lines} - {one.id for one in kept}),
        endless=len(kept) - len(over),
        misjudged=sum(
            one.state not in ("succeeded", "unknown")
            or (one.state == "unknown" and one.action not in _MAY_BE_UNKNOWN)
            for one in over
        ),
        untold=sum(not calls.told.get(one.id) for one in to_tell),
        told_otherwise=sum(_is_told_otherwise(one, calls) for one in over if one.action in LONG),
        calls_refused=calls.refused,
    )
    again = [one for one in kept if one.action == "enter_again"]
    return findings, CallCounts(
        len(calls.done | calls.accepted | calls.taken_on | calls.tasks),
        sum(one.state == "unknown" for one in kept),
        sum(max(0, lines[one.id, one.note] - 1) for one in again),
        sum(max(0, len(told) - 1) for told in calls.told.values()),
    )


def _is_told_otherwise(one: _Call, calls: Calls) -> bool:
    told = set(calls.told.get(one.id, ()))
    bodies: list[dict[str, Any]] = [msgspec.json.decode(body) for body in told]
    return len(told) > 1 or any(body["status"] != _STATUS.get(one.state) for body in bodies)
