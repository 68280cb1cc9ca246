"""A facilitator of x402 on the loopback, a wallet, and the small chain on which its coins move.

Signatures are verified for real (EIP-712 over EIP-3009's authorisation); a nonce moves coins once,
and no more than the wallet holds. What is to go wrong a test says by :attr:`Facilitator.moods`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from aiohttp import web
from eth_utils.crypto import keccak

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

Json = Mapping[str, Any]
Mood = Literal[
    "lost",  # it settles, and its answer is lost
    "unwell",  # it answers 503, and has done nothing
    "unwell after",  # it settles, and answers 503
    "garbled",  # it settles, and its answer is no JSON
    "pending",  # it sends the transfer, and does not wait for it
    "elsewhere",  # it settles, and names another network
    "vague",  # it says yes, names no transaction, and has done nothing
    "reverted",  # the transfer fails on the network
    "busy",  # it answers 429
]
COINS: Mapping[str, tuple[int, str, str]] = {
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913": (8453, "USD Coin", "2"),
    "0x036cbd53842c5426634e7929541ec2318f3dcf7e": (84532, "USDC", "2"),
}
"""The chain, name and version of the coins that there are, by their contracts."""
USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
USED, TRANSFER = (
    "0x" + keccak(text=event).hex()
    for event in ("AuthorizationUsed(address,bytes32)", "Transfer(address,address,uint256)")
)
FIELDS = [
    {"name": "from", "type": "address"},
    {"name": "to", "type": "address"},
    {"name": "value", "type": "uint256"},
    {"name": "validAfter", "type": "uint256"},
    {"name": "validBefore", "type": "uint256"},
    {"name": "nonce", "type": "bytes32"},
]


@dataclass
class Chain:
    """Who holds how much, and which authorisations were used.

    Attributes:
        holds: the smallest units of any coin, by address in small letters.
        used: the hash of the transaction by which an authorisation was used, by payer and nonce.
        receipts: what transactions have done, as nodes tell it, by their hashes.
        is_down: whether its node answers nobody.
    """

    holds: dict[str, int] = field(default_factory=dict)
    used: dict[tuple[str, str], str] = field(default_factory=dict)
    receipts: dict[str, Any] = field(default_factory=dict)
    is_down: bool = False

    def move(self, signed: Json) -> str:
        """Move coins by an authorisation, and return the transaction's hash."""
        payer, to, value = signed["from"].lower(), signed["to"].lower(), int(signed["value"])
        assert self.holds.get(payer, 0) >= value
        assert (payer, signed["nonce"]) not in self.used
        self.holds[payer] -= value
        self.holds[to] = self.holds.get(to, 0) + value
        return self._note(payer, to, value, signed["nonce"])

    def use_otherwise(self, signed: Json, to: str) -> None:
        """Have the payer move coins to another payee by the nonce of an authorisation."""
        self._note(signed["from"].lower(), to.lower(), int(signed["value"]), signed["nonce"])

    def cancel(self, signed: Json) -> None:
        """Have the payer cancel an authorisation."""
        self.used[signed["from"].lower(), signed["nonce"]] = ""

    def tell(self, asked: Json, now: int) -> object:
        """Answer as a node does (JSON-RPC)."""
        params = asked["params"]
        match asked["method"]:
            case "eth_getBlockByNumber":
                return {"number": hex(9_000), "timestamp": hex(now)}
            case "eth_call":
                data = params[0]["data"]
                return f"0x{int((f'0x{data[34:74]}', f'0x{data[74:]}') in self.used):064x}"
            case "eth_getLogs":
                _, payer, nonce = params[0]["topics"]
                transaction = self.used.get((f"0x{payer[-40:]}", nonce))
                return self.receipts[transaction]["logs"][:1] if transaction else []
            case "eth_getTransactionReceipt":
                return self.receipts[params[0]]
            case _:
                raise AssertionError(asked)

    def _note(self, payer: str, to: str, value: int, nonce: str) -> str:
        transaction = "0x" + secrets.token_hex(32)
        self.used[payer, nonce] = transaction
        log = {"address": USDC, "transactionHash": transaction}
        used = {**log, "topics": [USED, _word(payer), nonce], "data": "0x"}
        moved = {**log, "topics": [TRANSFER, _word(payer), _word(to)], "data": f"0x{value:064x}"}
        self.receipts[transaction] = {"status": "0x1", "logs": [used, moved]}
        return transaction


