"""Payments of x402 that a site finds out about itself, where it names a node of the network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from aitp_desk.capability import Request, Response, Send, Unanswered
from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.egress import Egress
from aitp_payments.x402.chain import SETTLED_FOR, Lapsed, Node, nodes_of
from aitp_payments.x402.facilitator import Settled, Unknown
from aitp_payments.x402.records import UnderWay
from tests.support.payments.facilitator import USDC, Mood, Wallet, facilitator
from tests.support.payments.x402_merchant import MERCHANT, PAY_TO, Shop

NOW = 1_800_000_000
WALLET = "0x" + "ab" * 20
NONCE = "0x" + "cd" * 32
WAY = UnderWay(
    payment_id="pay_1",
    question=None,
    digest="",
    payer=WALLET,
    pay_to=PAY_TO,
    nonce=NONCE,
    network="eip155:84532",
    asset=USDC,
    value="250000",
    valid_before=NOW,
    was_sent=True,
)


@pytest.fixture
async def shop(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shop]:
    async with facilitator(NOW) as fake, Egress(allow_loopback=True) as egress:
        monkeypatch.setenv("X402_NODE_BASE_SEPOLIA", f"{fake.url}/node")
        yield Shop(fake, make_sender(egress))


def wallet(shop: Shop) -> Wallet:
    one = Wallet()
    shop.facilitator.chain.holds[one.address.lower()] = 250_000
    return one


@pytest.mark.slow
@pytest.mark.parametrize("mood", ["lost", "unwell after", "garbled", "elsewhere", "pending"])
async def test_a_transfer_of_which_nobody_has_told_is_found_at_once(shop: Shop, mood: Mood) -> None:
    shop.facilitator.moods.append(mood)
    shop.pay(wallet(shop).sign(shop.quote(), NOW))
    await shop.work()
    assert shop.results() == ["success"]
    assert shop.counters[MERCHANT] == 250_000
    (transaction,) = shop.facilitator.chain.used.values()
    assert transaction in str(shop.said[-1])
    assert len(shop.paid) == 1


async def test_a_transfer_that_was_never_made_is_refused_once_it_cannot_be_made(shop: Shop) -> None:
    asked = shop.quote()
    shop.facilitator.moods.extend(["unwell"] * 100)
    shop.pay(wallet(shop).sign(asked, NOW))
    await shop.work(asked["maxTimeoutSeconds"] + SETTLED_FOR - 60)
    assert shop.results() == ["pending"]
    await shop.work(180)
    assert shop.results() == ["pending", "failure"]
    assert "nothing was paid by it" in shop.words()
    assert shop.paid == []


async def test_a_nonce_that_was_used_for_another_transfer_pays_nothing(shop: Shop) -> None:
    payload = wallet(shop).sign(shop.quote(), NOW)
    shop.facilitator.moods.append("unwell")
    shop.facilitator.chain.use_otherwise(payload["payload"]["authorization"], WALLET)
    shop.facilitator.chain.used, used = {}, shop.facilitator.chain.used
    shop.pay(payload)
    shop.facilitator.before_settling = lambda: shop.facilitator.chain.used.update(used)
    await shop.work()
    assert shop.results() == ["failure"]
    assert shop.paid == []


async def test_a_node_that_is_down_leaves_it_open(shop: Shop) -> None:
    shop.facilitator.chain.is_down = True
    shop.facilitator.moods.append("lost")
    shop.pay(wallet(shop).sign(shop.quote(), NOW))
    await shop.work(30)
    assert shop.results() == ["pending"]
    shop.facilitator.chain.is_down = False
    await shop.work(60)
    assert shop.results() == ["pending", "success"]


BLOCK = {"number": "0x10", "timestamp": hex(NOW)}
LOG = {"address": USDC, "topics": [], "data": "0x", "transactionHash": NONCE}
ONE = f"0x{1:064x}"


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ([BLOCK, "0x0"], Unknown),
        ([{**BLOCK, "timestamp": hex(NOW + SETTLED_FOR)}, "0x0"], Lapsed),
        ([BLOCK, ONE, []], Unknown),
        ([BLOCK, ONE, [LOG], {"status": "0x1", "logs": []}], Lapsed),
        ([BLOCK, ONE, [LOG], {"status": "0x1", "logs": [LOG]}], Lapsed),
        ([BLOCK, ONE, [LOG], None], Unknown),
        ([BLOCK, ONE, [LOG], {"status": 1, "logs": []}], Unknown),
        ([BLOCK, ONE, "none"], Unknown),
        ([BLOCK, ""], Unknown),
        ([{"number": "x"}], Unknown),
        ([{**BLOCK, "number": "x"}], Unknown),
        ([None], Unknown),
        ([], Unknown),
    ],
)
async def test_what_a_node_says_that_cannot_be_read_leaves_it_open(
    told: list[Any], found: type
) -> None:
    answers = iter(told)

    async def send(_request: Request) -> Response:
        try:
            return Response(status=200, body=msgspec.json.encode({"result": next(answers)}))
        except StopIteration:
            raise Unanswered("There is no answer.") from None

    assert isinstance(await Node("https://node.example").find(send, WAY), found)


async def test_a_transfer_counts_where_it_is_of_the_coins_to_the_site_and_stands(
    shop: Shop,
) -> None:
    chain = shop.facilitator.chain
    chain.holds[WALLET] = 250_000
    signed = {"from": WALLET, "to": PAY_TO, "value": "250000", "nonce": NONCE}
    transaction = chain.move(signed)

    async def look(way: UnderWay = WAY) -> object:
        async with Egress(allow_loopback=True) as egress:
            send: Send = make_sender(egress)
            return await Node(f"{shop.facilitator.url}/node").find(send, way)

    assert await look() == Settled(transaction)
    for other in ({"value": "250001"}, {"pay_to": WALLET}, {"asset": WALLET}):
        assert isinstance(await look(msgspec.structs.replace(WAY, **other)), Lapsed)
    chain.receipts[transaction]["status"] = "0x0"
    assert isinstance(await look(), Lapsed)
    chain.cancel(signed)
    assert isinstance(await look(), Unknown)


async def test_of_several_authorisations_in_one_transaction_each_has_moved_its_own(
    shop: Shop,
) -> None:
    chain = shop.facilitator.chain
    chain.holds[WALLET] = 250_000
    signed = {"from": WALLET, "to": PAY_TO, "value": "250000", "nonce": NONCE}
    paid = chain.move(signed)
    other = "0x" + "ef" * 32
    chain.use_otherwise({**signed, "nonce": other}, WALLET)
    kept = chain.receipts[chain.used[WALLET, other]]["logs"]
    logs = [*kept, *chain.receipts[paid]["logs"]]
    chain.receipts[paid]["logs"] = [{**log, "transactionHash": paid} for log in logs]
    chain.used[WALLET, other] = paid
    async with Egress(allow_loopback=True) as egress:
        node, send = Node(f"{shop.facilitator.url}/node"), make_sender(egress)
        assert await node.find(send, WAY) == Settled(paid)
        second = msgspec.structs.replace(WAY, nonce=other)
        assert isinstance(await node.find(send, second), Lapsed)


def test_nodes_are_named_by_the_environment() -> None:
    named = {
        "X402_NODE_BASE": "https://a.example",
        "X402_NODE_BASE_SEPOLIA": "",
        "X402_NODE_X": "y",
    }
    assert nodes_of(named).keys() == {"eip155:8453"}


def test_a_node_that_cannot_be_trusted_is_named_by_its_variable_alone() -> None:
    with pytest.raises(ValueError, match="X402_NODE_BASE_SEPOLIA must use https") as refused:
        nodes_of({"X402_NODE_BASE_SEPOLIA": "http://node.example/secret"})
    assert "secret" not in str(refused.value)
    with pytest.raises(ValueError, match="X402_NODE_BASE must not contain a user name"):
        nodes_of({"X402_NODE_BASE": "https://me:secret@node.example/"})
