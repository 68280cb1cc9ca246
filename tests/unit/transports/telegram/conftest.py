"""A desk with a bot on Telegram."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from aitp_desk.transports.telegram.transport import TelegramTransport
from tests.support.transports.small_desk import SmallDesk, open_small_desk
from tests.support.transports.telegram_platform import TelegramPlatform


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramPlatform]:
    platform = await TelegramPlatform.start()
    yield platform
    await platform.close()


@pytest.fixture
async def desk(telegram: TelegramPlatform) -> AsyncIterator[SmallDesk]:
    async with open_small_desk(TelegramTransport, telegram) as desk:
        yield desk
