"""What a database holds of calls that people on a platform were asked about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from tests.faults.checks.faults import Faults
from tests.faults.databases import open_database
from tests.faults.processes.writers import Writer
from tests.support.transports.reservations import NOT_ASKED, item_of

_texts = msgspec.json.Decoder(list[str]).decode


class ConfirmationFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        unasked: wishes of which the agent was told that they are not possible.
        called_twice: confirmed items that more than one call has kept, or a call more than once;
            except as a process was killed, since what it has left of a query is done again.
        uncalled: items that were confirmed by their button, or by the word after their question
            alone, without a call that has succeeded; where no operator had the thread.
        unbidden: items with a call, or a line, that nobody has confirmed.
        named: what the faults are.
    """

    unasked: int = 0
    called_twice: int = 0
    uncalled: int = 0
    unbidden: int = 0
    named: tuple[str, ...] = ()


def examine_confirmations(
    database: Path, book: Path, writers: Sequence[Writer], killed: Container[int]
) -> ConfirmationFindings:
    """Count the faults of confirmations while their desk is idle.

    Parameters:
        book: of the action.
        killed: the ids of the processes that were killed.
    """
    lines = defaultdict(list)
    for line in book.read_text().splitlines() if book.exists() else ():
        call, process, item = line.split(" ", 2)
        lines[item].append((call, int(process)))
    with closing(open_database(database)) as connection:
        connection.execute("BEGIN")
        calls = defaultdict(list)
        silent = set()  # the agent does not answer while an operator has the thread
        for item, *call, is_silent in connection.execute(
            "SELECT arguments ->> 'item', id, state, thread_id, run_id, EXISTS"
            " (SELECT 1 FROM tickets t WHERE t.thread_id = c.thread_id)"
            " FROM calls c WHERE action = 'reserve'"
        ):
            calls[item].append(call)
            silent.update([item] * is_silent)
        said = [
            (thread, origin, _texts(content)[0])
            for thread, origin, content in connection.execute(
                "SELECT thread_id, origin, content FROM messages WHERE content IS NOT NULL"
                " ORDER BY thread_id, seq"
            )
        ]
    done = {
        item: [id_ for id_, state, *_ in of_item if state == "succeeded"]
        for item, of_item in calls.items()
    }
    made = {item for item, ids in done.items() if ids} | lines.keys()
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
    faults = Faults()
    for thread, _, text in said:
        faults.add("unasked", (thread, text), text.startswith(NOT_ASKED))
    for item, of_item in calls.items():
        kept = {*done[item], *(call for call, _ in lines[item])}
        is_again = len(lines[item]) > len(set(lines[item])) or any(
            process not in killed for _, process in lines[item][:-1]
        )
        faults.add("called_twice", (item, of_item, lines[item]), is_again or len(kept) > 1)
    for item in sure - declined - made - silent:
        faults.add("uncalled", (item, calls[item]))
    for item in made - agreed:
        faults.add("unbidden", (item, calls[item], lines[item]))
    return ConfirmationFindings(**faults.counts, named=faults.named)
