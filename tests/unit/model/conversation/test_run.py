"""The moves that a run may make."""

from __future__ import annotations

import pytest

from aitp_desk.model.conversation.run import MOVES, Run, RunState, ToolCall

OVER = {
    RunState.CANCELLED,
    RunState.COMPLETED,
    RunState.FAILED,
    RunState.INCOMPLETE,
    RunState.EXPIRED,
    RunState.CAPPED,
}


def test_every_state_has_its_moves() -> None:
    assert set(MOVES) == set(RunState)


@pytest.mark.parametrize("state", list(RunState))
def test_a_run_is_over_where_no_move_leads_on(state: RunState) -> None:
    assert Run("run_1", "thread_1", state, 0).is_over is (state in OVER)


def test_runs_begin_queued_or_capped() -> None:
    reached = {state for moves in MOVES.values() for state in moves}
    assert set(RunState) - reached == {RunState.CAPPED}
    # and only a run that waited for its caller is ever queued again
    assert [s for s in RunState if RunState.QUEUED in MOVES[s]] == [RunState.REQUIRES_ACTION]


def test_what_is_being_cancelled_can_end_in_no_other_way() -> None:
    assert MOVES[RunState.CANCELLING] == {RunState.CANCELLED}


def test_a_run_that_waits_past_its_time_has_expired() -> None:
    owed = (ToolCall("call_1", "stock", "{}"),)
    run = Run("run_1", "thread_1", RunState.REQUIRES_ACTION, 0, expires_at=600, owed=owed)
    assert run.at(599) is run
    late = run.at(600)
    assert (late.state, late.ended_at, late.owed) == (RunState.EXPIRED, 600, ())
    assert late.is_over


def test_only_a_run_in_progress_can_complete() -> None:
    for end in (RunState.COMPLETED, RunState.INCOMPLETE):
        assert [state for state in RunState if end in MOVES[state]] == [RunState.IN_PROGRESS]
