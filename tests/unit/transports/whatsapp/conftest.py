"""A desk with a number on WhatsApp."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from aitp_desk.transports.whatsapp.transport import WhatsAppTransport
from tests.support.transports.small_desk import SmallDesk, open_small_desk
from tests.support.transports.whatsapp_platform import NOW, WhatsAppPlatform


@pytest.fixture
async def whatsapp() -> AsyncIterator[WhatsAppPlatform]:
    platform = await WhatsAppPlatform.start()
    yield platform
    await platform.close()


@pytest.fixture
async def desk(whatsapp: WhatsAppPlatform) -> AsyncIterator[SmallDesk]:
    async with open_small_desk(WhatsAppTransport, whatsapp) as desk:
        desk.now = NOW
        yield desk
