"""Signing over HTTP: who is asked signs, the desk signs what it may, and a yes may be signed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.agent.base import Answer, Turn
from aitp_desk.config import ConfigError
from aitp_sign.evm import wallet as evm_wallet
from aitp_sign.evm.eip712 import TypedData
from aitp_sign.keys.encodings import from_base64url, to_base58, to_base64, to_base64url
from aitp_sign.keys.jws import Jwk
from aitp_sign.messages import Signature
from aitp_sign.near import wallet as near_wallet
from aitp_sign.proof import Expected, prove
from aitp_sign.subjects import Typed, told_until
from tests.support.access.signatures import (
    ALICE,
    MAIL,
    ORDER,
    key_of,
    sign,
    sign_request,
    statement_of,
)
from tests.support.clients.operator import Operator, operating, write_site
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.seller import part_of, said
from tests.support.plugins.trade import principal_of
from tests.support.sites import orders
from tests.support.sites.orders import calling

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLUG = "aitp.dev/sign"
WALLETS = ("near-wallet", "evm-wallet")
POLICY = """
[capabilities.sign]
[[capabilities.sign.policy]]
callers = ["*"]
schemes = ["jws"]
text = 'I sell the tent \\w+\\.'
per_day = 2
"""


class Ground(msgspec.Struct):
    """A desk that signs, a caller who talks to it, and an operator."""

    desk: Talker
    anna: Operator


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    folder = tmp_path_factory.mktemp("desk")
    site = write_site(folder)
    toml = site / "desk.toml"
    toml.write_text(f"{toml.read_text('utf-8')}{POLICY}", encoding="utf-8")
    async with (
        talking(folder, site=site, agent=ScriptedAgent()) as talker,
        operating(talker.desk, folder / "data", "anna") as anna,
    ):
        yield Ground(talker, anna)


def noted(desk: Talker, who: Talker) -> list[tuple[str, str]]:
    """What the audit log says that a caller did."""
    key = (who.key or "").split("_")[1]
    statement = f"SELECT action, object FROM audit WHERE principal = 'key:{key}' ORDER BY n"
    return [tuple(row) for row in desk.rows(statement)]


def message(**content: Any) -> str:
    return part_of(SLUG, content)


async def open_thread(guest: Talker, *schemas: str) -> str:
    actor = {"id": "guest", "capabilities": [{"schema": schema} for schema in schemas]}
    opened = await guest.open(metadata={"actors": [actor]})
    assert opened.status == 200, opened.body
    return str(opened.id)


async def structured(who: Talker, thread: str) -> list[dict[str, Any]]:
    """The structured messages of a thread, the oldest first."""
    texts = [text for content in await said(who, thread) for text in content]
    return [json.loads(text) for text in texts if text.startswith("{")]


@pytest.mark.requirement("AITP-capabilities-7")
async def test_a_participant_asked_by_the_sites_people_signs_and_gets_the_outcome(
    ground: Ground,
) -> None:
    guest = await ground.desk.with_key("threads")
    thread = await open_thread(guest, SLUG)
    await ground.anna.post(f"threads/{thread}/take")
    asking = {"capability": "sign", "message": {"request_signature": ORDER}}
    await ground.anna.post(f"threads/{thread}/messages", **asking)
    (asked,) = await structured(guest, thread)
    request = asked["request_signature"]
    assert request["text"] == ORDER["text"]
    tampered = sign_request({**request, "text": "I buy nothing."})
    right = sign_request(request)
    for signature in (tampered, right, right):
        posted = await guest.post(thread, message(signature=signature))
        assert posted.status == 200, posted.body
    results = [
        one["signature_result"]
        for one in await structured(guest, thread)
        if "signature_result" in one
    ]
    told = [(one["result"], one.get("reason")) for one in results]
    assert told == [("failure", "bad_signature"), ("success", None), ("failure", "not_open")]


async def test_who_has_no_program_reads_what_is_signed_and_declines(ground: Ground) -> None:
    guest = await ground.desk.with_key("threads")
    thread = await open_thread(guest)
    await ground.anna.post(f"threads/{thread}/take")
    hidden = {"id": "1", "text": "I pay 10\u202e00 EUR."}
    asking = {"capability": "sign", "message": {"request_signature": hidden}}
    await ground.anna.post(f"threads/{thread}/messages", **asking)
    ((words,),) = await said(guest, thread)
    assert words.startswith("To be signed, exactly:\n| I pay 10⟦U+202E⟧00 EUR.\nOnly for http://")
    await guest.post(thread, "No, thanks.")
    assert (await said(guest, thread))[-1] == ["Not signed: The signer declined."]


async def test_the_desk_signs_what_a_rule_allows_as_often_as_it_says(ground: Ground) -> None:
    guest = await ground.desk.with_key("threads")
    thread = await open_thread(guest, SLUG)
    for number in range(3):
        request = {"id": f"sale-{number}", "text": "I sell the tent Ridge.", "schemes": ["jws"]}
        posted = await guest.post(thread, message(request_signature=request))
        assert posted.status == 200, posted.body
    found = await structured(guest, thread)
    asked = [one["request_signature"] for one in found if "request_signature" in one]
    signed = [one["signature"] for one in found if "signature" in one]
    assert [one["request_id"] for one in signed] == ["sale-0", "sale-1"]
    async with ground.desk.http.get("/capabilities/sign/jwks.json") as response:
        (published,) = (await response.json(content_type=None))["keys"]
    for request, given in zip(asked, signed, strict=False):
        subject, until = statement_of(request)
        signature = msgspec.convert(given, Signature)
        assert isinstance(signature.jwk, Jwk)
        assert signature.jwk.x == published["x"]
        proof = prove(Expected(subject, ("jws",), until), signature)
        assert proof.public_key == published["kid"]
    assert "people decide whether to sign this" in (await said(guest, thread))[-1][0]


async def test_of_one_signature_given_at_once_on_many_threads_one_counts(ground: Ground) -> None:
    guest = await ground.desk.with_key("threads")
    threads = [await open_thread(guest, SLUG) for _ in range(4)]
    asking = {
        "capability": "sign",
        "message": {"request_signature": {"id": "1", "typed_data": MAIL}},
    }
    for thread in threads:
        await ground.anna.post(f"threads/{thread}/take")
        await ground.anna.post(f"threads/{thread}/messages", **asking)
    subject = Typed(msgspec.convert(MAIL, TypedData))
    given = message(signature={"request_id": "1", **sign(subject, "eip712", 0)})
    posted = await asyncio.gather(*(guest.post(thread, given) for thread in threads * 2))
    assert {one.status for one in posted} <= {200, 409}
    told = [one for thread in threads for one in await structured(guest, thread)]
    results = [one["signature_result"] for one in told if "signature_result" in one]
    assert [one["result"] for one in results].count("success") == 1


async def test_a_key_that_is_nobodys_proves_nothing(ground: Ground) -> None:
    """By the neutral point one signature is of every text."""
    guest = await ground.desk.with_key("threads")
    thread = await open_thread(guest, SLUG)
    await ground.anna.post(f"threads/{thread}/take")
    asking = {"capability": "sign", "message": {"request_signature": ORDER}}
    await ground.anna.post(f"threads/{thread}/messages", **asking)
    point = bytes([1]) + bytes(31)
    of_anything = point + bytes(32)
    head = to_base64url(b'{"alg":"EdDSA"}')
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": to_base64url(point)}
    forged: tuple[dict[str, Any], ...] = (
        {"scheme": "ed25519", "signature": to_base64url(of_anything)},
        {"scheme": "nep413", "signature": to_base64(of_anything)},
        {"scheme": "jws", "signature": f"{head}..{to_base64url(of_anything)}", "jwk": jwk},
    )
    for one in forged:
        key = {} if "jwk" in one else {"public_key": f"ed25519:{to_base58(point)}"}
        posted = await guest.post(
            thread, message(signature={"request_id": "order-7", **key, **one})
        )
        assert posted.status == 200, posted.body
    results = [one["signature_result"] for one in (await structured(guest, thread))[2::2]]
    assert [one.get("reason") for one in results] == ["malformed"] * 3


async def test_the_sites_agent_is_no_person_who_has_agreed(tmp_path: Path) -> None:
    approval = message(approve_signature={"request_id": "order-7", "agree": True})

    async def talked_into_it(turn: Turn) -> Answer:
        del turn
        return Answer(approval)

    agent = ScriptedAgent(talked_into_it)
    async with talking(tmp_path, "capabilities.sign.open_for=60", agent=agent) as guest:
        thread = await open_thread(guest, SLUG)
        await guest.post(thread, message(request_signature={**ORDER, "schemes": ["ed25519"]}))
        asked = {"assistant_id": "desk", "additional_messages": [{"role": "user", "content": "?"}]}
        run = (await guest.send("POST", f"{THREADS}/{thread}/runs", asked)).ok
        path = f"{THREADS}/{thread}/runs/{run['id']}"
        async with asyncio.timeout(60):
            while (await guest.send("GET", path)).ok["status"] in {"queued", "in_progress"}:
                await guest.desk.store.settled()
        assert agent.turns
        assert not [one for one in await structured(guest, thread) if "signature" in one]


async def test_what_no_rule_allows_one_of_the_sites_people_decides(ground: Ground) -> None:
    guest = await ground.desk.with_key("threads")
    thread = await open_thread(guest, SLUG)
    for id, agree in (("yes", True), ("no", False)):
        asked = {**ORDER, "id": id, "schemes": ["ed25519"]}
        await guest.post(thread, message(request_signature=asked))
        approval = {"approve_signature": {"request_id": id, "agree": agree}}
        refused = await guest.post(thread, message(**approval))
        assert refused.status == 403
        await ground.anna.post(f"threads/{thread}/take")
        decided = {"capability": "sign", "message": approval}
        await ground.anna.post(f"threads/{thread}/messages", **decided)
        await ground.anna.post(f"threads/{thread}/release")
    found = await structured(guest, thread)
    (signature,) = (one["signature"] for one in found if "signature" in one)
    (request,) = (
        one["request_signature"]
        for one in found
        if one.get("request_signature", {}).get("id") == "yes"
    )
    subject, until = statement_of(request)
    proof = prove(Expected(subject, ("ed25519",), until), msgspec.convert(signature, Signature))
    assert proof.public_key.startswith("ed25519:")
    (result,) = (one["signature_result"] for one in found if "signature_result" in one)
    assert (result["request_id"], result["reason"]) == ("no", "declined")


async def test_an_operators_key_decides_by_message_and_by_form(ground: Ground) -> None:
    guest = await ground.desk.with_key("threads")
    operator = await ground.desk.with_key("operator")
    thread = await open_thread(guest, SLUG)
    waiting = f"{THREADS}/{thread}/requests"
    for id in ("message", "form"):
        await guest.post(thread, message(request_signature={**ORDER, "id": id}))
    approval = message(approve_signature={"request_id": "message", "agree": True})
    assert (await guest.post(thread, approval)).status == 403
    as_desk = {"actor": ground.desk.desk.url}
    assert (await operator.post(thread, approval, metadata=as_desk)).status == 403
    assert {one["may_answer"] for one in (await guest.send("GET", waiting)).ok["data"]} == {False}
    assert (await operator.post(thread, approval)).ok["metadata"]["actor"].startswith("key:")
    (still,) = (await operator.send("GET", waiting)).ok["data"]
    assert still["may_answer"]
    answered = await operator.send("POST", f"{waiting}/sign/form", {"agree": True})
    assert answered.status == 200, answered.body
    signed = [one["signature"] for one in await structured(guest, thread) if "signature" in one]
    assert [one["request_id"] for one in signed] == ["message", "form"]
    await operator.post(thread, message(approve_signature={"request_id": "form", "agree": False}))
    *_, second = await structured(guest, thread)
    assert second["signature_result"]["reason"] == "not_open"
    rows = noted(ground.desk, operator)
    assert rows[0][0] == "thread.looked_after"
    assert rows[1:] == [("capability.noted", "capability:sign.signed_by_person")] * 2


NEAR_CALL: dict[str, Any] = {
    "type": "FunctionCall",
    "params": {
        "method_name": "nft_mint",
        "args": to_base64(b'{"token_id": "1"}'),
        "gas": "30000000000000",
        "deposit": "1000000000000000000000000",
    },
}
BOTH_FEES: dict[str, Any] = {
    "to": "0x1234567890123456789012345678901234567890",
    "value": "0x0",
    "gas": "0x5208",
    "gasPrice": "0x3b9aca00",
    "maxFeePerGas": "0x3b9aca00",
    "maxPriorityFeePerGas": "0x3b9aca00",
    "nonce": "0x1",
    "accessList": [],
}
SHORT_NONCE = {"nonce": "AQIDBA==", "recipient": "app.near", "message": "Who are you?"}


async def test_what_upstream_shows_of_wallets_is_taken_and_what_fails_is_reported(
    tmp_path: Path,
) -> None:
    settings = ("capabilities.near_wallet.open_for=60", "capabilities.evm_wallet.open_for=60")
    async with talking(tmp_path, *settings, agent=ScriptedAgent()) as desk:
        guest = await desk.with_key("threads")
        near, evm = near_wallet.PUBLISHED, evm_wallet.PUBLISHED
        own = [f"{desk.desk.url}/capabilities/{slug}/v2/schema.json" for slug in WALLETS]
        thread = await open_thread(guest, near, evm, *own)
        other = await desk.with_key("threads")
        known = [{"schema": url} for url in (near, evm, *own)]
        friend = {"id": "friend", "capabilities": known, "principal": principal_of(other.key or "")}
        assert (await guest.send("POST", f"{THREADS}/{thread}/actors", friend)).status == 200
        camel = {**NEAR_CALL["params"], "methodName": NEAR_CALL["params"]["method_name"]}
        del camel["method_name"]
        twice = {**camel, "method_name": "nft_burn"}
        adding = {"public_key": key_of(ALICE), "access_key": {"permission": "FullAccess"}}
        for n, (kind, params) in enumerate(
            [
                ("FunctionCall", NEAR_CALL["params"]),
                ("FunctionCall", camel),
                ("AddKey", adding),
                ("FunctionCall", twice),
                ("Transfer", {"amount": "1"}),
            ]
        ):
            actions = [{"type": kind, "params": params}]
            transaction = {"receiver_id": "contract.near", "actions": actions}
            asked = {"request_id": f"near-{n}", "transaction": transaction}
            assert (await guest.post(thread, part_of(near, {"request_transaction": asked}))).ok
        paid: dict[str, Any] = {"request_id": "evm", "chain_id": 1, "transaction": BOTH_FEES}
        assert (await guest.post(thread, part_of(evm, {"request_transaction": paid}))).ok
        short = {"request_id": "nonce", "message": SHORT_NONCE}
        assert (await guest.post(thread, part_of(near, {"request_message_signing": short}))).ok
        found = await structured(guest, thread)
        results = [one["signature_result"] for one in found if "signature_result" in one]
        told = [(one["request_id"], one["reason"]) for one in results]
        failing = ("near-3", "near-4", "evm", "nonce")
        assert told == [(name, "malformed") for name in failing]
        # a caller who reads words reads what each of them asks, or why it cannot be signed
        reader = await desk.with_key("operator")
        words = "\n".join(text for content in await said(reader, thread) for text in content)
        assert words.count("calls nft_mint with") == 2
        assert (
            "A request for a signature that cannot be made: This cannot be signed: A trans" in words
        )


async def test_a_call_goes_on_with_a_signed_yes(tmp_path: Path) -> None:
    site = orders.write_site(tmp_path)
    settings = ("capabilities.sign.signed_consent=true",)
    scopes = ("actions", "threads")
    async with calling(tmp_path, site, *settings, scopes=scopes) as caller:
        asked = await caller.ask("Close my account", "close_account")
        assert asked.body["status"] == "clarification_needed", asked.body
        thread = await caller.talker.thread_of(asked.session_id)
        reader = {"id": "https://reader.example", "capabilities": [{"schema": SLUG}]}
        joined = await caller.talker.send("POST", f"{THREADS}/{thread}/actors", reader)
        assert joined.status == 200, joined.body
        (request,) = (one["request_signature"] for one in await structured(caller.talker, thread))
        (waits,) = (await caller.talker.send("GET", f"{THREADS}/{thread}/requests")).ok["data"]
        assert not caller.booked
        filled = sign_request(request)
        del filled["request_id"]
        posted = await caller.talker.send("POST", waits["answer_at"], filled)
        assert posted.status == 200, posted.body
        await caller.talker.desk.store.settled()
        results = [one.get("signature_result") for one in await structured(caller.talker, thread)]
        assert [one["result"] for one in results if one] == ["success"]
        async with asyncio.timeout(60):
            while not caller.booked:
                await caller.talker.desk.store.settled()


async def test_a_signed_yes_to_a_settled_call_is_a_failure(tmp_path: Path) -> None:
    settings = ("capabilities.sign.signed_consent=true",)
    site, scopes = orders.write_site(tmp_path), ("actions", "threads")
    async with calling(tmp_path, site, *settings, scopes=scopes) as caller:
        asked = await caller.ask("Close my account", "close_account")
        thread = await caller.talker.thread_of(asked.session_id)
        reader = {"id": "https://reader.example", "capabilities": [{"schema": SLUG}]}
        await caller.talker.send("POST", f"{THREADS}/{thread}/actors", reader)
        (request,) = (one["request_signature"] for one in await structured(caller.talker, thread))
        await caller.ask("never mind", "close_account", session_id=asked.session_id)
        await caller.talker.post(thread, message(signature=sign_request(request)))
        *_, last = await structured(caller.talker, thread)
        told = last["signature_result"]
        assert (told["result"], told["reason"]) == ("failure", "not_open")
        assert not caller.booked


async def test_a_yes_that_cannot_be_asked_as_a_signature_is_not_asked(tmp_path: Path) -> None:
    site = orders.write_site(tmp_path)
    settings = ("capabilities.sign.signed_consent=true", "limits.enabled=false")
    async with calling(tmp_path, site, *settings, scopes=("actions", "threads")) as caller:
        asked = await caller.ask("When do you open?", "opening_hours")
        thread = await caller.talker.thread_of(asked.session_id)
        for number in range(20):
            request = {"id": f"mine-{number}", "text": "I sell the tent."}
            posted = await caller.talker.post(thread, message(request_signature=request))
            assert posted.status == 200, posted.body
        refused = await caller.ask("Close my account", "close_account", session_id=asked.session_id)
        assert refused.status == 403, refused.body
        assert "must be confirmed by a signature" in str(refused.body)
        assert not caller.booked


async def test_a_section_that_is_wrong_says_what_would_be_right(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"capabilities\.sign"):
        async with talking(tmp_path, "capabilities.sign.otherwise=somebody"):
            pass


async def test_a_signature_counts_once_for_all_that_ask_for_signatures(tmp_path: Path) -> None:
    """A wallet of NEAR is asked to sign the very message that was signed as a text before."""
    site = write_site(tmp_path)
    toml = site / "desk.toml"
    sections = "[capabilities.sign]\n[capabilities.near_wallet]\n"
    toml.write_text(f"{toml.read_text('utf-8')}\n{sections}", encoding="utf-8")
    async with (
        talking(tmp_path, site=site, agent=ScriptedAgent()) as desk,
        operating(desk.desk, tmp_path / "data", "anna") as anna,
    ):
        guest = await desk.with_key("threads")
        near = "aitp.dev/near-wallet/v2"
        thread = await open_thread(guest, SLUG, near)
        await anna.post(f"threads/{thread}/take")
        asking = {"request_signature": {**ORDER, "schemes": ["nep413"]}}
        await anna.post(f"threads/{thread}/messages", capability="sign", message=asking)
        (asked,) = await structured(guest, thread)
        request = asked["request_signature"]
        signature = sign_request(request, "nep413")
        assert (await guest.post(thread, message(signature=signature))).status == 200
        statement, until = statement_of(request)
        signed = {
            "message": f"{statement.text}\n\nExpires: {told_until(until)}",
            "nonce": to_base64(from_base64url(statement.nonce)),
            "recipient": statement.recipient,
        }
        asking = {"request_message_signing": {"request_id": "again", "message": signed}}
        await anna.post(f"threads/{thread}/messages", capability="near-wallet", message=asking)
        answer = {
            "request_id": "again",
            "account_id": "alice.near",
            "public_key": signature["public_key"],
            "signature": signature["signature"],
        }
        posted = await guest.post(thread, part_of(near, {"message_signing_response": answer}))
        assert posted.status == 200, posted.body
        found = await structured(guest, thread)
        results = [one["signature_result"] for one in found if "signature_result" in one]
        told = [(one["result"], one.get("reason")) for one in results]
        assert told == [("success", None), ("failure", "replayed")]
