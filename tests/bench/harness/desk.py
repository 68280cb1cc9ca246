"""A desk in a process of its own that is asked over its doors, and also with none between.

    python -m tests.bench.harness.desk DATA PORT

It serves `examples/shop`. Each line of its input, `ask COUNT` or `call COUNT`, has the desk itself
asked or called so often, one after the other, and is answered by the milliseconds of one (median).
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

import uvloop

from aitp_desk.app.server import open_server
from aitp_desk.config import load_config
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.direct.calls import DirectCall
from aitp_desk.model.access.principal import make_anonymous
from tests.bench.harness.exchange import ASKED, CALLED, QUESTION, WORDS
from tests.support.desk.server import SHOP

WHO = make_anonymous("127.0.0.1")


async def ask(desk: Desk) -> None:
    """The question of the doors."""
    await desk.conversations.ask(WHO, AskRequest(ASKED, QUESTION))


async def call(desk: Desk) -> None:
    """The call of the doors."""
    await desk.direct_calls.call(WHO, DirectCall(CALLED, WORDS), RequestInfo("POST", "/", b""))


async def serve(data: Path, port: int) -> None:
    """Serve until the input ends."""
    config = load_config(SHOP, ("limits.enabled=false",), port=port, data=data)
    kinds = {"ask": ask, "call": call}
    async with open_server(config) as served:
        while line := await asyncio.to_thread(sys.stdin.readline):
            kind, count = line.split()
            taken = []
            for _ in range(int(count)):
                began = time.perf_counter()
                await kinds[kind](served.desk)
                taken.append(time.perf_counter() - began)
            print(median(taken) * 1000, flush=True)


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
