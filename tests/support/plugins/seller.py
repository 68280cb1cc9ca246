"""A seller's agent and a guest on one thread, who ask and answer in messages of a capability."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.clients.threads import THREADS, Talker

SELLER = "https://seller.example"


def part_of(schema: str, message: Mapping[str, Any]) -> str:
    """A structured message as a part of a message."""
    return json.dumps({"$schema": schema, **message})


async def together(schema: str, desk: Talker, *schemas: str) -> tuple[Talker, Talker, str]:
    """A seller's agent, which knows the schema, a guest who knows these, and their thread."""
    seller, guest = await desk.with_key("threads"), await desk.with_key("threads")
    declared = {"id": SELLER, "capabilities": [{"schema": schema}]}
    thread = (await seller.open(metadata={"actors": [declared]})).id
    assert guest.key is not None
    joining = {
        "id": "guest",
        "principal": f"key:{guest.key.split('_')[1]}",
        "capabilities": [{"schema": one} for one in schemas],
    }
    assert (await seller.send("POST", f"{THREADS}/{thread}/actors", joining)).status == 200
    return seller, guest, thread


async def ask(seller: Talker, thread: str, schema: str, message: Mapping[str, Any]) -> None:
    """Have the seller ask the guest, whom nobody else answers for."""
    content = part_of(schema, message)
    asked = await seller.post(thread, content, wait=5, metadata={"actor": SELLER})
    assert asked.ok["run"] is None, "the guest is asked, and nobody else answers"


async def said(who: Talker, thread: str) -> list[list[str]]:
    """All messages of a thread, as the caller sees them."""
    listed = (await who.messages(thread, "?order=asc&limit=100")).ok
    return [message["content"] for message in listed["data"]]
