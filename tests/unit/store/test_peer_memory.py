"""An offer of a partner is taken by one of the calls that agree to it at once."""

from __future__ import annotations

import asyncio

import msgspec

from aitp_desk.app.peers import make_memory
from aitp_desk.store.base import Store
from aitp_desk.transports.peers.memory import PeerConversation
from aitp_desk.visitor.base import Answer

OFFERED = PeerConversation(call_id="call_1", offered=Answer("Two lamps for 19.00 EUR.", "question"))


async def test_one_of_several_takes_an_offer(store: Store) -> None:
    memory = make_memory(store, "moth", lambda: 0.0)
    await memory.keep("thread_1", OFFERED)
    taken = await asyncio.gather(*(memory.take_offer("thread_1", "call_1") for _ in range(8)))
    assert sorted(taken, key=bool) == [*[None] * 7, OFFERED]
    assert await memory.read("thread_1") == msgspec.structs.replace(OFFERED, offered=None)


async def test_an_offer_is_gone_once_another_was_made(store: Store) -> None:
    memory = make_memory(store, "moth", lambda: 0.0)
    assert await memory.take_offer("thread_1", "call_1") is None
    await memory.keep("thread_1", msgspec.structs.replace(OFFERED, call_id="call_2"))
    assert await memory.take_offer("thread_1", "call_1") is None
    assert await memory.take_offer("", "call_2") is None
    assert await memory.take_offer("thread_1", "call_2") is not None
