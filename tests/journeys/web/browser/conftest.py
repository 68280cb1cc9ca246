"""Fixtures of pages in a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.support.desk.server import serving


@pytest_asyncio.fixture(loop_scope="session")
async def served_desk(tmp_path: Path) -> AsyncIterator[RunningServer]:
    """As in every test, on the event loop of the browser."""
    async with serving(tmp_path / "data") as desk:
        yield desk
