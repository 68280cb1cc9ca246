"""Calls that are paid before they are made: quoted on a thread, paid there, and made once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from aitp_desk.config import ConfigError
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.direct.calls import DirectCall
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.errors import PaymentRequired, PreconditionFailed
from aitp_desk.testing import CapabilityContract
from tests.support.clients.threads import Talker, Told
from tests.support.desk.command import run
from tests.support.desk.terminal import command
from tests.support.payments.till_plugin import (
    NAME,
    SECONDS,
    Till,
    make_site,
    selling,
    sold,
    till_of,
)


def part(**message: object) -> str:
    """A message of the till's, as a part."""
    return json.dumps({"$schema": NAME, **message})


class TestTill(CapabilityContract):
    """It keeps the contract of all capabilities, which a settlement is among."""

    capability = Till
    examples: ClassVar = {
        1: [
            {"quote": {"quote_id": "q-1", "amount": "5.00", "currency": "EUR"}},
            {"payment": {"quote_id": "q-1", "token": "good"}},
            {"x402_payment": {"payload": {"nonce": "n", "token": "good"}}},
            {"decline": {"quote_id": "q-1"}},
            {"receipt": {"quote_id": "q-1", "result": "paid"}},
        ]
    }


async def buy(who: Talker, name: str = "Ada", **more: Any) -> Told:
    return await who.send("POST", "/capabilities/buy_ticket", {"name": name, **more})


async def quoted(who: Talker, name: str = "Ada") -> tuple[str, str, str]:
    """Ask for a ticket, and return the ids of call, thread and quote."""
    asked = await buy(who, name)
    assert asked.status == 402, asked.body
    payment = asked.body["payment"]
    return payment["call_id"], payment["thread_id"], payment["quote_id"]


async def ended(who: Talker, call_id: str, name: str = "buy_ticket") -> Any:
    """How a call has ended, once it has."""
    async with asyncio.timeout(SECONDS):
        while True:
            told = await who.send("GET", f"/capabilities/{name}/calls/{call_id}")
            if told.ok["status"] not in {"pending", "accepted"}:
                return told.ok


async def until_state(who: Talker, call_id: str, state: str) -> None:
    """Wait until a call stands so."""
    async with asyncio.timeout(SECONDS):
        while (state,) not in who.rows(f"SELECT state FROM calls WHERE id = '{call_id}'"):
            await who.send("GET", "/health")


async def until_said(who: Talker, thread: str, text: str) -> None:
    """Wait until something is said on a thread."""
    async with asyncio.timeout(SECONDS):
        while text not in await who.texts(thread):
            pass


async def until_refunded(who: Talker, count: int) -> list[str]:
    """What the till has given back, once it is so much."""
    return await till_of(who).given_back(count)


