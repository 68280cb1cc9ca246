"""How many of the desk's functions a request enters: layers do not creep back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.bench.frames import SETTINGS, Trace, port_of, trace_all
from tests.support.desk.server import SHOP, serving

MOST = {
    "converse": 74,
    "message": 82,
    "run": 600,
    "mcp-2025-11-25": 188,
    "mcp-2026-07-28": 190,
}
"""By request, as ``python -m tests.bench.frames`` names them. Lower one that has become too high;
raise one only for what a request must do in addition.
"""


@pytest.mark.slow
async def test_a_request_enters_no_more_functions_than_it_needs(tmp_path: Path) -> None:
    with Trace() as trace:
        async with serving(tmp_path, *SETTINGS, folder=SHOP) as desk:
            port = port_of(desk.url)
            counts = await asyncio.to_thread(
                lambda: dict(trace_all(trace, port, list(MOST), enough=MOST))
            )
    entered = {name: len(one.own) for name, one in counts.items()}
    assert {name: most for name, most in MOST.items() if entered[name] > most} == {}, entered
