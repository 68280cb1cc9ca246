"""Several worker processes on one address, and their supervisor."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from aitp_desk.app.workers.slot import DELAYS, STEADY_SECONDS, Backoff
from tests.support.desk.command import run, run_apart
from tests.support.desk.server import SITE
from tests.support.desk.worker_cluster import IMPATIENT, running_cluster, slow_request

pytestmark = pytest.mark.servers


async def test_connections_are_shared_among_the_workers(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        pids = await cluster.who_answer(2)
        assert pids.keys() == {"1", "2"}
        assert len(set(pids.values())) == 2


async def test_a_worker_that_died_is_started_again_and_no_connection_is_refused(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        before = await cluster.who_answer(2)
        with pytest.raises((ConnectionError, ValueError)):  # reset, or ended without a response
            await cluster.get("/die")
        await asyncio.gather(*(cluster.get() for _ in range(50)))
        after = await cluster.who_answer(2)
        assert len(before.items() - after.items()) == 1
        died = await cluster.until("worker_died")
        assert (died["code"], died["started_in"]) == (-signal.SIGKILL, 0.0)


async def test_no_connection_waits_for_a_worker_that_is_dead_or_starts(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        pids = await cluster.who_answer(2)
        (tmp_path / "held").touch()
        os.kill(pids["2"], signal.SIGKILL)
        await cluster.until("worker_started", worker="2")
        answers = await asyncio.gather(*(cluster.get() for _ in range(50)))
        assert set(answers) == {("1", pids["1"])}
        (tmp_path / "held").unlink()
        assert (await cluster.who_answer(2)).keys() == {"1", "2"}


@pytest.mark.parametrize("fault", ["paused", "blocked"])
async def test_a_worker_that_hangs_is_ended_and_replaced(tmp_path: Path, fault: str) -> None:
    async with running_cluster(tmp_path, 2, hung_after=3) as cluster:
        pids = await cluster.who_answer(2)
        if fault == "paused":
            hung = "2"
            await cluster.pause(pids[hung])
        else:
            hung, _ = await cluster.get("/block")
        other = {"1": "2", "2": "1"}[hung]
        answers = await asyncio.gather(*(cluster.get() for _ in range(50)))
        assert set(answers) == {(other, pids[other])}  # none waits for the one that hangs
        found = await cluster.until("worker_hung", worker=hung)
        assert (found["pid"], found["beats_missed"]) == (pids[hung], 3)
        died = await cluster.until("worker_died")
        assert (died["worker"], died["code"]) == (hung, -signal.SIGKILL)
        after = await cluster.who_answer(2)
        assert after[other] == pids[other]
        assert after[hung] != pids[hung]


async def test_a_worker_that_hangs_before_it_is_ready_is_ended_and_replaced(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        pids = await cluster.who_answer(2)
        (tmp_path / "held").touch()
        cluster.process.send_signal(signal.SIGUSR1)
        os.kill(pids["2"], signal.SIGKILL)
        found = await cluster.until("worker_hung", worker="2")
        assert found["pid"] != pids["2"]
        assert found["beats_missed"] == IMPATIENT
        cluster.process.send_signal(signal.SIGUSR2)
        (tmp_path / "held").unlink()
        assert (await cluster.who_answer(2))["1"] == pids["1"]


async def test_a_replacement_that_hangs_is_ended_and_the_old_ones_stay(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        before = await cluster.who_answer(2)
        (tmp_path / "held").touch()
        cluster.process.send_signal(signal.SIGUSR1)
        cluster.process.send_signal(signal.SIGHUP)
        await cluster.until("worker_hung", worker="1")
        failed = await cluster.until("worker_not_replaced")
        assert (failed["worker"], failed["code"]) == ("1", -signal.SIGKILL)
        assert await cluster.who_answer(2) == before
        cluster.process.send_signal(signal.SIGUSR2)
        (tmp_path / "held").unlink()
        cluster.process.send_signal(signal.SIGHUP)
        await cluster.until("workers_replaced")


async def test_an_old_worker_that_does_not_stop_is_ended_so_that_the_next_is_replaced(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, 2, shutdown_seconds=1) as cluster:
        before = await cluster.who_answer(2)
        async with slow_request(cluster):
            cluster.process.send_signal(signal.SIGHUP)
            await cluster.until("workers_replaced")
        after = await cluster.who_answer(2)
        assert set(after.values()).isdisjoint(before.values())


async def test_a_worker_that_closes_everything_and_does_not_end_is_replaced(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, 2, hung_after=2) as cluster:
        pids = await cluster.who_answer(2)
        label, pid = await cluster.get("/linger")
        assert (await cluster.until("worker_hung", worker=label))["pid"] == pid
        await cluster.until("worker_died", worker=label)
        after = await cluster.who_answer(2)
        assert after[label] != pids[label]


async def test_a_supervisor_that_was_paused_itself_ends_no_worker(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2, hung_after=3) as cluster:
        pids = await cluster.who_answer(2)
        for pid in (cluster.process.pid, *pids.values()):
            await cluster.pause(pid)
        await asyncio.sleep(5)  # longer than a worker may stand still
        for pid in (*pids.values(), cluster.process.pid):
            os.kill(pid, signal.SIGCONT)
        (tmp_path / "broken").touch()
        cluster.process.send_signal(signal.SIGHUP)
        await cluster.until("worker_not_replaced")
        assert not [entry for entry in cluster.log if entry["event"] == "worker_hung"]
        assert await cluster.who_answer(2) == pids


async def test_where_no_worker_is_left_visitors_are_refused_at_once(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        pids = await cluster.who_answer(2)
        (tmp_path / "broken").touch()
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)
        await cluster.until_each("worker_died", pids, started_in=DELAYS[1])
        with pytest.raises((ConnectionError, ValueError)):
            await cluster.get()
        (tmp_path / "broken").unlink()
        await cluster.until_each("worker_started", pids)
        assert (await cluster.who_answer(2)).keys() == {"1", "2"}


async def test_a_worker_that_keeps_dying_is_started_after_growing_delays(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        pids = await cluster.who_answer(2)
        (tmp_path / "broken").touch()
        os.kill(pids["2"], signal.SIGKILL)
        delays = [(await cluster.until("worker_died", worker="2"))["started_in"] for _ in range(2)]
        assert delays == list(DELAYS[:2])
        # its share of the connections goes to the other one meanwhile
        answers = await asyncio.gather(*(cluster.get() for _ in range(20)))
        assert {label for label, _ in answers} == {"1"}
        (tmp_path / "broken").unlink()
        assert (await cluster.who_answer(2)).keys() == {"1", "2"}


def test_the_delay_starts_over_after_a_worker_has_lived_for_long() -> None:
    backoff = Backoff()
    assert [backoff.next_delay(0.5) for _ in range(9)] == [*DELAYS, DELAYS[-1], DELAYS[-1]]
    assert backoff.next_delay(STEADY_SECONDS) == DELAYS[0]


async def test_on_sighup_all_are_replaced_and_every_request_is_answered(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        before = await cluster.who_answer(2)
        answered = []

        async def load() -> None:
            while True:
                answered.append(await cluster.get())

        async with slow_request(cluster) as (reader, writer):
            loads = [asyncio.create_task(load()) for _ in range(8)]
            cluster.process.send_signal(signal.SIGHUP)
            await cluster.until("worker_replaced", worker="1")
            writer.write(b"go\n")
            await cluster.until("workers_replaced")
            assert not [one for one in loads if one.done()], "a request failed"
            for one in loads:
                one.cancel()
            label, pid = (await reader.readline()).split()
            assert before[label.decode()] == int(pid)  # it has ended in the old worker
        after = await cluster.who_answer(2)
        assert set(after.values()).isdisjoint(before.values())
        assert len(answered) > 8


async def test_if_the_new_worker_cannot_start_the_old_ones_stay(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        before = await cluster.who_answer(2)
        (tmp_path / "broken").touch()
        cluster.process.send_signal(signal.SIGHUP)
        failed = await cluster.until("worker_not_replaced")
        assert (failed["worker"], failed["code"]) == ("1", 3)
        assert await cluster.who_answer(2) == before


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
async def test_what_is_under_way_is_answered_when_all_stop(
    tmp_path: Path, signum: signal.Signals
) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        pids = await cluster.who_answer(2)
        async with slow_request(cluster) as (reader, writer):
            cluster.process.send_signal(signum)
            await cluster.until("stopping")
            writer.write(b"go\n")
            label, pid = (await reader.readline()).split()
        assert pids[label.decode()] == int(pid)
        await cluster.until("stopped")
        assert await cluster.process.wait() == 0


async def test_workers_stop_when_their_supervisor_was_killed(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        async with slow_request(cluster) as (reader, writer):
            cluster.process.kill()
            writer.write(b"go\n")
            assert await reader.readline()
        assert cluster.process.stderr is not None
        async with asyncio.timeout(30):
            await cluster.process.stderr.read()  # ends when no worker has it open


async def test_if_the_first_worker_cannot_start_the_supervisor_ends(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    with pytest.raises(AssertionError):
        async with running_cluster(tmp_path, 2):
            pass


async def test_an_address_in_use_is_reported(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, 2) as cluster:
        code, _, err = await run_apart(
            "serve", SITE, "--port", cluster.port, "--data", tmp_path / "data"
        )
        assert (code, len(err)) == (1, 1)
        assert str(cluster.port) in err[0]


async def test_several_workers_on_sqlite_are_refused(tmp_path: Path) -> None:
    code, out, err = await run("serve", SITE, "--workers", 2, "--data", tmp_path / "data")
    assert (code, out, len(err)) == (1, [], 1)
    assert "PostgreSQL" in err[0]
    assert "--workers" in err[0]
    assert "docs/run/scaling.md" in err[0]