async def test_a_call_waits_for_its_payment_and_is_made_once_it_is_paid(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        call_id, thread, quote = await quoted(ada)
        assert sold(site) == []
        waits = await ada.send("GET", f"/capabilities/buy_ticket/calls/{call_id}")
        assert waits.ok["status"] == "pending"
        (asked,) = await ada.texts(thread)
        assert asked == "Sells a ticket: name “Ada”. 5.00 EUR. Pay at the till, or say no."

        await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        done = await ended(ada, call_id)
        assert done["status"] == "success"
        assert sold(site) == [f"{call_id} Ada"]
        told = await ada.texts(thread)
        assert told[2:] == ["The till says: paid.", "A ticket for Ada."]
        assert till_of(desk).refunded == []


async def test_a_stranger_buys_what_is_open_to_anyone_and_gets_nothing_free(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as stranger:
        asked = await stranger.send("POST", "/capabilities/buy_badge", {"name": "Ada"})
        assert asked.status == 402, asked.body
        call_id, thread, quote = (
            asked.body["payment"][one] for one in ("call_id", "thread_id", "quote_id")
        )
        assert sold(site) == []
        bad = part(payment={"quote_id": quote, "token": "bad"})
        await stranger.post(thread, [bad])
        assert sold(site) == []
        await stranger.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        assert (await ended(stranger, call_id, "buy_badge"))["status"] == "success"
        assert sold(site) == ["badge Ada"]

        free = await stranger.send("POST", "/capabilities/buy_badge", {"name": "Staff"})
        assert (free.status, free.body["code"]) == (401, "not_authenticated")
        said = await stranger.open("A badge for Staff, please.", wait=20, action="buy_badge")
        assert sold(site) == ["badge Ada"], said
        known = await stranger.with_key("actions")
        given = await known.send("POST", "/capabilities/buy_badge", {"name": "Staff"})
        assert given.ok["status"] == "success", "a key with the scope needs no payment of nothing"
        assert sold(site) == ["badge Ada", "badge Staff"]


async def test_paying_twice_makes_the_call_once_and_the_second_payment_goes_back(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        call_id, thread, quote = await quoted(ada)
        first = part(payment={"quote_id": quote, "token": "good", "number": "1"})
        second = part(payment={"quote_id": quote, "token": "again", "number": "2"})
        await asyncio.gather(ada.post(thread, [first]), ada.post(thread, [second]))
        await ended(ada, call_id)
        back = await until_refunded(desk, 1)
        assert sold(site) == [f"{call_id} Ada"]
        assert len(back) == 1


@pytest.mark.parametrize("token", ["later", "unsure"])
async def test_what_settles_later_has_the_call_made_then(tmp_path: Path, token: str) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        call_id, thread, quote = await quoted(ada)
        await ada.post(thread, [part(payment={"quote_id": quote, "token": token})])
        if token == "unsure":
            assert sold(site) == []
            body = {"quote_id": quote, "number": "h1", "thread_id": thread}
            assert (await desk.send("POST", "/hooks/till/bank", body)).status in {200, 204}
        assert (await ended(ada, call_id))["status"] == "success"
        assert sold(site) == [f"{call_id} Ada"]


async def test_what_fails_after_it_was_paid_goes_back(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        call_id, thread, quote = await quoted(ada, "Nobody")
        await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        assert (await ended(ada, call_id))["status"] == "failed"
        assert await until_refunded(desk, 1) == [f"pay-{quote}-good"]

        call_id, thread, quote = await quoted(ada)
        (site / "closed").touch()
        await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        gone = await ended(ada, call_id)
        assert (gone["status"], gone["error"]["message"]) == ("failed", "Tickets are sold out.")
        assert len(await until_refunded(desk, 2)) == 2
        assert sold(site) == []


async def test_who_declines_pays_nothing_and_what_is_paid_after_that_goes_back(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        call_id, thread, quote = await quoted(ada)
        said = await ada.post(thread, "No.", wait=5)
        assert said.ok["replies"][-1]["content"] == ["Nothing was done."]
        assert (await ended(ada, call_id))["status"] == "failed"
        await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        assert await until_refunded(desk, 1) == [f"pay-{quote}-good"]
        assert sold(site) == []


@pytest.mark.parametrize("by", ["thread", "caller", "deleting"])
async def test_what_is_erased_while_it_is_at_work_asks_people_to_see_to_its_money(
    tmp_path: Path, by: str
) -> None:
    site, data = make_site(tmp_path), tmp_path / "data"
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        asked = await ada.send("POST", "/capabilities/look_at", {"picture": "Qwertine"})
        told = asked.body["payment"]
        call_id, thread, quote = told["call_id"], told["thread_id"], told["quote_id"]
        await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        begun = f"SELECT attempts FROM jobs WHERE ref = '{call_id}' AND attempts > 0"
        async with asyncio.timeout(SECONDS):
            while not ada.rows(begun):
                await ada.send("GET", "/health")
        ((principal,),) = ada.rows(f"SELECT principal FROM calls WHERE id = '{call_id}'")
        whose = {"thread": ("--thread", thread), "caller": ("--actor", principal)}
        for _ in range(2):
            if by == "deleting":
                await ada.send("DELETE", f"/v1/threads/{thread}")
            else:
                await asyncio.to_thread(command, "erase", "--data", data, *whose[by])
        (ticket,) = ada.rows("SELECT about, note, thread_id, principal, state FROM tickets")
        about, note, *bare, state = ticket
        assert about == "Was look_at done? The paid call was erased while it was running."
        assert f"pay-{quote}-good" in note
        assert "Qwertine" not in str(ticket)
        assert bare == [None, None]
        assert state == "open"
        (site / "light").touch()
        await until_state(ada, call_id, "unknown")
        assert till_of(desk).refunded == []


async def test_a_no_after_money_that_never_came_declines(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        call_id, thread, quote = await quoted(ada)
        await ada.post(thread, [part(payment={"quote_id": quote, "token": "lost"})])
        await until_said(ada, thread, "The till says: refused: it was lost.")
        said = await ada.post(thread, "No.", wait=5)
        assert said.ok["replies"][-1]["content"] == ["Nothing was done."]
        assert (await ended(ada, call_id))["status"] == "failed"


async def test_what_is_prepaid_is_not_served_where_nothing_takes_payments(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings="")
    with pytest.raises(ConfigError) as refused:
        async with selling(tmp_path, site):
            pass
    told = [str(problem) for problem in refused.value.problems]
    assert len(told) == 5
    assert "'buy_ticket' is prepaid, but no capability accepts payments of 5.00 EUR" in told[0]
    assert "[capabilities.payments]" in told[0]


async def look_up(
    desk: Talker, word: str, payment: dict[str, Any] | None = None, key: str | None = None
) -> CallStatus:
    """Call by name and arguments, without a credential, and a payment presented with that."""
    asked = DirectCall("look_up", {"word": word}, payment=payment)
    request = RequestInfo("POST", "/capabilities/look_up", b"", key)
    return await desk.desk.desk.direct_calls.call(make_anonymous("127.0.0.1"), asked, request)


def x402(nonce: str, token: str = "good", quote_id: str = "") -> dict[str, Any]:
    accepted = {"extra": {"quote_id": quote_id}} if quote_id else {}
    payload = {"accepted": accepted, "nonce": nonce, "token": token}
    return {"x402_payment": {"payload": payload}}


async def test_a_payment_presented_with_a_call_gives_its_result_and_so_does_a_repeat(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        with pytest.raises(PaymentRequired) as required:
            await look_up(desk, "desk")
        terms = required.value.terms
        assert terms is not None
        payment = {"payment": {"quote_id": terms.quote_id, "token": "good"}}
        for _ in range(2):
            status = await look_up(desk, "desk", payment)
            assert status.call.id == required.value.call_id
            assert (status.call.state.value, status.call.text) == ("succeeded", "desk is a word.")
        with pytest.raises(PreconditionFailed):
            await look_up(desk, "chair", payment)
        other = {"payment": {"quote_id": terms.quote_id, "token": "good", "number": "9"}}
        with pytest.raises(PreconditionFailed, match="paid by another payment"):
            await look_up(desk, "desk", other)
    async with selling(tmp_path, site) as desk:
        again = await look_up(desk, "desk", payment)
        assert again.call.text == "desk is a word."
    assert sold(site) == ["looked up desk"]


async def test_what_does_not_pay_is_refused_with_the_reason_and_can_be_set_right(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        with pytest.raises(PaymentRequired) as required:
            await look_up(desk, "desk")
        assert required.value.terms is not None
        quote = required.value.terms.quote_id
        for token in ("bad", "lost"):
            with pytest.raises(PaymentRequired) as refused:
                await look_up(desk, "desk", {"payment": {"quote_id": quote, "token": token}})
            assert refused.value.message.startswith("The till says: refused: ")
            assert refused.value.terms is not None
            assert refused.value.terms.quote_id != quote
        status = await look_up(desk, "desk", x402("n1", quote_id=quote))
        assert status.call.text == "desk is a word."
    assert sold(site) == ["looked up desk"]


async def test_a_session_asks_for_the_payment_and_takes_a_no(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        body = {"ahp": "0.1", "capability": "buy_ticket", "query": "A ticket, name: Ada"}
        asked = (await ada.send("POST", "/agent/converse", body)).ok
        assert asked["status"] == "clarification_needed"
        thread = await ada.thread_of(asked["session_id"])
        ((call_id, quote),) = ada.rows("SELECT id, quote_id FROM calls")
        body |= {"session_id": asked["session_id"]}

        # a yes pays nothing, and asks for nothing again
        told = (await ada.send("POST", "/agent/converse", {**body, "query": "yes"})).ok
        assert told["status"] == "clarification_needed"
        assert "5.00 EUR" in told["clarification_question"]
        assert ada.rows("SELECT quote_id FROM calls") == [(quote,)]
        assert sold(site) == []

        await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        await until_said(ada, thread, "A ticket for Ada.")
        assert sold(site) == [f"{call_id} Ada"]

        body |= {"query": "A ticket, name: Bob"}
        again = (await ada.send("POST", "/agent/converse", body)).ok
        assert again["status"] == "clarification_needed", again
        no = (await ada.send("POST", "/agent/converse", {**body, "query": "no"})).ok
        assert no["response"]["answer"] == "Nothing was done."
        states = ada.rows("SELECT state FROM calls ORDER BY created_at, id")
        assert states == [("succeeded",), ("failed",)]


async def test_who_deletes_a_thread_before_it_is_done_gets_the_money_back(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        asked = await ada.send("POST", "/capabilities/book_hall", {"day": "Monday"})
        payment = asked.body["payment"]
        thread, quote = payment["thread_id"], payment["quote_id"]
        await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
        await until_state(ada, payment["call_id"], "waiting_approval")
        assert sold(site) == [], "a person approves it after it was paid"
        assert (await ada.send("DELETE", f"/v1/threads/{thread}")).status == 200
        assert await until_refunded(desk, 1) == [f"pay-{quote}-good"]


@pytest.mark.slow
async def test_what_a_person_approves_is_done_and_what_one_declines_goes_back(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        at, quote = ("--data", tmp_path / "data"), ""
        for day in ("Monday", "Tuesday"):
            asked = await ada.send("POST", "/capabilities/book_hall", {"day": day})
            payment = asked.body["payment"]
            call_id, thread, quote = (payment[n] for n in ("call_id", "thread_id", "quote_id"))
            await ada.post(thread, [part(payment={"quote_id": quote, "token": "good"})])
            await until_state(ada, call_id, "waiting_approval")
            ((ticket,),) = ada.rows("SELECT id FROM tickets WHERE state = 'open'")
            verb = "approve" if day == "Monday" else "decline"
            code, _, wrong = await run("tickets", verb, *at, ticket, "--as", "anna")
            assert code == 0, wrong
            end = await ended(ada, call_id, "book_hall")
            assert end["status"] == ("success" if day == "Monday" else "failed")
        assert await until_refunded(desk, 1) == [f"pay-{quote}-good"]
        assert sold(site) == ["hall Monday"]
