"""Names the calls of a caller's functions so that their outputs find the run.

For APIs whose callers send outputs without naming a run. The desk checks who may continue it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.conversation.run import Run, ToolCall
from aitp_desk.model.conversation.run_draft import ToolOutput
from aitp_desk.model.errors import InvalidRequest

_SEPARATOR = "."


class Continuation(msgspec.Struct, frozen=True):
    """A run that waits for its caller's functions, and their outputs."""

    thread_id: str
    run_id: str
    outputs: tuple[ToolOutput, ...]


def write_call_id(run: Run, call: ToolCall) -> str:
    """Return the id of a call: its thread, its run and its id in that."""
    return _SEPARATOR.join((run.thread_id, run.id, call.id))


def read_continuation(outputs: Sequence[tuple[str, ToolOutput]], param: str) -> Continuation | None:
    """Return which run the outputs continue; None without outputs.

    Parameters:
        outputs: each with its path in the body.
        param: the member of an output that holds the id of its call.

    Raises:
        InvalidRequest: an id is none of :func:`write_call_id`, or they are of several runs.
    """
    begun: dict[tuple[str, str], list[ToolOutput]] = {}
    for at, output in outputs:
        parts = output.call_id.split(_SEPARATOR)
        if len(parts) != 3:
            raise InvalidRequest(
                f"`{param}` must be the id of a call that an answer here asked for.",
                param=f"{at}.{param}",
            )
        thread_id, run_id, call_id = parts
        begun.setdefault((thread_id, run_id), []).append(ToolOutput(call_id, output.output))
        if len(begun) > 1:
            raise InvalidRequest(
                "All outputs must be of one answer's calls.", param=f"{at}.{param}"
            )
    for (thread_id, run_id), of_run in begun.items():
        return Continuation(thread_id, run_id, tuple(of_run))
    return None
