"""Whose runs are at work, as far as it is known."""

from __future__ import annotations

from aitp_desk.desk.limits import fair_share as shares
from aitp_desk.desk.limits.fair_share import FairShare


def test_runs_wait_for_callers_with_as_many_at_work_as_one_may() -> None:
    counted = FairShare(2)
    for run_id, caller in [("a1", "a"), ("b1", "b"), ("a2", "a"), ("a3", "a"), ("b2", "b")]:
        counted.add_run(run_id, caller)
    assert counted.list_waiting() == ()
    counted.begin("a1")
    counted.begin("b1")
    assert counted.list_waiting() == ()
    counted.begin("a2")
    assert counted.list_waiting() == ("a3",)
    counted.end("a1")
    assert counted.list_waiting() == ()


def test_a_run_that_was_taken_up_before_it_was_told_of_counts_as_well() -> None:
    counted = FairShare(1)
    counted.begin("a1")
    counted.add_run("a1", "a")
    counted.add_run("a2", "a")
    assert counted.list_waiting() == ("a2",)


def test_runs_of_nobody_known_keep_nobody_waiting() -> None:
    counted = FairShare(1)
    for run_id in ("x", "y", "z"):
        counted.begin(run_id)
    counted.add_run("a1", "a")
    assert counted.list_waiting() == ()
    for run_id in ("x", "y", "z", "never"):
        counted.end(run_id)


def test_what_is_remembered_is_bounded() -> None:
    counted = FairShare(1)
    counted.add_run("first", "a")
    for n in range(shares.MAX_EXPECTED):
        counted.add_run(f"b{n}", "b")
    counted.add_run("a1", "a")
    counted.begin("a1")
    assert counted.list_waiting() == ()
