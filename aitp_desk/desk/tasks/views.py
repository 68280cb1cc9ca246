"""Derives the states of tasks from their runs and calls.

No state is stored with the task itself, so it always agrees with the thread, also after a restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.direct.calls import DirectCalls
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.desk.threads.open_requests import OpenRequests
from aitp_desk.model.calls.call import CallState
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.calls.task import Result, Task, TaskState, TaskUtterance
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.store.base import Store
from aitp_desk.store.reads import tasks as task_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.tasks import StoredTask, StoredTurn
from aitp_desk.store.units.tickets.handover import TAKEN_OVER
from aitp_desk.store.units.tickets.requests import ASKED_PERSON

HISTORY_BYTES = 256 * 1024
"""Size limit of a task's history before its newest turn; the newest part is kept."""
LOOKED_THROUGH = 20
"""How many messages after a question are searched for its answer if no run gave it."""
NO_ANSWER = "There was no answer to this message."
GONE = "The outcome is no longer stored."

PAID = "It is paid."
_RUNS = {
    RunState.QUEUED: TaskState.SUBMITTED,
    RunState.IN_PROGRESS: TaskState.WORKING,
    RunState.CANCELLING: TaskState.WORKING,
    RunState.REQUIRES_ACTION: TaskState.INPUT_REQUIRED,
    RunState.CANCELLED: TaskState.CANCELED,
    RunState.COMPLETED: TaskState.COMPLETED,
    RunState.FAILED: TaskState.FAILED,
    RunState.INCOMPLETE: TaskState.FAILED,
    RunState.EXPIRED: TaskState.FAILED,
    RunState.CAPPED: TaskState.REJECTED,
}
_CALLS = {
    CallState.STARTED: TaskState.WORKING,
    CallState.WAITING_INPUT: TaskState.INPUT_REQUIRED,
    CallState.WAITING_PAYMENT: TaskState.INPUT_REQUIRED,
    CallState.WAITING_APPROVAL: TaskState.WORKING,
    CallState.SUCCEEDED: TaskState.COMPLETED,
    CallState.FAILED: TaskState.FAILED,
    CallState.EXPIRED: TaskState.FAILED,
    CallState.UNKNOWN: TaskState.FAILED,
}


class TaskOutcome(msgspec.Struct, frozen=True):
    """The outcome of a turn that has neither a run nor a call.

    It is stored with the turn.
    """

    state: TaskState
    result: Result


_unmade = msgspec.json.Decoder(TaskOutcome)
_asked = msgspec.json.Decoder(dict)


class _TurnState(msgspec.Struct, frozen=True):
    """The state of a turn.

    Parameters:
        said: its messages that are neither its result nor its question.
    """

    state: TaskState
    asks: Result | None = None
    result: Result | None = None
    said: tuple[Message, ...] = ()
    at: int = 0
    waits_for_people: bool = False


def state_of_run(run: Run, replies: Sequence[Message]) -> TaskState:
    """Return the state of a task whose newest run this is.

    Parameters:
        replies: the messages of the run.
    """
    if run.state is RunState.COMPLETED and replies and asks_back(replies[-1]):
        return TaskState.INPUT_REQUIRED
    if run.error == TAKEN_OVER:
        return TaskState.WORKING  # an operator answers instead
    return _RUNS[run.state]


def asks_back(reply: Message) -> bool:
    """Return whether a reply asks its reader something."""
    return "asks_back" in reply.metadata


class TaskVisibility(msgspec.Struct, frozen=True):
    """Which of the calls among a task's turns a caller sees.

    Parameters:
        party: id of the caller, who sees its own; None for an anonymous one.
        is_whole: whether the caller sees all.
    """

    party: str | None
    is_whole: bool

    def shows(self, turn: StoredTurn) -> bool:
        """Return whether the caller sees the call of a turn."""
        return self.is_whole or (self.party is not None and turn.principal == self.party)


ALL_VISIBLE = TaskVisibility(None, is_whole=True)
"""The visibility for a caller that may manage the thread."""


