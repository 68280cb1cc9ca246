"""The moves that a run may make."""

from __future__ import annotations

import pytest

from aitp_desk.model.run import MOVES, Run, RunState

OVER = {RunState.COMPLETED, RunState.FAILED, RunState.CAPPED}


def test_every_state_has_its_moves() -> None:
    assert set(MOVES) == set(RunState)


@pytest.mark.parametrize("state", list(RunState))
def test_a_run_is_over_where_no_move_leads_on(state: RunState) -> None:
    assert Run("run_1", "thread_1", state, 0).is_over is (state in OVER)


def test_runs_begin_queued_or_capped() -> None:
    reached = {state for moves in MOVES.values() for state in moves}
    assert set(RunState) - reached == {RunState.QUEUED, RunState.CAPPED}


def test_only_a_run_in_progress_can_complete_or_fail() -> None:
    for end in (RunState.COMPLETED, RunState.FAILED):
        assert [state for state in RunState if end in MOVES[state]] == [RunState.IN_PROGRESS]
