"""Tools of an MCP server that the desk begins as a process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from aitp_desk.actions.registry import open_sources
from aitp_desk.config import Config, Mcp
from aitp_desk.model.errors import Unavailable
from tests.support.doubles import mcp_server
from tests.support.doubles.openapi_service import call

PROGRAM = (sys.executable, str(Path(mcp_server.__file__).absolute()))


@pytest.mark.servers
@pytest.mark.parametrize(("env", "name"), [((), "nobody"), (("SHOP_NAME",), "Bend")])
async def test_a_process_gets_what_it_is_allowed_and_is_restarted_when_it_ends(
    tmp_path: Path, env: tuple[str, ...], name: str
) -> None:
    server = Mcp(name="shop", command=PROGRAM, env=env, tools=("*",))
    config = Config(folder=tmp_path, data=tmp_path / ".desk", mcp=(server,))
    async with open_sources(config, {"SHOP_NAME": "Bend", "MORE": "x"}, ()) as offers:
        found = {one.action.name: one for one in offers.offered}
        greeting = {"result": f"Hello, Ann, from {name}."}
        assert await call(found["greet"], name="Ann") == greeting
        with pytest.raises(Unavailable, match="It is unknown whether it took effect"):
            await call(found["leave"])
        assert await call(found["greet"], name="Ann") == greeting
        process = int(await call(found["process"]))
        os.kill(process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
