"""Prepaid calls over time: settlements told twice, what expires, agents, and desks killed."""

from __future__ import annotations

import asyncio
import http.client
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aitp_desk.desk.maintenance.expiry import Expiry
from tests.support.clients.threads import Talker, Told
from tests.support.desk.processes import desk_command, free_port, serving_process
from tests.support.doubles.agent import Clock
from tests.support.doubles.messages_api import Body, Reply, messages_api, use
from tests.support.payments.till_plugin import (
    NAME,
    OPEN_SECONDS,
    SECONDS,
    make_site,
    selling,
    sold,
    till_of,
)
from tests.support.plugins.packages import installed

SOLD_SECONDS = 120.0
"""What was at work when a desk was killed is taken up when its lease has ended."""


def part(**message: object) -> str:
    """A message of the till's, as a part."""
    return json.dumps({"$schema": NAME, **message})


async def quoted(who: Talker) -> dict[str, Any]:
    """Ask for a ticket, and return how it is paid."""
    asked = await who.send("POST", "/capabilities/buy_ticket", {"name": "Ada"})
    assert asked.status == 402, asked.body
    payment: dict[str, Any] = asked.body["payment"]
    return payment


async def until_state(who: Talker, call_id: str, state: str) -> None:
    """Wait until a call stands so."""
    async with asyncio.timeout(SECONDS):
        while (state,) not in who.rows(f"SELECT state FROM calls WHERE id = '{call_id}'"):
            await who.send("GET", "/health")


