"""Work in the background goes on, whatever fails."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from structlog.testing import capture_logs

from aitp_desk.desk.jobs import background_task
from aitp_desk.desk.jobs.background_task import keep_running, repeat


async def test_endless_work_that_fails_is_begun_again_and_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background_task, "AGAIN_SECONDS", 0)
    goes_on = asyncio.Event()
    beginnings: list[int] = []

    async def review() -> None:
        beginnings.append(len(beginnings))
        if len(beginnings) < 3:
            raise LookupError("a secret of somebody")
        goes_on.set()
        await asyncio.Event().wait()

    with capture_logs() as logs:
        async with keep_running(review):
            await goes_on.wait()
    assert beginnings == [0, 1, 2]
    assert [(line["event"], line["reason"]) for line in logs] == [
        ("background_failed", "LookupError")
    ] * 2
    assert all(line["work"].endswith("review") for line in logs)
    assert "secret" not in str(logs)


async def test_the_log_names_the_work_that_is_repeated() -> None:
    failed = asyncio.Event()

    async def exchange() -> None:
        failed.set()
        raise LookupError

    with capture_logs() as logs:
        async with keep_running(partial(repeat, exchange, 0)):
            await failed.wait()
            await asyncio.sleep(0)
    assert [line["work"].rpartition(".")[2] for line in logs] == ["exchange"]
