"""The example shop's map, bought by an agent: nobody looks on, and what it keeps proves it all.

Of the desk it has an address. Whatever it signs and checks it does by ``cryptography`` and another
implementation of RFC 8785 than the desk's, as the pages say.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tests.docs.snippets import ROOT, blocks
from tests.support.access.transcript_signer import base64url, sign_head
from tests.support.clients.threads import Talker
from tests.support.desk.command import run
from tests.support.plugins.message_monitor import faults
from tests.support.sites.shop import shopping

PAYING = "capabilities.payments.quote_minutes=30"
AGENT = "https://scout.example"
AITP_01 = "https://aitp.dev/capabilities/aitp-01-payments/v1.0.0/schema.json"
OPENED = {"channel_id": "ch_scout", "account": "acct_scout", "amount": "10.00", "currency": "USD"}
PENDING = ("pending", "accepted")
SECONDS = 60
MANUAL = [("OpenAI-Beta", "assistants=v2")]
NOW = "2027-01-15T08:00:00Z"


class Scout:
    """A program that has an Ed25519 key, and no credential at the desk."""

    def __init__(self, talker: Talker) -> None:
        self._talker = talker.without_key()
        self._key = Ed25519PrivateKey.generate()
        self.site = talker.desk.url
        self.thread = ""

    @property
    def public(self) -> str:
        return base64url(self._key.public_key().public_bytes_raw())

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        told = await self._talker.send(method, path, body)
        return told.status, told.body

    async def text(self, path: str) -> str:
        """What stands at an address, as it was sent."""
        async with self._talker.http.get(path) as answer:
            assert answer.status == 200
            return await answer.text()

    async def find(self, wanted: str) -> tuple[str, str]:
        """Method and path of what does what is wanted, by what the site tells all agents."""
        listed = (await self.text("/agents.txt")).split("\n\n")
        (found,) = (part for part in listed if wanted in part)
        told = dict(line.strip().split(": ", 1) for line in found.splitlines())
        assert told["Auth"] == "none"
        described = json.loads(await self.text(told["OpenAPI"].removeprefix(self.site)))
        path = told["Endpoint"].removeprefix(self.site)
        operation = described["paths"][path][told["Method"].lower()]
        assert "402" in operation["responses"]
        return told["Method"], path

    def sign(self, message: Mapping[str, Any]) -> dict[str, Any]:
        signature = base64.b64encode(self._key.sign(rfc8785.dumps(dict(message)))).decode()
        return {**message, "payer_signature": f"ed25519:{signature}"}

    def pay(self, quote: Mapping[str, Any]) -> dict[str, Any]:
        """What pays a quote from the channel, as AITP-01 has it."""
        (option,) = quote["payment_options"]
        (by,) = (one for one in option["payment_methods"] if one["type"] == "near_payment_channel")
        payment = self.sign(
            {
                "quote_id": quote["quote_id"],
                "payment_method": {
                    "type": by["type"],
                    "token": by["token"],
                    "channel_id": OPENED["channel_id"],
                    "amount": option["amount"],
                    "currency": option["currency"],
                },
                "payer_id": "scout.near",
                "timestamp": NOW,
            }
        )
        assert faults({"$schema": AITP_01, "payment": payment}) == []
        return payment

    async def keys_of_merchant(self) -> dict[str, str]:
        """The key that the site publishes for its quotes and receipts."""
        _, published = await self.send("GET", "/capabilities/payments/jwks.json")
        key: dict[str, str]
        (key,) = published["keys"]
        return key

    async def join(self, thread: str) -> None:
        """Say in a conversation who this is, and what it understands."""
        self.thread = thread
        own = f"{self.site}/capabilities/payments/v1/schema.json"
        actor = {"id": AGENT, "capabilities": [{"schema": AITP_01}, {"schema": own}]}
        status, told = await self.send("POST", f"/v1/threads/{thread}/actors", actor)
        assert status == 200, told

    async def result_of(self, path: str) -> Any:
        """What a call gives, once it is done."""
        async with asyncio.timeout(SECONDS):
            while (told := (await self.send("GET", path))[1])["status"] in PENDING:
                pass
        assert told["status"] == "success", told
        return told["result"]

    async def tools(self, method: str, **params: Any) -> Any:
        """The result of a request over MCP."""
        status, told = await self.send("POST", "/mcp", rpc(method, params))
        assert status == 200, told
        return told["result"]

    async def say(self, message: Mapping[str, Any], schema: str = "") -> list[dict[str, Any]]:
        """Say a structured message in the conversation; what is answered."""
        own = f"{self.site}/capabilities/payments/v1/schema.json"
        content = json.dumps({"$schema": schema or own, **message})
        before = len(await self.heard())
        told = await self._talker.post(self.thread, content, wait=10, metadata={"actor": AGENT})
        assert told.status == 200, told.body
        return (await self.heard())[before + 1 :]

    async def heard(self) -> list[Any]:
        texts = await self._talker.texts(self.thread)
        return [json.loads(text) if text.startswith("{") else {"words": text} for text in texts]

    async def countersign(self, head: Mapping[str, Any]) -> None:
        path = f"/v1/threads/{self.thread}/transcript/signatures"
        status, told = await self.send("POST", path, sign_head(head, self._key))
        assert status == 200, told


def verify(jwk: Mapping[str, str], message: Mapping[str, Any]) -> None:
    """Raise where a message is not signed by a key."""
    plain = {name: value for name, value in message.items() if name != "merchant_signature"}
    signature = message["merchant_signature"].removeprefix("ed25519:")
    public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(jwk["x"] + "="))
    public.verify(base64.b64decode(signature), rfc8785.dumps(plain))


def read(text: str) -> Iterator[tuple[str, Any]]:
    """The keys of a message that was said, with what they hold."""
    yield from json.loads(text).items()


def rpc(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def owner(*arguments: object, data: Path) -> list[str]:
    """What the shop's owner does at a terminal, while the desk serves."""
    code, told, wrong = await run("ledger", *arguments, "--data", data)
    assert code == 0, wrong
    return told


