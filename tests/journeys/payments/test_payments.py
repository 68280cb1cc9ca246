"""Calls that are paid by the payments that come with the desk, over HTTP, by agents and people."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.capability import Delivery, Effect
from aitp_desk.cli.extension import have_done
from aitp_payments.ledger.accounts import Account, digest, open_account, plain_code
from aitp_payments.ledger.journal import move, post
from aitp_payments.ledger.purses import Purse, open_purse
from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.signatures import PREFIX, sign, verifies, write_key
from aitp_payments.money import counted
from aitp_payments.records import After
from aitp_payments.settlement.approval import NO_CODE
from tests.support.clients.ahp import Visitor
from tests.support.clients.threads import Talker
from tests.support.doubles.agent import ScriptedAgent
from tests.support.payments.till_plugin import make_site, selling, sold

SECONDS = 60
CODE = "SC-7K2QX-00000-11111-22222"
KEY = Ed25519PrivateKey.from_private_bytes(b"a payer's private key, 32 bytes.")
SETTINGS = '[capabilities.payments]\nmerchant_id = "tickets.example"\nrevenue_share_bps = 200\n'


def fund(data: Path, *, channel: str = "60") -> None:
    """Have a payer with a channel, and a caller with a code of store credit."""

    def judge(books: Delivery) -> Sequence[Effect]:
        effects: list[Effect] = []
        key = write_key(KEY.public_key()).removeprefix(PREFIX).rstrip("=")
        code = digest(plain_code(CODE) or "")
        for account in (
            Account(id="acct_ada", opened_at=books.now, keys=(key.translate(_URL),)),
            Account(id="acct_gift", opened_at=books.now, code=code),
        ):
            legs = move("outside:cash", account.id, "EUR", counted("100"))
            effects += open_account(account)
            effects += post(f"credit:{account.id}", legs, kind="credit", at=books.now)
        purse = Purse(
            id="ch_1", kind="channel", account="acct_ada", currency="EUR", opened_at=books.now
        )
        return (*effects, *open_purse(After(books, effects), purse, counted(channel)))

    have_done(data, "sqlite:desk.db", "payments", judge)


_URL = str.maketrans("+/", "-_")


async def quoted(who: Talker, action: str = "buy_ticket", **arguments: Any) -> dict[str, Any]:
    """Ask for something that is paid first, and return how."""
    asked = await who.send("POST", f"/capabilities/{action}", arguments)
    assert asked.status == 402, asked.body
    payment: dict[str, Any] = asked.body["payment"]
    return payment


def payment(quote: Mapping[str, Any], **method: str) -> dict[str, Any]:
    """A payment of a quote from the channel, signed."""
    (option,) = quote["payment_options"]
    paid = {
        "quote_id": quote["quote_id"],
        "payment_method": {
            "type": "near_payment_channel",
            "token": "ledger:EUR",
            "channel_id": "ch_1",
            "amount": option["amount"],
            "currency": "EUR",
            **method,
        },
        "payer_id": "user.near",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    return sign(KEY, paid, "payer_signature")


async def until(who: Talker, call_id: str, action: str = "buy_ticket") -> Any:
    """How a call has ended, once it has."""
    async with asyncio.timeout(SECONDS):
        while True:
            told = await who.send("GET", f"/capabilities/{action}/calls/{call_id}")
            if told.ok["status"] not in {"pending", "accepted"}:
                return told.ok


async def parts(who: Talker, thread: str) -> list[Any]:
    """What was said on a thread, messages as objects."""
    return [json.loads(text) if text.startswith("{") else text for text in await who.texts(thread)]


async def holds(who: Talker, account: str) -> Decimal:
    """What an account holds, as it is on disk."""
    rows = who.rows(
        "SELECT value FROM capability_counters"
        f" WHERE capability = 'payments' AND key = 'balance:EUR:{account}'"
    )
    return Decimal(rows[0][0]) / 1_000_000 if rows else Decimal(0)


async def test_an_agent_calls_and_pays_from_its_channel_in_one_request(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        agent = await desk.with_key("actions", "threads")
        told = await quoted(agent, name="Ada")
        quote = told["message"]["quote"]
        assert quote["merchant_id"] == "tickets.example"
        (key,) = (await desk.send("GET", "/capabilities/payments/jwks.json")).ok["keys"]
        assert verifies(key["x"], quote, "merchant_signature")
        paid = {"name": "Ada", "_payment": {"payment": payment(quote)}}
        bought = await agent.send("POST", "/capabilities/buy_ticket", paid)
        assert bought.status == 200, bought.body
        again = await agent.send("POST", "/capabilities/buy_ticket", paid)
        assert again.body == bought.body
        assert len(sold(site)) == 1
        assert await holds(desk, "merchant") == 5
        assert await holds(desk, "channel:ch_1") == 55


async def test_an_agent_that_knows_aitp_alone_is_spoken_to_in_its_published_words(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data", channel="4.50")
        agent = await desk.with_key("actions", "threads")
        actor = {"id": "https://agent.example", "capabilities": [{"schema": PUBLISHED}]}
        thread = (await agent.open(metadata={"actors": [actor]})).id
        told = await quoted(agent, name="Ada")
        await agent.send("POST", f"/v1/threads/{told['thread_id']}/actors", actor)
        thread = told["thread_id"]
        message = {"$schema": PUBLISHED, "payment": payment(told["message"]["quote"])}
        await agent.post(thread, json.dumps(message))
        *_, failed, lacking = await parts(agent, thread)
        assert failed["$schema"] == lacking["$schema"] == PUBLISHED
        assert failed["payment_confirmation"]["result"] == "failure"
        assert lacking["top_up_request"]["amount"] == "0.50"
        response = {
            "channel_id": "ch_1",
            "amount": "0.50",
            "currency": "EUR",
            "payer_id": "user.near",
            "timestamp": "2027-01-15T08:01:00Z",
        }
        signed = sign(KEY, response, "payer_signature")
        await agent.post(thread, json.dumps({"$schema": PUBLISHED, "top_up_response": signed}))
        await agent.post(thread, json.dumps(message))
        assert (await until(agent, told["call_id"]))["status"] == "success"
        confirmed = [
            one["payment_confirmation"]["result"]
            for one in await parts(agent, thread)
            if isinstance(one, dict) and "payment_confirmation" in one
        ]
        assert confirmed == ["failure", "success"]


async def test_a_person_pays_by_words_with_store_credit_and_the_code_is_nowhere(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        ada = await desk.with_key("actions", "threads")
        told = await quoted(ada, name="Ada")
        thread = told["thread_id"]
        (asked,) = await ada.texts(thread)
        assert "5.00 EUR, to be paid first." in asked
        await ada.post(thread, f"pay with {CODE}")
        assert (await until(ada, told["call_id"]))["status"] == "success"
        assert (await ada.texts(thread))[1:] == [
            "I pay.",
            "Paid: 5.00 EUR. Thank you.",
            "A ticket for Ada.",
        ]
        assert await holds(desk, "acct_gift") == 95
        dump = (tmp_path / "data" / "desk.db").read_bytes()
        wal = tmp_path / "data" / "desk.db-wal"
        dump += wal.read_bytes() if wal.exists() else b""
        assert CODE.encode() not in dump
        assert (plain_code(CODE) or "").encode() not in dump


async def test_a_no_after_a_payment_that_was_refused_declines(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data", channel="1")
        ada = await desk.with_key("actions", "threads")
        by_words, by_message = await quoted(ada, name="Ada"), await quoted(ada, name="Bob")
        await ada.post(by_words["thread_id"], "pay SC-00000-00000-00000-00000")
        message = {
            "$schema": by_message["message"]["$schema"],
            "payment": payment(by_message["message"]["quote"]),
        }
        await ada.post(by_message["thread_id"], json.dumps(message))
        for told in (by_words, by_message):
            refused = await ada.texts(told["thread_id"])
            assert not refused[-1].startswith("Paid"), refused
            said = (await ada.post(told["thread_id"], "No.", wait=20)).ok
            assert replies_of(said) == ["Nothing was done."]
            assert (await until(ada, told["call_id"]))["status"] == "failed"
        assert sold(site) == []


async def test_a_decline_after_the_payment_is_stored_as_rejected(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        ada = await desk.with_key("actions", "threads")
        told = await quoted(ada, name="Ada")
        declined = {"quote_id": told["quote_id"]}
        message = {"$schema": told["message"]["$schema"], "decline_quote": declined}
        await ada.post(told["thread_id"], f"pay with {CODE}", wait=20)
        await ada.post(told["thread_id"], json.dumps(message))
        texts = await ada.texts(told["thread_id"])
        assert "I do not pay." not in texts
        assert texts[-2:] == ["Rejected: I do not pay.", "This quote was already paid."]
        reader = {"id": "https://ada.example", "capabilities": [{"schema": message["$schema"]}]}
        await ada.send("POST", f"/v1/threads/{told['thread_id']}/actors", reader)
        rejected = [one for one in await ada.texts(told["thread_id"]) if "rejected_decline" in one]
        assert json.loads(rejected[-1])["rejected_decline"] == {
            **declined,
            "reason": "answered",
            "message": "This quote was already paid.",
        }
        forged = await ada.post(told["thread_id"], rejected[-1])
        assert forged.refusal[:2] == (403, "forbidden")


async def test_a_caller_who_waits_with_a_payment_gets_its_outcome(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        ada = await desk.with_key("actions", "threads")
        told = await quoted(ada, name="Ada")
        thread = told["thread_id"]
        refused = (await ada.post(thread, "pay SC-00000-00000-00000-00000", wait=20)).ok
        assert refused["run"] is None
        assert replies_of(refused) == [NO_CODE]
        request = {"role": "user", "content": f"pay with {CODE}"}
        headers = [("Prefer", "wait=20"), ("Idempotency-Key", "ada-pays-for-her-ticket")]
        for _ in range(2):
            path = f"/v1/threads/{thread}/messages"
            paid = (await ada.send("POST", path, request, headers=headers)).ok
            assert replies_of(paid) == ["Paid: 5.00 EUR. Thank you.", "A ticket for Ada."]
        assert len(sold(site)) == 1
        answered = await quoted(ada, name="Bob")
        path = f"/v1/threads/{answered['thread_id']}/requests/payments/{answered['quote_id']}"
        given = {"answer": "pay", "code": CODE}
        filled = (await ada.send("POST", path, given, headers=[("Prefer", "wait=20")])).ok
        assert replies_of(filled) == ["Paid: 5.00 EUR. Thank you.", "A ticket for Bob."]


def replies_of(posted: Mapping[str, Any]) -> list[str]:
    """What the desk replied, in words."""
    return [text for one in posted["replies"] for text in one["content"]]


async def test_a_code_that_is_sent_where_it_pays_nothing_is_not_kept_either(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        ada = await desk.with_key("actions", "threads")
        told = await quoted(ada, name="Ada")
        schema = f"{desk.desk.url}/capabilities/payments/v1/schema.json"
        for method in ("stripe", "x402", "near_payment_channel"):
            approval = {"quote_id": told["quote_id"], "method": method, "code": CODE}
            message = json.dumps({"$schema": schema, "approve_quote": approval})
            assert (await ada.post(told["thread_id"], message)).status == 200
        kept = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("desk.db*"))
        assert CODE.encode() not in kept
        assert await holds(desk, "acct_gift") == 100


async def test_a_code_that_is_said_where_nothing_waits_reaches_nobody(tmp_path: Path) -> None:
    site, agent = make_site(tmp_path, settings=SETTINGS), ScriptedAgent()
    async with selling(tmp_path, site, agent=agent) as desk:
        ada = await desk.with_key("actions", "threads")
        words = f"pay {CODE}"
        opened = await ada.open({"role": "user", "content": words}, wait=20)
        await ada.post(opened.id, [words, "please"], wait=20)
        more = [{"role": "user", "content": words}]
        said = {"assistant_id": "scripted", "additional_messages": more}
        run = await ada.send("POST", f"/v1/threads/{opened.id}/runs", said)
        assert run.status in {200, 404}, run.body
        visitor = Visitor(desk.desk, desk.http)
        first = await visitor.ask(words, "content_search")
        second = await visitor.ask(words, "content_search", session_id=first.session_id)
        assert {first.status, second.status} == {200}
        told = await ada.texts(opened.id)
        assert told[0] == "pay SC-…"
        await desk.desk.store.settled()
        kept = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("desk.db*"))
        asked = [*told, *map(repr, agent.turns)]
        assert len(agent.turns) >= 4
        for spelled in (CODE, plain_code(CODE) or "", CODE.removeprefix("SC-")):
            assert spelled.encode() not in kept
            assert not any(spelled in one for one in asked)


async def test_codes_are_not_guessed_faster_than_people_type(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site, "limits.enabled=true") as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        ada, bob = [await desk.with_key("actions", "threads") for _ in range(2)]
        told = await quoted(ada, name="Ada")
        statuses = [
            (await ada.post(told["thread_id"], f"pay SC-0000{number}-00000-00000-00000")).status
            for number in range(10)
        ]
        assert statuses == [200] * 10
        refused = await ada.post(told["thread_id"], f"pay {CODE}")
        assert refused.status == 429
        assert int(refused.headers["Retry-After"]) >= 1
        assert "invalid codes" in refused.body["error"]["message"]
        path = f"/v1/threads/{told['thread_id']}/requests/payments/{told['quote_id']}"
        form = await ada.send("POST", path, {"answer": "pay", "code": CODE})
        assert form.status == 429
        assert await holds(desk, "acct_gift") == 100
        other = await quoted(bob, name="Bob")
        paid = (await bob.post(other["thread_id"], f"pay {CODE}", wait=20)).ok
        assert replies_of(paid) == ["Paid: 5.00 EUR. Thank you.", "A ticket for Bob."]


async def test_a_person_fills_in_the_form_or_says_no(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        ada = await desk.with_key("actions", "threads")
        told = await quoted(ada, name="Ada")
        path = f"/v1/threads/{told['thread_id']}/requests"
        (request,) = (await ada.send("GET", path)).ok["data"]
        assert request["form"]["properties"]["answer"]["title"] == "Pay 5.00 EUR?"
        answer = {"answer": "pay", "code": CODE}
        answered = await ada.send("POST", f"{path}/payments/{told['quote_id']}", answer)
        assert answered.status == 200, answered.body
        assert (await until(ada, told["call_id"]))["status"] == "success"
        other = await quoted(ada, name="Eve")
        await ada.post(other["thread_id"], "no")
        assert (await until(ada, other["call_id"]))["status"] != "success"
        assert len(sold(site)) == 1


async def test_what_fails_after_it_was_paid_goes_back_with_the_shares(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        agent = await desk.with_key("actions", "threads")
        told = await quoted(agent, name="Nobody")
        paid = {"name": "Nobody", "_payment": {"payment": payment(told["message"]["quote"])}}
        bought = await agent.send("POST", "/capabilities/buy_ticket", paid)
        assert bought.status >= 400
        async with asyncio.timeout(SECONDS):
            while await holds(desk, "channel:ch_1") != 60:
                await desk.send("GET", "/health")
        assert await holds(desk, "merchant") == 0


async def test_two_payments_of_one_quote_at_once_from_two_threads_settle_once(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        await asyncio.to_thread(fund, tmp_path / "data")
        agent = await desk.with_key("actions", "threads")
        told = await quoted(agent, name="Ada")
        first = payment(told["message"]["quote"])
        second = payment(told["message"]["quote"], amount="5.0")
        threads = [told["thread_id"], (await agent.open()).id]
        messages = [json.dumps({"$schema": PUBLISHED, "payment": one}) for one in (first, second)]
        await asyncio.gather(*map(partial(agent.post), threads, messages))
        assert (await until(agent, told["call_id"]))["status"] == "success"
        assert await holds(desk, "merchant") == 5
        assert len(sold(site)) == 1


@pytest.mark.parametrize("settings", ["[capabilities.requests]\n"])
async def test_a_desk_that_cannot_be_paid_does_not_sell(tmp_path: Path, settings: str) -> None:
    from aitp_desk.config import ConfigError

    site = make_site(tmp_path, settings=settings)
    with pytest.raises(ConfigError, match=r"add a section \[capabilities.payments\]"):
        async with selling(tmp_path, site):
            pass


async def test_what_a_quote_describes_goes_with_its_thread(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        ada = await desk.with_key("actions", "threads")
        asked = await quoted(ada, name="Qwertine")
        quote_id, thread = asked["quote_id"], asked["thread_id"]
        assert "Qwertine" in asked["message"]["quote"]["description"]
        assert (await ada.send("DELETE", f"/v1/threads/{thread}")).status == 200
        rows = ada.rows("SELECT key, value FROM capability_records WHERE capability = 'payments'")
        assert f"quote:{quote_id}" in dict(rows)
        assert "Qwertine" not in json.dumps(rows)


async def test_ways_that_a_site_has_not_enabled_fail_in_words_of_their_own(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        agent = await desk.with_key("actions", "threads")
        told = await quoted(agent, name="Ada")
        quote_id, schema = told["quote_id"], told["message"]["$schema"]
        coins = {"x402Version": 2, "accepted": {"extra": {"quote_id": quote_id}}, "payload": {}}
        for given in (
            {"card_payment": {"quote_id": quote_id, "payment_method": "pm_card_visa"}},
            {"x402_payment": {"payload": coins}},
            {"x402_payment": {"payload": {}, "quote_id": quote_id}},
        ):
            await agent.post(told["thread_id"], [json.dumps({"$schema": schema} | given)])
            said = await agent.texts(told["thread_id"])
            assert said[-1].startswith("This quote cannot be paid in this way")
        nothing = {"$schema": schema, "x402_payment": {"payload": {}}}
        await agent.post(told["thread_id"], [json.dumps(nothing)])
        assert (await agent.texts(told["thread_id"]))[-1] == "This quote does not exist."
        assert sold(site) == []