async def test_a_settlement_that_is_reported_twice_pays_once(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        payment = await quoted(ada)
        told = {"number": "h1"} | {name: payment[name] for name in ("quote_id", "thread_id")}
        answers = await asyncio.gather(
            *(desk.send("POST", "/hooks/till/bank", told) for _ in range(4))
        )
        assert {one.status for one in answers} <= {200, 204, 409}
        await until_state(ada, payment["call_id"], "succeeded")
        await desk.send("POST", "/hooks/till/bank", told)
        await desk.send("POST", "/hooks/till/bank", {**told, "number": "h2"})
        assert await till_of(desk).given_back(1) == [f"pay-{payment['quote_id']}-h2"]
        assert len(sold(site)) == 1


async def test_what_is_not_paid_in_time_expires_and_what_comes_late_goes_back(
    tmp_path: Path,
) -> None:
    site, clock = make_site(tmp_path), Clock()
    async with selling(tmp_path, site, clock=clock) as desk:
        ada = await desk.with_key("actions", "threads")
        late, later = await quoted(ada), await quoted(ada)
        clock.advance(OPEN_SECONDS + 1)
        waits = await ada.send("GET", f"/capabilities/buy_ticket/calls/{late['call_id']}")
        assert waits.ok["status"] == "pending"
        listed = await ada.send("GET", f"/v1/threads/{late['thread_id']}/requests")
        assert listed.ok["data"] == []

        # what was begun in time may settle a little later
        told = {"number": "h1"} | {name: late[name] for name in ("quote_id", "thread_id")}
        await desk.send("POST", "/hooks/till/bank", told)
        await until_state(ada, late["call_id"], "succeeded")

        clock.advance(60 * 60)
        assert await Expiry(desk.desk.store, 3600, clock).drop_expired() >= 1
        rows = desk.rows(f"SELECT state FROM calls WHERE id = '{later['call_id']}'")
        assert rows == [("expired",)]
        told = {"number": "h2"} | {name: later[name] for name in ("quote_id", "thread_id")}
        await desk.send("POST", "/hooks/till/bank", told)
        assert await till_of(desk).given_back(1) == [f"pay-{later['quote_id']}-h2"]
        assert len(sold(site)) == 1


async def test_a_repeat_is_told_that_its_quote_has_expired(tmp_path: Path) -> None:
    site, clock = make_site(tmp_path), Clock()
    async with selling(tmp_path, site, clock=clock) as desk:
        ada = await desk.with_key("actions", "threads")
        key = (("Idempotency-Key", "one-ticket"),)

        async def repeat() -> Told:
            return await ada.send("POST", "/capabilities/buy_ticket", {"name": "Ada"}, headers=key)

        first = await repeat()
        assert (await repeat()).body["payment"] == first.body["payment"]
        clock.advance(OPEN_SECONDS + 1)
        late = await repeat()
        assert (late.status, late.body["code"]) == (409, "precondition_failed")
        assert "has expired" in late.body["detail"]
        assert "new Idempotency-Key" in late.body["detail"]


async def test_an_agent_that_calls_has_its_visitor_asked_to_pay_once(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    asked: list[str] = []

    def answer(body: Body) -> Reply:
        asked.append(str(body["messages"]))
        return use("site_look_up", word="desk")

    async with (
        messages_api(answer) as api,
        selling(tmp_path, site, environment=api.environment) as desk,
    ):
        ada = await desk.with_key("actions", "threads")
        opened = await ada.open({"role": "user", "content": "What is a desk?"}, wait=30)
        assert opened.ok["run"]["status"] == "completed", opened.ok
        ((call_id, quote, state, price),) = desk.rows(
            "SELECT id, quote_id, state, price FROM calls"
        )
        assert (state, json.loads(price)["amount"]) == ("waiting_payment", "0.01")
        assert "Pay at the till" in (await ada.texts(opened.id))[-1]

        # a yes pays nothing, and a model that calls again has nothing quoted again
        said = await ada.post(opened.id, "Yes", wait=10)
        assert "It costs 0.01 EUR." in said.ok["replies"][-1]["content"][0]
        assert desk.rows("SELECT quote_id FROM calls") == [(quote,)]
        assert "Pay at the till" in asked[-1], "the agent reads in words what was asked"
        assert sold(site) == []

        await ada.post(opened.id, [part(payment={"quote_id": quote, "token": "good"})])
        await until_state(ada, call_id, "succeeded")
        assert sold(site) == ["looked up desk"]


def send(url: str, path: str, body: object) -> tuple[int, Any]:
    """Send one request to a desk in a separate process."""
    address = urlsplit(url)
    line = http.client.HTTPConnection(address.hostname or "", address.port or 0, timeout=30)
    with closing(line):
        line.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read() or b"null")


@pytest.mark.servers
def test_a_desk_that_is_killed_after_it_was_paid_does_what_was_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, data = make_site(tmp_path), tmp_path / "data"
    package = tmp_path / "package"
    package.mkdir()
    root = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", f"{package}:{root}")
    cycles, log = 4, tmp_path / "log.txt"
    with installed(package, {}, {"till": "tests.support.payments.till_plugin:Till"}):
        for n in range(cycles):
            port = free_port()
            command = desk_command(data, port, folder=site)
            with serving_process(command, port, log=log) as desk:
                status, asked = send(desk.url, "/capabilities/look_at", {"picture": f"sky {n}"})
                assert status == 402, asked
                payment = asked["payment"]
                pays = part(payment={"quote_id": payment["quote_id"], "token": "good"})
                where = f"/v1/threads/{payment['thread_id']}/messages"
                status, said = send(desk.url, where, {"role": "user", "content": [pays]})
                assert status == 200, said
                desk.kill()
        (site / "light").touch()
        port = free_port()
        command = desk_command(data, port, folder=site)
        with serving_process(command, port, log=tmp_path / "log.txt") as desk:
            wanted = {f"looked at sky {n}" for n in range(cycles)}
            ends_at = time.monotonic() + SOLD_SECONDS
            while set(sold(site)) != wanted and time.monotonic() < ends_at:
                send(desk.url, "/capabilities/look_at", {"picture": "wait"})
            assert desk.stop() == 0
    assert sorted(sold(site)) == sorted(wanted)
    with closing(sqlite3.connect(data / "desk.db")) as database:
        paid = database.execute("SELECT state FROM calls WHERE payment LIKE '%pay-%'").fetchall()
        back = database.execute("SELECT ref FROM jobs WHERE kind = 'till.refund'").fetchall()
    assert paid == [("succeeded",)] * cycles
    assert back == []
