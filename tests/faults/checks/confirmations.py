"""What a database holds of calls that people on a platform were asked about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from tests.faults.databases import open_database
from tests.faults.processes.writers import Writer
from tests.support.transports.reservations import NOT_ASKED, item_of

_texts = msgspec.json.Decoder(list[str]).decode


class ConfirmationFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        unasked: wishes of which the agent was told that they are not possible.
        called_twice: confirmed items with more than one call, or line of the action's book.
        uncalled: items that were confirmed by their button, or by the word after their question
            alone, without a call that has succeeded; where no operator had the thread.
        unbidden: items with a call, or a line, that nobody has confirmed.
    """

    unasked: int = 0
    called_twice: int = 0
    uncalled: int = 0
    unbidden: int = 0


def examine_confirmations(
    database: Path, book: Path, writers: Sequence[Writer]
) -> ConfirmationFindings:
    """Count the faults of confirmations while their desk is idle."""
    kept = Counter(
        line.partition(" ")[2] for line in (book.read_text().splitlines() if book.exists() else ())
    )
    with closing(open_database(database)) as connection:
        connection.execute("BEGIN")
        calls = defaultdict(list)
        silent = set()  # the agent does not answer while an operator has the thread
        for item, state, is_silent in connection.execute(
            "SELECT arguments ->> 'item', state, EXISTS"
            " (SELECT 1 FROM tickets t WHERE t.thread_id = c.thread_id)"
            " FROM calls c WHERE action = 'reserve'"
        ):
            calls[item].append(state)
            silent.update([item] * is_silent)
        said = [
            (thread, origin, _texts(content)[0])
            for thread, origin, content in connection.execute(
                "SELECT thread_id, origin, content FROM messages WHERE content IS NOT NULL"
                " ORDER BY thread_id, seq"
            )
        ]
    made = {item for item, states in calls.items() if "succeeded" in states} | kept.keys()
    agreed = {item for one in writers for item in one.pressed["yes"] | one.written["yes"]}
    declined = {item for one in writers for item in one.pressed["no"]}
    heeded = {
        item_of(question)
        for (of, by, question), (thread, origin, text), (_, after, _) in zip(
            said, said[1:], said[2:], strict=False
        )
        if (by, origin, after, text) == ("desk", "visitor", "desk", "yes") and of == thread
    }
    sure = {item for one in writers for item in one.pressed["yes"]} | (heeded & agreed)
    return ConfirmationFindings(
        unasked=sum(text.startswith(NOT_ASKED) for _, _, text in said),
        called_twice=sum(
            max(states.count("succeeded"), kept[item]) > 1 for item, states in calls.items()
        ),
        uncalled=len(sure - declined - made - silent),
        unbidden=len(made - agreed),
    )
