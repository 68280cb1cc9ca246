"""Asks a configured node of the network whether an authorisation has moved coins.

A facilitator that does not respond leaves a payment unknown, and one that is asked again may refuse
because of its earlier transfer. The coin's contract knows whether the nonce was used, and by
which transaction. A used nonce proves no payment, because its signer can use or cancel it
otherwise; only a transfer of the right coins to the right address does.

Source: EIP-3009, whose ``transferWithAuthorization`` emits ``AuthorizationUsed`` and then moves the
coins; the JSON-RPC interface of Ethereum's nodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import TypeVar

import msgspec

from aitp_desk.capability import Request, Send, Unanswered
from aitp_payments.x402.addresses import wrong_address
from aitp_payments.x402.facilitator import Settled, Unknown
from aitp_payments.x402.networks import NETWORKS
from aitp_payments.x402.records import UnderWay

T = TypeVar("T")
NODE = "X402_NODE_"
"""Prefix of environment variables with a node's URL; the network's name follows."""
USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
"""The topic of ``AuthorizationUsed(address,bytes32)``."""
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""The topic of ``Transfer(address,address,uint256)``."""
STATE_OF = "0xe94a0102"
"""The selector of ``authorizationState(address,bytes32)``."""
SECONDS = 5.0
"""Timeout of a node, in seconds."""
BLOCKS_BACK = 5000
"""Number of searched blocks: some hours, and within the limits of public nodes."""
SETTLED_FOR = 5 * 60
"""Seconds since an authorisation's expiry by the network's time, so that no reorganisation of
the last blocks revives it."""
_QUANTITY = re.compile("0x[0-9a-f]{1,64}")


class Lapsed(msgspec.Struct, frozen=True):
    """An authorisation has expired without a payment."""


class _Unsaid(Exception):
    """A node has not answered the question."""


class _Block(msgspec.Struct, frozen=True):
    number: str
    timestamp: str


class _Log(msgspec.Struct, frozen=True, rename="camel"):
    address: str
    topics: tuple[str, ...]
    data: str
    transaction_hash: str


class _Receipt(msgspec.Struct, frozen=True):
    status: str
    logs: tuple[_Log, ...]


class Node:
    """A node of one network.

    Parameters:
        url: its URL. It may contain a key, and is never shown.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    async def find(self, send: Send, way: UnderWay) -> Settled | Lapsed | Unknown:
        """Find out whether a payment has moved its coins."""
        try:
            return await self._find(send, way)
        except (_Unsaid, Unanswered):
            return Unknown("The network's node does not tell whether the coins have moved.")

    async def _find(self, send: Send, way: UnderWay) -> Settled | Lapsed | Unknown:
        block = await self._ask(send, _Block, "eth_getBlockByNumber", "latest", False)
        at, height = _number(block.timestamp), _number(block.number)
        used = STATE_OF + _word(way.payer) + way.nonce.removeprefix("0x")
        call = {"to": way.asset, "data": used}
        if not _number(await self._ask(send, str, "eth_call", call, hex(height))):
            if at >= way.valid_before + SETTLED_FOR:
                return Lapsed()
            return Unknown("The coins have not moved yet, but still may.")
        found = await self._ask(
            send,
            tuple[_Log, ...],
            "eth_getLogs",
            {
                "fromBlock": hex(max(height - BLOCKS_BACK, 0)),
                "toBlock": hex(height),
                "address": way.asset,
                "topics": [USED, "0x" + _word(way.payer), way.nonce],
            },
        )
        for log in found:
            transaction = log.transaction_hash
            receipt = await self._ask(send, _Receipt, "eth_getTransactionReceipt", transaction)
            if _pays(receipt, way):
                return Settled(transaction.lower())
        if found:  # the payer has used the nonce for another transfer
            return Lapsed()
        return Unknown(
            "The authorisation was used or cancelled, and the transaction is not visible."
        )

    async def _ask(self, send: Send, kind: type[T], method: str, *params: object) -> T:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await send(
            Request(
                url=self._url,
                method="POST",
                body=msgspec.json.encode(asked),
                headers={"Content-Type": "application/json"},
                max_bytes=256 * 1024,
                seconds=SECONDS,
            )
        )
        try:
            told = msgspec.json.decode(answer.body)
            return msgspec.convert(told["result"], kind)
        except (msgspec.DecodeError, TypeError, KeyError):
            raise _Unsaid from None


def nodes_of(environment: Mapping[str, str]) -> dict[str, Node]:
    """Return the configured nodes, by network id.

    Parameters:
        environment: such as ``X402_NODE_BASE_SEPOLIA``, an ``https`` URL each.

    Raises:
        ValueError: a URL is not allowed; names its variable, and no part of the URL.
    """
    found = {}
    for network in NETWORKS:
        name = NODE + network.name.upper().replace("-", "_")
        if url := environment.get(name):
            if wrong := wrong_address(url):
                raise ValueError(f"{name} {wrong}.")
            found[network.id] = Node(url)
    return found


def _pays(receipt: _Receipt, way: UnderWay) -> bool:
    """Return whether a transaction has made the payment by this authorisation.

    A transaction can use several authorisations of a payer. The coin logs each use directly before
    its transfer: so transfers are never confused.
    """
    if receipt.status != "0x1":
        return False
    payer = "0x" + _word(way.payer)
    moves = [TRANSFER, payer, "0x" + _word(way.pay_to)]
    return any(
        _is_of(used, way.asset, [USED, payer, way.nonce])
        and _is_of(moved, way.asset, moves)
        and _number(moved.data) == int(way.value)
        for used, moved in pairwise(receipt.logs)
    )


def _is_of(log: _Log, asset: str, topics: list[str]) -> bool:
    return log.address.lower() == asset.lower() and [one.lower() for one in log.topics] == topics


def _word(address: str) -> str:
    """Encode an address as 32 bytes."""
    return address.lower().removeprefix("0x").rjust(64, "0")


def _number(told: str) -> int:
    """Parse a number of a node's response."""
    if not _QUANTITY.fullmatch(told.lower()):
        raise _Unsaid
    return int(told, 16)