class TaskViews:
    """Reads the states of tasks. Access is checked before.

    Parameters:
        direct_calls: looks up the calls of tasks.
    """

    def __init__(
        self,
        store: Store,
        direct_calls: DirectCalls,
        renderer: PlainTextRenderer,
        open_requests: OpenRequests,
    ) -> None:
        self._renderer = renderer
        self._open_requests = open_requests
        self._store = store
        self._direct_calls = direct_calls

    async def view(
        self,
        kept: StoredTask,
        sight: TaskVisibility,
        turns: tuple[StoredTurn, ...] | None = None,
        status: CallStatus | None = None,
    ) -> Task:
        """Return a task in its current state.

        Parameters:
            sight: which calls are visible. The arguments, results and questions of others are left
                out; only their states, and their messages on the thread, remain.
            turns: its newest turns, if known; None looks them up.
            status: of the call of its newest turn, if known; None looks it up.
        """
        if turns is None:
            turns = await task_reads.turns(self._store, kept.id)
        told = await self._history(kept.thread_id, turns[:-1], sight)
        last = turns[-1] if turns else StoredTurn(0, None, None, None, None, None, kept.created_at)
        is_hidden = not sight.shows(last) and last.message_id is None
        if not sight.shows(last) and not is_hidden and last.call_id is not None:
            last, status = msgspec.structs.replace(last, call_id=None), None
        asked = await self._asked(kept.thread_id, last, sight)
        stands = await self._stands(kept.thread_id, last, asked, status)
        if is_hidden:
            last = msgspec.structs.replace(last, call_id=None)
            stands = _TurnState(stands.state, at=stands.at)
        return Task(
            kept.id,
            kept.thread_id,
            kept.context,
            stands.state,
            kept.created_at,
            max(stands.at, last.created_at),
            (*told, *asked, *(TaskUtterance(one) for one in stands.said)),
            stands.asks,
            stands.result,
            last.run_id,
            last.call_id,
            stands.waits_for_people,
        )

    async def _history(
        self, thread_id: str, turns: Sequence[StoredTurn], sight: TaskVisibility
    ) -> list[TaskUtterance]:
        """Return the newest messages of some turns, within ``HISTORY_BYTES``."""
        newest: list[list[TaskUtterance]] = []
        room = HISTORY_BYTES
        for turn in reversed(turns):
            told = await self._asked(thread_id, turn, sight)
            told += [TaskUtterance(reply) for reply in await self._replies(turn)]
            room -= sum(one.size for one in told)
            if room < 0:
                break
            newest.append(told)
        return [one for told in reversed(newest) for one in told]

    async def _asked(
        self, thread_id: str, turn: StoredTurn, sight: TaskVisibility
    ) -> list[TaskUtterance]:
        if turn.asked is not None:
            return [TaskUtterance(asked=_asked.decode(turn.asked))] if sight.shows(turn) else []
        if turn.message_id is None:
            return []
        message = await reads.message(self._store, thread_id, turn.message_id)
        return [] if message is None else [TaskUtterance(self._renderer.render_message(message))]

    async def _replies(self, turn: StoredTurn) -> tuple[Message, ...]:
        if turn.run_id is None:
            return ()
        return tuple(
            map(self._renderer.render_message, await reads.replies(self._store, turn.run_id))
        )

    async def _stands(
        self,
        thread_id: str,
        turn: StoredTurn,
        asked: Sequence[TaskUtterance],
        status: CallStatus | None = None,
    ) -> _TurnState:
        if turn.said is not None:
            unmade = _unmade.decode(turn.said)
            if unmade.state is TaskState.COMPLETED:
                return _TurnState(unmade.state, result=unmade.result)
            asks = unmade.result
            if unmade.state is TaskState.INPUT_REQUIRED and asks.data is None:
                found = await self._open_requests.list_open(thread_id)
                asks = msgspec.structs.replace(asks, waiting=found)
            return _TurnState(unmade.state, asks)
        if turn.call_id is not None:
            status = status or await self._status(thread_id, turn.call_id)
            return (
                _TurnState(TaskState.FAILED, _in_words(GONE)) if status is None else _call(status)
            )
        run = None if turn.run_id is None else await reads.run(self._store, turn.run_id)
        message = asked[0].message if asked else None
        is_with_people = run is None or run.error == TAKEN_OVER
        if run is None or is_with_people or run.state is RunState.COMPLETED:
            replies = await self._replies(turn)
            if not replies and message is not None:
                # a message for a plugin that no run answers may be for other participants
                is_for_others = run is None and await self._is_structured(message)
                asker = message.actor if is_for_others else None
                replies = await self._answers(thread_id, message.seq, asker)
            if is_with_people and not replies:
                if message is None:
                    return _TurnState(TaskState.FAILED)
                words = None if run is None else _in_words(TAKEN_OVER)
                return _TurnState(TaskState.WORKING, words, waits_for_people=True)
            waiting: tuple[OpenRequest, ...] = ()
            if replies and asks_back(replies[-1]):
                waiting = await self._open_requests.list_open(thread_id)
            return _answered(run, replies, turn.created_at, waiting)
        words = None if run.error is None else _in_words(run.error)
        if run.state is RunState.CAPPED and message is not None:
            said = await self._answers(thread_id, message.seq)
            words = Result(said[-1].content) if said else None
        return _TurnState(_RUNS[run.state], words, at=_moved_at(run))

    async def _status(self, thread_id: str, call_id: str) -> CallStatus | None:
        """Return the status of a task's call, or None.

        It is None if the call belongs to another owner's thread.

        A task that paid with a quote's id is a call of the thread where the quote was made.
        """
        status = await self._direct_calls.get_call(call_id)
        if status is None or status.call.thread_id in {None, thread_id}:
            return status
        quoted = await reads.thread(self._store, status.call.thread_id or "")
        own = await reads.thread(self._store, thread_id)
        if quoted is None or own is None or quoted.thread.owner != own.thread.owner:
            return None
        return status

    async def _is_structured(self, told: Message) -> bool:
        """Return whether a message rendered as text was sent as a plugin's message."""
        said = await reads.message(self._store, told.thread_id, told.id)
        return said is not None and said.content != told.content

    async def _answers(
        self, thread_id: str, seq: int, asker: str | None = None
    ) -> tuple[Message, ...]:
        """Return the desk's next message, by any run or operator, if any.

        Parameters:
            asker: id of the asking actor; then other actors may have answered as well. None counts
                only the desk's messages.
        """
        after = await reads.messages_between(
            self._store,
            thread_id,
            above=seq,
            below=reads.BEYOND,
            limit=LOOKED_THROUGH,
            order="asc",
        )
        said = (
            one
            for one in after.items
            if one.origin is Origin.DESK or (asker is not None and one.actor != asker)
        )
        return tuple(map(self._renderer.render_message, said))[:1]


