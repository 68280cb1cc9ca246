"""The moves that a call of an action may make."""

from __future__ import annotations

import pytest

from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.calls.call import MOVES, ActionCall, CallState

OVER = {CallState.SUCCEEDED, CallState.FAILED, CallState.EXPIRED, CallState.UNKNOWN}
WAITING = {CallState.WAITING_INPUT, CallState.WAITING_PAYMENT, CallState.WAITING_APPROVAL}


def a_call(state: CallState) -> ActionCall:
    return ActionCall("call_1", "", "order", state, make_anonymous(""), "arguments", 0, 60)


def test_a_call_is_over_in_four_states_and_nothing_leads_out_of_these_but_a_persons_word() -> None:
    assert set(MOVES) == set(CallState)
    for state in CallState:
        assert a_call(state).is_over is (state in OVER), state
    assert {state for state in OVER if MOVES[state]} == {CallState.UNKNOWN}
    assert MOVES[CallState.UNKNOWN] == {CallState.SUCCEEDED, CallState.FAILED}


def test_what_waits_is_not_done_and_not_lost_before_it_is_begun() -> None:
    for state in WAITING:
        assert {CallState.STARTED, CallState.FAILED, CallState.EXPIRED} <= MOVES[state]
        assert not MOVES[state] & {CallState.SUCCEEDED, CallState.UNKNOWN}, state
    # a caller who asks agrees first, and then a person approves
    assert CallState.WAITING_APPROVAL in MOVES[CallState.WAITING_INPUT]
    assert not MOVES[CallState.WAITING_APPROVAL] & WAITING


def test_a_move_that_there_is_not_is_a_fault() -> None:
    for before in CallState:
        for after in set(CallState) - MOVES[before]:
            with pytest.raises(ValueError, match=f"cannot go from {before.value} to {after.value}"):
                a_call(before).move(after)
