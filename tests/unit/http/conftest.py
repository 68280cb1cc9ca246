"""Fixtures of the HTTP tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import pytest
import pytest_asyncio

from tests.support.access.keys import make_signing_key
from tests.support.desk.server import serving
from tests.support.http.connection_pair import NOW, SETTINGS, CountingFront, GeneralFront, Pair


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("ways")

    def clock() -> float:
        return NOW + 0.5

    with patch("aitp_desk.app.server.Dispatcher", CountingFront):
        swift = serving(folder / "swift", *SETTINGS, clock=clock)
        async with swift as one:
            with patch("aitp_desk.app.server.Dispatcher", GeneralFront):
                general = serving(folder / "general", *SETTINGS, clock=clock)
                async with general as other:
                    key = await make_signing_key(one.store, folder / "swift")
                    other_key = await make_signing_key(other.store, folder / "general")
                    yield Pair((one, key), (other, other_key))
