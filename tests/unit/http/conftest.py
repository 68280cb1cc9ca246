"""Fixtures of the HTTP tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import pytest
import pytest_asyncio

from tests.support.access.keys import make_signing_key
from tests.support.desk.server import serving
from tests.support.http.desk_pair import NOW, SETTINGS, CountingHeads, NoHeads, Pair


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("heads")

    def clock() -> float:
        return NOW + 0.5

    with patch("aitp_desk.http.server.HeadCache", CountingHeads):
        cached = serving(folder / "cached", *SETTINGS, clock=clock)
        async with cached as one:
            with patch("aitp_desk.http.server.HeadCache", NoHeads):
                parsed = serving(folder / "parsed", *SETTINGS, clock=clock)
                async with parsed as other:
                    key = await make_signing_key(one.store, folder / "cached")
                    other_key = await make_signing_key(other.store, folder / "parsed")
                    yield Pair((one, key), (other, other_key))
