"""A desk whose agent never ends a reply, so that runs are recorded and none is worked on.

It takes the arguments of `aitp-desk serve FOLDER` that the benchmarks use; all else of it is the
real desk. The cost of posting is then measured without that of answering.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import uvloop

from aitp_desk.agent.base import Answer, Event, Turn
from aitp_desk.app.process import serve
from aitp_desk.config import load_config


class SilentAgent:
    """An agent that is for ever about to answer."""

    name = "silent"

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        await asyncio.Event().wait()
        yield Answer("")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("serve")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--set", action="append")
    given = parser.parse_args()
    config = load_config(given.folder, given.set, port=given.port, data=given.data)
    uvloop.run(serve(config, announce=print, agent=SilentAgent()))
