"""A real desk that answers with Claude, the stand-in for its API, and who talks to them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec

from aitp_desk.actions.base import OfferedAction
from aitp_desk.app.server import open_server
from aitp_desk.config import load_config
from tests.support.clients.ahp import Visitor
from tests.support.clients.threads import Talker
from tests.support.desk.first_start import begin_desk, begin_index
from tests.support.desk.server import SITE, UNLIMITED
from tests.support.doubles.chat_api import chat_api
from tests.support.doubles.messages_api import (
    MessagesApi,
    Script,
    messages_api,
)


class Met(msgspec.Struct):
    """A desk with a model, over each protocol."""

    api: MessagesApi
    visitor: Visitor
    talker: Talker


@asynccontextmanager
async def meeting(
    folder: Path,
    script: Script,
    *settings: str,
    actions: tuple[OfferedAction, ...] = (),
    clock: Callable[[], float] = time.time,
    is_chat: bool = False,
) -> AsyncIterator[Met]:
    """A desk for the bookshop that answers with the model of a script."""
    data = folder / "data"
    async with chat_api(script) if is_chat else messages_api(script) as api:
        config = load_config(SITE, (*UNLIMITED, *api.settings, *settings), port=0, data=data)
        begin_desk(config)
        begin_index(data, SITE)
        async with (
            open_server(config, environment=api.environment, actions=actions, clock=clock) as desk,
            aiohttp.ClientSession(desk.url) as http,
        ):
            yield Met(api, Visitor(desk, http), Talker(desk, data, http))
