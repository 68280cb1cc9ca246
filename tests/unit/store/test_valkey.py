"""The common state of several processes, with a real server that goes away and comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from aitp_desk.store.valkey import Increment, ValkeyAway, ValkeyServer, open_valkey
from tests.support.store.valkey_process import ValkeyProcess, valkey_process

pytestmark = pytest.mark.servers


async def test_what_is_added_is_summed(valkey: ValkeyServer) -> None:
    assert await valkey.add([Increment("a", 2), Increment("b", 1)], seconds=60) == [2, 1]
    assert await valkey.add([Increment("a", 3), Increment("a", 1)], seconds=60) == [5, 6]


async def test_a_count_is_dropped_after_a_while(valkey: ValkeyServer) -> None:
    await valkey.add([Increment("a", 2)], seconds=60)
    assert 0 < await valkey.client.ttl("a") <= 60


async def test_a_table_keeps_its_fields_until_it_is_dropped(valkey: ValkeyServer) -> None:
    await valkey.write_fields("answers", {"one": "1", "two": "2"}, seconds=60)
    await valkey.write_fields("answers", {"two": "3"}, seconds=60)
    assert await valkey.read_field("answers", "one") == b"1"
    assert await valkey.read_field("answers", "two") == b"3"
    await valkey.drop_table("answers")
    assert await valkey.read_field("answers", "one") is None


async def test_a_server_that_goes_away_is_tried_again_after_a_pause(
    valkey_process: ValkeyProcess,
) -> None:
    now = 0.0
    async with open_valkey(valkey_process.url, None) as opened:
        assert opened is not None
        server = ValkeyServer(opened.client, lambda: now)
        await server.add([Increment("a", 1)], seconds=60)
        with capture_logs() as logs:
            valkey_process.kill()
            for _ in range(3):
                with pytest.raises(ValkeyAway):
                    await server.add([Increment("a", 1)], seconds=60)
            assert "valkey.away" in str(logs)
            valkey_process.start()
            with pytest.raises(ValkeyAway):
                await server.add([Increment("a", 1)], seconds=60)
            now = 60.0
            assert await server.add([Increment("a", 1)], seconds=60) == [1]
        assert [entry["event"] for entry in logs] == ["valkey.away", "valkey.back"]


async def test_a_wrong_password_is_no_word_of_the_log(tmp_path: Path) -> None:
    with valkey_process(tmp_path, "--requirepass", "right") as process:
        async with open_valkey(process.url, "mistaken") as server:
            assert server is not None
            with capture_logs() as logs, pytest.raises(ValkeyAway):
                await server.add([Increment("a", 1)], seconds=60)
            assert "mistaken" not in str(logs)
        async with open_valkey(process.url, "right") as server:
            assert server is not None
            assert await server.add([Increment("a", 1)], seconds=60) == [1]
