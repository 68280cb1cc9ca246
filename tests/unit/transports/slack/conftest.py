"""A workspace on the loopback, and a transport for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

import pytest

from tests.support.transports.slack_desk import SlackDesk, slack_desk
from tests.support.transports.slack_platform import SlackPlatform, slack_platform


@pytest.fixture
def mode() -> Literal["events", "socket"]:
    """How Slack reaches the desk; tests that try both replace it."""
    return "events"


@pytest.fixture
async def slack(mode: Literal["events", "socket"]) -> AsyncIterator[SlackPlatform]:
    async with slack_platform(mode) as platform:
        yield platform


@pytest.fixture
async def desk(slack: SlackPlatform) -> AsyncIterator[SlackDesk]:
    async with slack_desk(slack) as found:
        yield found
