"""What is wrong with the settings of MCP servers is reported before anything is served."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.config import Config, Mcp, ToolTerms
from tests.support.doubles.openapi_service import load, problems

URL = "http://127.0.0.1:9/mcp"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"url": ""}, "must have either a command or a url."),
    ({"command": (sys.executable,)}, "must have either a command or a url."),
    (
        {"url": "", "command": ("no-such-program", "x")},
        "command begins with 'no-such-program', which is not a program on this machine.",
    ),
    (
        {"url": "", "command": ("./server.py",)},
        "command begins with './server.py', which is not a program on this machine.",
    ),
    ({"url": "ftp://a"}, "url must be a web address, such as http://127.0.0.1:9000/mcp."),
    ({"url": "http://me:pw@a/"}, "url must be a web address, such as http://127.0.0.1:9000/mcp."),
    (
        {"bearer_env": "NOT_SET"},
        "bearer_env names the environment variable NOT_SET, which is not set.",
    ),
    ({"env": ("NOT_SET",)}, "env names the environment variable NOT_SET, which is not set."),
    ({"terms": (ToolTerms(),)}, "has terms without the name of a tool."),
    ({"terms": (ToolTerms(tool="a"),) * 2}, "has terms of a twice; write one table."),
    (
        {"terms": (ToolTerms(tool="b"),)},
        "has terms of b, which is not one of the offered tools.",
    ),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
def test_settings_that_cannot_be_used_are_told(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    server = Mcp(name="shop", **{"url": URL, "tools": ("a",), **settings})
    config = Config(folder=tmp_path, data=tmp_path / ".desk", mcp=(server,))
    assert problems(config, {"SET": "x"}) == [f"mcp, shop: {message}"]


def test_servers_need_names_of_their_own(tmp_path: Path) -> None:
    one = Mcp(name="shop", url=URL)
    config = Config(folder=tmp_path, data=tmp_path / ".desk", mcp=(one, one, Mcp(url=URL)))
    assert problems(config) == [
        "mcp, shop: has a name that is already in use.",
        "mcp: table 3 of [[mcp]] has no name.",
    ]


def test_a_program_may_stand_in_the_site_s_folder_and_check_asks_no_server(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    program.chmod(0o755)
    server = Mcp(name="shop", command=("./server.py",), tools=("*",))
    assert load(Config(folder=tmp_path, data=tmp_path / ".desk", mcp=(server,))) == ()
