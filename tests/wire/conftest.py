"""What the tests of this folder share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import pytest
import pytest_asyncio

from aitp_desk.egress import Egress
from tests.keys import make_signing_key
from tests.serving import serving
from tests.two_ways import NOW, SETTINGS, CountingFront, GeneralFront, Pair
from tests.websites import Website, website


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("ways")

    def clock() -> float:
        return NOW + 0.5

    with patch("aitp_desk.app.Front", CountingFront):
        swift = serving(folder / "swift", *SETTINGS, clock=clock)
        async with swift as one:
            with patch("aitp_desk.app.Front", GeneralFront):
                general = serving(folder / "general", *SETTINGS, clock=clock)
                async with general as other:
                    key = await make_signing_key(one.store, folder / "swift")
                    other_key = await make_signing_key(other.store, folder / "general")
                    yield Pair((one, key), (other, other_key))


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with website() as site:
        yield site


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    async with Egress(allow_loopback=True) as egress:
        yield egress