class Facilitator:
    """The server.

    Parameters:
        remembers: whether it knows what it has settled, and says so again.

    Attributes:
        url: its address.
        asked: the paths and bodies of requests, in order.
        moods: how it takes the next requests to settle; then it is well.
        verifying: the same of requests to verify, which only ``unwell`` and ``busy`` are for.
        credentials: what its callers have sent as ``Authorization``.
        kinds: what it says that it settles.
        gate: what it waits for before it settles; None for nothing.
        before_settling: called when a settlement is requested.
        came: set once a settlement was requested.
    """

    def __init__(self, now: float, *, remembers: bool = False) -> None:
        self.url = ""
        self.now = now
        self.chain = Chain()
        self.asked: list[tuple[str, Any]] = []
        self.moods: deque[Mood] = deque()
        self.verifying: deque[Mood] = deque()
        self.credentials: list[str | None] = []
        self.kinds = ["eip155:84532", "eip155:8453"]
        self.gate: asyncio.Event | None = None
        self.came = asyncio.Event()
        self.before_settling: Callable[[], object] = lambda: None
        self._remembers = remembers

    def count(self, path: str) -> int:
        """How often something was asked for."""
        return sum(asked == path for asked, _ in self.asked)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request."""
        self.credentials.append(request.headers.get("Authorization"))
        body: Any = await request.json() if request.method == "POST" else None
        self.asked.append((request.path, body))
        match request.path:
            case "/node":
                if self.chain.is_down:
                    return web.Response(status=502)
                told = self.chain.tell(body, int(self.now))
                return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": told})
            case "/supported":
                kinds = [{"x402Version": 2, "scheme": "exact", "network": n} for n in self.kinds]
                return web.json_response({"kinds": kinds, "extensions": [], "signers": {}})
            case "/verify":
                return self._verify(body)
            case "/settle":
                return await self._settle(request, body)
            case _:
                return web.Response(status=404)

    def _verify(self, body: Json) -> web.StreamResponse:
        mood = self.verifying.popleft() if self.verifying else None
        if mood is not None:
            return web.Response(status=429 if mood == "busy" else 503)
        why = self._why_not(body)
        told: dict[str, Any] = {"isValid": not why, "payer": _signed(body)["from"]}
        return web.json_response(told | ({"invalidReason": why} if why else {}))

    async def _settle(self, request: web.Request, body: Json) -> web.StreamResponse:
        self.came.set()
        self.before_settling()
        if self.gate is not None:
            await self.gate.wait()
        mood = self.moods.popleft() if self.moods else None
        signed, network = _signed(body), body["paymentRequirements"]["network"]
        told = {"success": True, "payer": signed["from"], "network": network}
        if mood in {"unwell", "busy"}:
            return web.Response(status=429 if mood == "busy" else 503)
        if mood == "vague":
            return web.json_response(told | {"transaction": ""})
        before = self.chain.used.get((signed["from"].lower(), signed["nonce"]))
        if before is not None and self._remembers:
            return web.json_response(told | {"transaction": before})
        if why := self._why_not(body):
            refused = {"success": False, "errorReason": why, "transaction": ""}
            return web.json_response(told | refused)
        if mood == "reverted":
            failed = {"success": False, "errorReason": "transaction_failed", "transaction": _hash()}
            return web.json_response(told | failed)
        transaction = self.chain.move(signed)
        match mood:
            case "lost":
                assert request.transport is not None
                request.transport.abort()
            case "unwell after":
                return web.Response(status=503)
            case "garbled":
                return web.Response(text="<html>it worked")
            case "elsewhere":
                return web.json_response(told | {"transaction": transaction, "network": "eip155:1"})
            case "pending":
                told |= {"success": False, "errorReason": "settlement_pending"}
            case _:
                pass
        return web.json_response(told | {"transaction": transaction})

    def _why_not(self, body: Json) -> str:
        """What is wrong with a payment, as facilitators call it; empty for nothing."""
        from eth_account import Account

        asked, signed = body["paymentRequirements"], _signed(body)
        assert body["x402Version"] == body["paymentPayload"]["x402Version"] == 2
        assert body["paymentPayload"]["accepted"] == asked
        coin = COINS.get(asked["asset"].lower())
        if asked["network"] not in self.kinds or coin is None:
            return "invalid_network"
        if signed["to"].lower() != asked["payTo"].lower():
            return "invalid_exact_evm_payload_recipient_mismatch"
        if int(signed["value"]) != int(asked["amount"]):
            return "invalid_exact_evm_payload_authorization_value_mismatch"
        if int(signed["validBefore"]) < self.now + 6:
            return "invalid_exact_evm_payload_authorization_valid_before"
        if int(signed["validAfter"]) > self.now:
            return "invalid_exact_evm_payload_authorization_valid_after"
        digest = typed(signed, asked["asset"], coin)
        signature = body["paymentPayload"]["payload"]["signature"]
        if Account.recover_message(digest, signature=signature) != signed["from"]:
            return "invalid_exact_evm_payload_signature"
        if (signed["from"].lower(), signed["nonce"]) in self.chain.used:
            return "invalid_exact_evm_nonce_already_used"
        if self.chain.holds.get(signed["from"].lower(), 0) < int(signed["value"]):
            return "invalid_exact_evm_insufficient_balance"
        return ""


class Wallet:
    """Who pays, with a key of their own."""

    def __init__(self) -> None:
        from eth_account import Account

        self.account: LocalAccount = Account.create()
        self.address = str(self.account.address)

    def sign(self, asked: Json, now: int, **other: object) -> dict[str, Any]:
        """Pay what is asked, by version 2.

        Parameters:
            asked: one of the requirements.
            other: members of the authorisation that are to be others.
        """
        signed = {
            "from": self.address,
            "to": asked["payTo"],
            "value": asked["amount"],
            "validAfter": "0",
            "validBefore": str(now + asked["maxTimeoutSeconds"]),
            "nonce": "0x" + secrets.token_hex(32),
            **other,
        }
        chain = int(asked["network"].removeprefix("eip155:"))
        coin = (chain, asked["extra"]["name"], asked["extra"]["version"])
        signature = self.account.sign_message(typed(signed, asked["asset"], coin)).signature
        exact = {"signature": "0x" + signature.hex(), "authorization": signed}
        return {"x402Version": 2, "accepted": dict(asked), "payload": exact}


def before(payload: Json, network: str) -> dict[str, Any]:
    """A payment as version 1 has it."""
    return {
        "x402Version": 1,
        "scheme": "exact",
        "network": network,
        "payload": payload["payload"],
    }


def typed(signed: Json, asset: str, coin: tuple[int, str, str]) -> Any:
    """What a payer signs (EIP-712)."""
    from eth_account.messages import encode_typed_data

    chain, name, version = coin
    message = {
        "from": signed["from"],
        "to": signed["to"],
        "nonce": bytes.fromhex(signed["nonce"].removeprefix("0x")),
        **{part: int(signed[part]) for part in ("value", "validAfter", "validBefore")},
    }
    return encode_typed_data(
        {"name": name, "version": version, "chainId": chain, "verifyingContract": asset},
        {"TransferWithAuthorization": FIELDS},
        message,
    )


@asynccontextmanager
async def facilitator(now: float, *, remembers: bool = False) -> AsyncIterator[Facilitator]:
    """A facilitator on a free port of the loopback.

    Parameters:
        now: its clock, in Unix seconds.
    """
    one = Facilitator(now, remembers=remembers)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", one.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        place = web.TCPSite(runner, "127.0.0.1", 0)
        await place.start()
        one.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield one
    finally:
        await runner.cleanup()


def _word(address: str) -> str:
    return "0x" + address.removeprefix("0x").rjust(64, "0")


def _signed(body: Json) -> Any:
    return body["paymentPayload"]["payload"]["authorization"]


def _hash() -> str:
    return "0x" + secrets.token_hex(32)