def check_alone(transcript: Path, keys: Path) -> None:
    """Run the check of docs/protocols/transcripts.md, which has none of our code."""
    page = blocks(ROOT / "docs/protocols/transcripts.md")
    (program,) = (block for block in page if block.language == "python")
    names: dict[str, Any] = {"__name__": "check"}
    exec(compile(program.code, program.page, "exec"), names)
    names["check"](*(json.loads(file.read_bytes()) for file in (transcript, keys)))


@pytest.mark.slow
async def test_an_agent_buys_from_a_channel_and_proves_it_offline(tmp_path: Path) -> None:
    data, kept, keys = tmp_path / "data", tmp_path / "transcript.json", tmp_path / "keys.json"
    async with shopping(tmp_path, PAYING) as (shopper, _):
        scout = Scout(shopper.talker)
        await owner("open", "acct_scout", "--key", scout.public, data=data)
        await owner("credit", "acct_scout", "25.00", "USD", "--memo", "invoice-7", data=data)

        method, path = await scout.find("map of a trail")
        status, asked = await scout.send(method, path, {"trail": "Cinder Rim"})
        assert status == 402, asked
        assert asked["price"] == {"amount": "4.90", "currency": "USD"}
        quote = asked["payment"]["message"]["quote"]
        merchant = await scout.keys_of_merchant()
        verify(merchant, quote)
        await scout.join(asked["payment"]["thread_id"])

        opened = scout.sign({**OPENED, "merchant_id": quote["merchant_id"]})
        (told,) = await scout.say({"open_channel": opened})
        verify(merchant, told["channel"])
        assert told["channel"]["left"] == "10.00"

        payment = scout.pay(quote)
        receipt, *_ = await scout.say({"payment": payment}, schema=AITP_01)
        assert receipt["$schema"] == AITP_01
        assert receipt["payment_confirmation"]["result"] == "success"
        verify(merchant, receipt["payment_confirmation"])
        result = await scout.result_of(f"{path}/calls/{asked['payment']['call_id']}")
        assert [one["name"] for one in result["waypoints"]] == ["Quarry", "Rim"]
        (again,) = await scout.say({"payment": payment}, schema=AITP_01)
        assert again == receipt

        transcript = f"/v1/threads/{scout.thread}/transcript"
        head = json.loads(await scout.text(transcript))["statement"]["head"]
        await scout.countersign(head)
        kept.write_text(await scout.text(transcript), "utf-8")
        keys.write_text(await scout.text("/.well-known/aitp-transcript-keys.json"), "utf-8")
        assert await owner("accounts", data=data) == [
            "acct_scout  15.00 USD  spent by a key",
            "channel:ch_scout  5.10 USD",
            "merchant  4.90 USD",
            "outside:cash  -25.00 USD",
        ]
        (right,) = await owner("verify", data=data)
        assert right.startswith("The ledger is correct")

    # the desk is gone: what was kept is enough
    code, report, wrong = await run("transcript", "verify", kept, "--keys", keys)
    assert (code, wrong) == (0, []), report
    check_alone(kept, keys)
    proven = json.loads(kept.read_text("utf-8"))
    (countersigned,) = proven["statement"]["countersignatures"]
    assert countersigned["link"] == head["link"]
    said = [one["content"][0] for one in proven["messages"]]
    told_by = {key: one for text in said if text.startswith("{") for key, one in read(text)}
    assert told_by["quote"] == quote
    assert told_by["payment"] == payment
    assert told_by["payment_confirmation"] == receipt["payment_confirmation"]
    verify(merchant, told_by["quote"])
    verify(merchant, told_by["payment_confirmation"])
    assert any("1. Quarry, 43.9125, -121.4013, 1390 m." in text for text in said)

    kept.write_text(kept.read_text("utf-8").replace("4.90 USD", "0.90 USD"), "utf-8")
    code, _, _ = await run("transcript", "verify", kept, "--keys", keys)
    assert code == 1
    with pytest.raises(ValueError, match="message 5"):
        check_alone(kept, keys)


async def test_an_agent_that_speaks_mcp_pays_with_its_call(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with shopping(tmp_path, PAYING) as (shopper, _):
        scout = Scout(shopper.talker)
        await owner("open", "acct_scout", "--key", scout.public, data=data)
        await owner("credit", "acct_scout", "25.00", "USD", data=data)
        session = (await shopper.talker.without_key().open(headers=MANUAL)).id
        await scout.join(session)
        opened = scout.sign({**OPENED, "merchant_id": scout.site})
        await scout.say({"open_channel": opened})

        listed = await scout.tools("tools/list")
        (tool,) = (one for one in listed["tools"] if "map of a trail" in one["description"])
        wanted = {"trail": "Tarn Traverse"}
        refused = await scout.tools("tools/call", name=tool["name"], arguments=wanted)
        assert refused["isError"]
        quote = refused["structuredContent"]["error"]["payment"]["message"]["quote"]
        verify(await scout.keys_of_merchant(), quote)
        paying = {**wanted, "_payment": {"payment": scout.pay(quote)}}
        sold = await scout.tools("tools/call", name=tool["name"], arguments=paying)
        again = await scout.tools("tools/call", name=tool["name"], arguments=paying)
        assert not sold.get("isError"), sold
        assert sold["structuredContent"] == again["structuredContent"]
        assert [one["name"] for one in sold["structuredContent"]["waypoints"]][1] == "Upper tarn"
        assert "merchant  4.90 USD" in await owner("accounts", data=data)
