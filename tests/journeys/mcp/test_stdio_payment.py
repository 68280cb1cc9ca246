"""What is paid first, over pipes: quoted, paid, done once, and repeated on request."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.mcp.test_stdio import make_agents_key, piped
from tests.journeys.payments.test_payments import fund, payment
from tests.support.clients.mcp import MODES, Mode, words
from tests.support.payments.till_plugin import make_site, sold

pytestmark = pytest.mark.servers

SETTINGS = '[capabilities.payments]\nmerchant_id = "tickets.example"\n'


@pytest.mark.parametrize("mode", MODES)
async def test_a_desktop_client_pays_for_a_tool(tmp_path: Path, mode: Mode) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    key = await make_agents_key(tmp_path, site)
    await asyncio.to_thread(fund, tmp_path / "data")
    async with piped(tmp_path, site, mode, key) as client:
        refused = await client.call_tool("buy_ticket", {"name": "Ada"})
        assert refused.is_error
        told: dict[str, Any] = refused.structured_content["error"]["payment"]
        assert told["price"] == {"amount": "5.00", "currency": "EUR"}
        paying = {"name": "Ada", "_payment": {"payment": payment(told["message"]["quote"])}}
        for _ in range(2):
            bought = await client.call_tool("buy_ticket", paying)
            assert not bought.is_error, words(bought)
            assert "Ada" in words(bought)
    assert len(sold(site)) == 1
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8")
