"""Fixtures for outgoing requests: a website and the client that reads it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from aitp_desk.egress import Egress
from tests.support.doubles.website import Website, website


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with website() as site:
        yield site


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    async with Egress(allow_loopback=True) as egress:
        yield egress