def _answered(
    run: Run | None, replies: tuple[Message, ...], began: int, waiting: tuple[OpenRequest, ...]
) -> _TurnState:
    if not replies:
        at = began if run is None else _moved_at(run)
        return _TurnState(TaskState.COMPLETED, result=_in_words(NO_ANSWER), at=at)
    *before, last = replies
    said, at = tuple(before), last.created_at
    if asks_back(last):
        asks = Result(last.content, waiting=waiting)
        return _TurnState(TaskState.INPUT_REQUIRED, asks, said=said, at=at)
    result = Result(last.content, asked_person=last.metadata.get(ASKED_PERSON, ""))
    return _TurnState(TaskState.COMPLETED, result=result, said=said, at=at)


def _call(status: CallStatus) -> _TurnState:
    call = status.call
    state, at = _CALLS[call.state], call.ended_at or 0
    if status.offer is not None:
        paid = Result((PAID,), receipt=call.receipt) if call.receipt else None
        return _TurnState(state, paid, result=Result((status.offer.text,), call.result), at=at)
    if call.error is not None:
        told: dict[str, Any] = {"code": call.error.kind}
        if call.error.recovery is not None:
            told["recovery"] = call.error.recovery
        return _TurnState(state, Result((call.error.message,), told, receipt=call.receipt), at=at)
    if call.state is CallState.WAITING_PAYMENT:
        if status.terms is None:  # the payment is being checked
            return _TurnState(TaskState.WORKING, _in_words(call.how_far), at=at)
        costs = f"{call.action} costs {call.price} and must be paid first."
        return _TurnState(state, Result((costs,), terms=status.terms), at=at)
    awaited = {"eta_seconds": status.eta_seconds}
    words = Result((call.how_far,), awaited)
    is_with_people = call.state is CallState.WAITING_APPROVAL
    return _TurnState(state, words, at=at, waits_for_people=is_with_people)


def _in_words(words: str) -> Result:
    return Result((words,))


def _moved_at(run: Run) -> int:
    return run.ended_at or run.started_at or run.created_at
