"""Seeing jobs, retrying and dropping them, from the command line and while a desk serves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aitp_desk.desk.maintenance.readiness import JOBS_DEAD
from aitp_desk.store.base import Work
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads.audit_log import audit_rows
from aitp_desk.store.records.jobs import ClaimedJob, JobCapacity
from aitp_desk.store.units.jobs.jobs import bury_job, claim_jobs, enqueue_job, finish_job
from tests.support.desk.command import run
from tests.support.desk.jobs import a_job
from tests.support.desk.server import serving
from tests.support.doubles.agent import NOON

NOW = int(NOON)
SECRET = "words of a caller"


def leave_jobs() -> Work[None]:
    """Leave a job that waits, one that is done, and one that was given up."""
    for name in ("dead", "done"):
        yield from enqueue_job(a_job(name, payload={"said": SECRET}))
    taken: tuple[ClaimedJob, ...] = yield from claim_jobs(
        worker="one", now=NOW, lease_until=NOW, capacities=[JobCapacity("errand", 9, 60)]
    )
    dead, done = sorted(taken, key=lambda claim: claim.id)
    yield from bury_job(claim=dead, failures=3, error="Nobody was\nthere.", now=NOW + 60)
    yield from finish_job(claim=done, now=NOW)
    yield from enqueue_job(a_job("waits", available_at=NOW + 3600, payload={"said": SECRET}))


@pytest.mark.sqlite
async def test_jobs_are_listed_retried_and_dropped_and_that_is_noted(tmp_path: Path) -> None:
    data = ("--data", tmp_path)
    async with serving(tmp_path) as desk:
        await desk.store.run(leave_jobs)
        assert (await desk.desk.readiness.check()).notes == (JOBS_DEAD,)
        code, lines, _ = await run("jobs", "list", *data)
        assert code == 0
        dead, done, waits = (line.split("  ") for line in lines)
        made = "created 2027-01-15 08:00"
        assert dead[:4] == ["job_dead", "errand", "dead", made]
        assert dead[4:] == ["dead 2027-01-15 08:01", "tried 1 time", "Nobody was there."]
        assert done[3:] == [made, "done 2027-01-15 08:00", "tried 1 time"]
        assert waits[3:] == [made, "queued for 2027-01-15 09:00", "tried 0 times"]
        _, (line,), _ = await run("jobs", "list", "--dead", "--json", *data)
        assert json.loads(line) == {
            "id": "job_dead",
            "kind": "errand",
            "ref": "dead",
            "agent": None,
            "state": "dead",
            "created_at": "2027-01-15T08:00:00Z",
            "next_at": None,
            "attempts": 1,
            "failures": 3,
            "last_error": "Nobody was\nthere.",
            "finished_at": "2027-01-15T08:01:00Z",
        }
        assert SECRET not in line + "".join(lines)

        for refused, reason in (
            (("drop", "job_waits"), "only a dead job can be dropped"),
            (("retry", "job_done"), "there is nothing to retry"),
            (("drop", "job_none"), "There is no job 'job_none'"),
        ):
            code, out, (error,) = await run("jobs", *refused, *data)
            assert (code, out) == (1, [])
            assert reason in error

        assert await run("jobs", "retry", "job_dead", *data) == (
            0,
            ["Retrying job job_dead (errand of dead)."],
            [],
        )
        assert (await desk.desk.readiness.check()).notes == ()
        (again,) = await desk.store.run(
            claim_jobs,
            worker="two",
            now=NOW,
            lease_until=NOW,
            capacities=[JobCapacity("errand", 9, 3600)],
        )
        await desk.store.run(bury_job, claim=again, failures=1, error="-", now=NOW)
        _, (told,), _ = await run("jobs", "drop", "job_dead", *data)
        assert told == "Dropped job job_dead (errand of dead)."
    async with SqliteStore.open(tmp_path / "desk.db") as store:
        noted = [(row.action, row.object) async for row in audit_rows(store)]
    assert noted == [("job.retried", "job:job_dead"), ("job.dropped", "job:job_dead")]
