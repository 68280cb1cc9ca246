"""What the settings of agents.txt must satisfy: nothing that would make a malformed file."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.config import ConfigError, load_config

GOOD = {"id": '"search"', "endpoint": '"/api/search"'}


def problems(folder: Path, table: dict[str, str], rest: str = "") -> dict[str, str]:
    """What is wrong, by setting."""
    lines = "\n".join(f"{name} = {value}" for name, value in table.items())
    (folder / "desk.toml").write_text(
        f'[site]\nurl = "https://a.example"\n[agents_txt]\n{rest}\n'
        f"[[agents_txt.capability]]\n{lines}\n",
        encoding="utf-8",
    )
    try:
        load_config(folder)
    except ConfigError as error:
        found: dict[str, str] = {}
        for problem in error.problems:
            found[problem.key] = found.get(problem.key, "") + problem.message
        return found
    return {}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"endpoint": '"https://a.example:8443/x"'},
        {"endpoint": '"wss://a.example/x"', "protocol": '"WebSocket"'},
        {"auth": '"oauth2"', "auth_endpoint": '"https://login.example/token"'},
        {"auth": '"api-key"', "auth_docs": '"/keys"', "openapi": '"/openapi.json"'},
        {"rate_limit": '"60/minute"', "scopes": '["read"]'},
        {"parameters": '[{name = "q"}, {name = "q", location = "header"}]'},
    ],
)
def test_an_endpoint_is_taken(tmp_path: Path, more: dict[str, str]) -> None:
    assert problems(tmp_path, {**GOOD, **more}) == {}


@pytest.mark.requirement("AGT-8.1-1", "AGT-8.2-1", "AGT-8.5-1", "AGT-3.4-1", "AGT-3.4-2")
@pytest.mark.parametrize(
    ("more", "key", "message"),
    [
        ({"id": '""'}, "id", "has no valid name"),
        ({"id": '"Search"'}, "id", "it takes"),
        ({"endpoint": '""'}, "endpoint", "is missing"),
        ({"endpoint": '"api"'}, "endpoint", "is not a web address"),
        ({"endpoint": '"//b.example/x"'}, "endpoint", "is not a path"),
        ({"endpoint": '"/a b"'}, "endpoint", "is not a path"),
        ({"endpoint": '"http://a.example/x"'}, "endpoint", "is not encrypted"),
        ({"endpoint": '"https://b.example/x"'}, "endpoint", "is on another host"),
        ({"endpoint": '"https://u:p@a.example/x"'}, "endpoint", "contains a user name"),
        ({"endpoint": '"https://a.example"', "protocol": '"WebSocket"'}, "endpoint", "WebSocket"),
        (
            {"endpoint": '"ws://a.example"', "protocol": '"WebSocket"'},
            "endpoint",
            "is not encrypted",
        ),
        ({"protocol": '"SOAP"'}, "protocol", "it takes"),
        ({"auth": '"oauth2"'}, "auth_endpoint", "has none, but oauth2 needs"),
        ({"auth": '"magic"'}, "auth", "it takes"),
        ({"auth_docs": '"ftp://a.example"'}, "auth_docs", "is not a web address"),
        ({"openapi": '"http://b.example/x"'}, "openapi", "is not encrypted"),
        ({"rate_limit": '"60 a minute"'}, "rate_limit", "it takes"),
        ({"rate_limit": '"0/minute"'}, "rate_limit", "it takes"),
        ({"parameters": '[{name = ""}]'}, "parameters.name", "has no name"),
        ({"parameters": '[{name = "q"}, {name = "q"}]'}, "parameters.name", "is used twice"),
    ],
)
def test_what_would_break_the_file_is_refused(
    tmp_path: Path, more: dict[str, str], key: str, message: str
) -> None:
    found = problems(tmp_path, {**GOOD, **more})
    assert message in found[f"agents_txt.capability.{key}"]
    assert "u:p" not in str(found)


def test_an_id_stands_once_and_links_are_encrypted(tmp_path: Path) -> None:
    again = '[[agents_txt.capability]]\nid = "search"\nendpoint = "/x"'
    rest = f'privacy_policy = "privacy"\nauth_docs = "http://a.example/"\nallow = ["shop"]\n{again}'
    found = problems(tmp_path, GOOD, rest)
    assert "is used twice" in found["agents_txt.capability.id"]
    assert "is not a web address" in found["agents_txt.privacy_policy"]
    assert "is not encrypted" in found["agents_txt.auth_docs"]
    assert "agents_txt.allow" in found
