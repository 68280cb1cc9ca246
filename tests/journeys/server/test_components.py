"""How the parts of a desk are: at ``/ready``, at the console and among the figures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.capability import Capability, Health, Schema, document_of
from aitp_desk.desk.maintenance.readiness import JOBS_DEAD
from aitp_desk.store.base import StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.testing import open_desk
from tests.support.clients.operator import browsing, operating
from tests.support.clients.threads import Talker, Told, talking
from tests.support.desk.jobs import a_job, give_up_a_job
from tests.support.doubles.agent import Clock

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with talking(tmp_path_factory.mktemp("desk")) as talker:
        yield talker


async def ready(desk: Talker) -> Told:
    """What is shown to those who run the desk."""
    operator = await desk.with_key("operator")
    return await operator.send("GET", "/ready")


def parts(told: Told) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in told.body["components"]}


async def test_a_stranger_learns_how_it_is_and_nothing_of_its_parts(desk: Talker) -> None:
    told = (await desk.send("GET", "/ready")).ok
    assert told["status"] == "up"
    assert "components" not in told


async def test_a_caller_who_does_not_run_the_desk_learns_no_more(desk: Talker) -> None:
    caller = await desk.with_key("threads", "actions")
    assert "components" not in (await caller.send("GET", "/ready")).ok


@pytest.mark.sqlite
async def test_an_operator_sees_each_part_and_since_when(desk: Talker) -> None:
    told = parts(await ready(desk))
    assert list(told) == ["store", "jobs", "runs", "agent", "knowledge", "actions", "files"]
    assert {one["status"] for one in told.values()} == {"up"}
    assert all(one["since"].endswith("Z") and "reason" not in one for one in told.values())


async def test_jobs_that_were_given_up_degrade_the_desk_since_then_also_after_a_restart(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock) as desk:
        assert (await ready(desk)).body["status"] == "up"
        clock.advance(100)
        await desk.desk.store.run(give_up_a_job)
        before = await ready(desk)
    clock.advance(3600)
    async with talking(tmp_path, clock=clock) as desk:
        after = await ready(desk)
    for told in (before, after):
        assert (told.status, told.body["ready"], told.body["status"]) == (200, True, "degraded")
        jobs = parts(told)["jobs"]
        assert (jobs["status"], jobs["since"]) == ("degraded", "2027-01-15T08:01:40Z")
        assert jobs["reason"] == JOBS_DEAD
    started = [parts(told)["store"]["since"] for told in (before, after)]
    assert started == ["2027-01-15T08:00:00Z", "2027-01-15T09:01:40Z"]


async def test_a_job_that_waits_too_long_degrades_it(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock) as desk:
        await desk.desk.store.run(enqueue_job, job=a_job("nobodys", kind="of-nobody"))
        assert parts(await ready(desk))["jobs"]["status"] == "up"
        clock.advance(301)
        told = await ready(desk)
    assert told.body["status"] == "degraded"
    assert parts(told)["jobs"]["reason"] == ("A job is more than 5 minutes late.")


async def test_content_that_cannot_be_read_degrades_it(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nText.\n")
    (folder / "bad.txt").write_bytes(b"caf\xe9")
    async with talking(tmp_path, site=folder) as desk:
        told = await ready(desk)
    assert told.body["status"] == "degraded"
    assert parts(told)["knowledge"]["reason"].startswith("Files of the content cannot be read: 1")


async def test_without_its_store_a_desk_is_down_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_given: object) -> int:
        raise StoreError("the disk is gone")

    async with talking(tmp_path) as desk:
        with monkeypatch.context() as patched:
            patched.setattr(reads, "epoch", fails)
            told = await desk.send("GET", "/ready")
        assert (told.status, told.body["ready"], told.body["status"]) == (503, False, "down")
        assert (await ready(desk)).body["status"] == "up"


class Watcher(Capability):
    """Is as a test says."""

    slug = "watcher"
    own: Health | None = None
    elsewhere: Mapping[str, Health | None] = {}

    def schemas(self) -> tuple[Schema, ...]:
        messages = {"watch": Nothing}
        return (Schema(version=1, messages=messages, document=document_of(messages, "W")),)

    def health(self) -> Health | None:
        return self.own

    def watched(self) -> Mapping[str, Health | None]:
        return self.elsewhere


class Nothing(msgspec.Struct, frozen=True):
    pass


ILL = Health("degraded", "It is not well.")
GONE = Health("down", "It is gone.")


@pytest.mark.parametrize(
    ("own", "elsewhere", "status"),
    [
        (None, {}, "up"),
        (None, {"shop": None}, "up"),
        (ILL, {}, "degraded"),
        (GONE, {}, "degraded"),
        (None, {"shop": ILL}, "up"),
        (None, {"shop": None, "bank": GONE}, "degraded"),
    ],
)
async def test_what_a_capability_says_and_watches_is_reported(
    own: Health | None, elsewhere: dict[str, Health | None], status: str
) -> None:
    kind = type("Its", (Watcher,), {"own": own, "elsewhere": elsewhere})
    async with open_desk("capabilities.watcher={}", capabilities={"watcher": kind}) as guest:
        told = (await guest.send("GET", "/ready")).body
    assert (told["ready"], told["status"]) == (True, status)
    assert not any("gone" in note for note in told["notes"]) or own is GONE


@pytest.mark.sqlite
async def test_the_console_and_the_figures_tell_the_same(tmp_path: Path) -> None:
    async with talking(tmp_path) as desk, operating(desk.desk, tmp_path / "data") as operator:
        shown = await operator.get("health")
        assert shown["status"] == "up"
        told = parts(await ready(desk))
        assert [
            (one["name"], one["status"], one["since"], one["reason"], one["elsewhere"])
            for one in shown["data"]
        ] == [(name, "up", one["since"], "", False) for name, one in told.items()]
        runs = await desk.with_key("operator")
        async with runs.http.get("/metrics", headers=runs.credentials) as response:
            lines = (await response.text()).splitlines()
        for name in told:
            assert f'aitp_desk_component{{component="{name}",state="up"}} 1.0' in lines
            assert f'aitp_desk_component{{component="{name}",state="down"}} 0.0' in lines


async def test_nobody_reads_it_at_the_console_without_signing_in(desk: Talker) -> None:
    async with browsing(desk.desk) as nobody:
        assert (await nobody.send("GET", "health")).status == 401
