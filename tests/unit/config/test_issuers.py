"""What the settings of issuers must satisfy, and where their secrets may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.config import ConfigError, Issuer, load_config
from aitp_desk.config.rules.issuers import read_secret

GOOD = {"name": '"login"', "url": '"https://login.example"'}
SHARED = {**GOOD, "algorithms": '["HS256"]', "secret_env": '"LOGIN_SECRET"'}
SECRET = "0123456789abcdef" * 2


def told(folder: Path, *issuers: dict[str, str], rest: str = "") -> dict[str, str]:
    """What is wrong, by setting; an entry that is empty is left out."""
    tables = (
        "[[issuers]]\n" + "\n".join(f"{name} = {value}" for name, value in issuer.items() if value)
        for issuer in issuers
    )
    (folder / "desk.toml").write_text("\n".join([rest, *tables]), encoding="utf-8")
    try:
        load_config(folder)
    except ConfigError as error:
        problems: dict[str, str] = {}
        for problem in error.problems:
            problems[problem.key] = problems.get(problem.key, "") + problem.message
        return problems
    return {}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOGIN_SECRET", SECRET)
    monkeypatch.setenv("SHORT_SECRET", "hunter2-hunter2-hunter2-hunter2")
    monkeypatch.delenv("NO_SECRET", raising=False)
    (tmp_path / "secret.key").write_text(f"{SECRET}\n", encoding="ascii")
    (tmp_path / "published.txt").write_text(f"{SECRET}\n", encoding="ascii")
    (tmp_path / "short.key").write_text("hunter2\n", encoding="ascii")
    return tmp_path


@pytest.mark.parametrize(
    "issuer",
    [
        GOOD,
        SHARED,
        {**SHARED, "secret_env": "", "secret_file": '"secret.key"'},
        {**SHARED, "url": '"any text that tokens name"'},
        {**GOOD, "url": '"https://login.example/realms/a/"', "jwks": '"https://keys.example/a"'},
        {**GOOD, "scopes": '["threads", "actions:book_table", "operator", "admin"]'},
        {**GOOD, "scope_names": '{"desk.talk" = "threads"}', "algorithms": '["ES256"]'},
    ],
)
def test_an_issuer_is_taken(folder: Path, issuer: dict[str, str]) -> None:
    assert told(folder, issuer) == {}


WRONG: dict[str, tuple[dict[str, str], str, str]] = {
    "no name": ({**GOOD, "name": ""}, "name", "has none"),
    "a name with a colon": ({**GOOD, "name": '"a:b"'}, "name", "small letters"),
    "no url": ({**GOOD, "url": ""}, "url", "has none"),
    "no encryption": ({**GOOD, "url": '"http://login.example"'}, "url", "not encrypted"),
    "a private place": ({**GOOD, "url": '"https://10.0.0.1"'}, "url", "not public"),
    "a password": ({**GOOD, "jwks": '"https://a:hunter2@login.example/k"'}, "jwks", "password"),
    "no address": ({**GOOD, "url": '"login"'}, "url", "is not a web address"),
    "the desk itself": ({**GOOD, "url": '"https://desk.example/"'}, "url", "desk's own"),
    "no algorithm": ({**GOOD, "algorithms": "[]"}, "algorithms", "empty"),
    "algorithm twice": ({**GOOD, "algorithms": '["ES256", "ES256"]'}, "algorithms", "duplicates"),
    "an unknown algorithm": ({**GOOD, "algorithms": '["none"]'}, "algorithms", "takes a list"),
    "a longer hash": ({**GOOD, "algorithms": '["RS512"]'}, "algorithms", "takes a list"),
    "a mixture": ({**SHARED, "algorithms": '["RS256", "HS256"]'}, "algorithms", "mix HS256"),
    "a secret to publish": (
        {**SHARED, "jwks": '"https://login.example/k"'},
        "jwks",
        "has no keys to fetch",
    ),
    "a secret for public keys": ({**SHARED, "algorithms": ""}, "secret_env", "public keys"),
    "no secret": (
        {**SHARED, "secret_env": ""},
        "secret_env",
        "Set either secret_env or secret_file.",
    ),
    "two secrets": (
        {**SHARED, "secret_file": '"secret.key"'},
        "secret_env",
        "Set either secret_env or secret_file.",
    ),
    "a secret that is not set": (
        {**SHARED, "secret_env": '"NO_SECRET"'},
        "secret_env",
        "variable NO_SECRET contains no secret: it takes at least 32 bytes",
    ),
    "a short secret": ({**SHARED, "secret_env": '"SHORT_SECRET"'}, "secret_env", "too short"),
    "a short file": (
        {**SHARED, "secret_env": "", "secret_file": '"short.key"'},
        "secret_file",
        "file short.key contains a secret that is too short",
    ),
    "a file that is not there": (
        {**SHARED, "secret_env": "", "secret_file": '"none.key"'},
        "secret_file",
        "cannot be read",
    ),
    "a folder for a file": (
        {**SHARED, "secret_env": "", "secret_file": '"/"'},
        "secret_file",
        "cannot be read",
    ),
    "a file among the content": (
        {**SHARED, "secret_env": "", "secret_file": '"published.txt"'},
        "secret_file",
        "is in the content folder",
    ),
    "the secret itself": (
        {**SHARED, "secret_env": '"hunter2-hunter2-hunter2-hunter2-hunter2"'},
        "secret_env",
        "Never write the secret itself in desk.toml",
    ),
    "an unknown scope": ({**GOOD, "scopes": '["thread"]'}, "scopes", "no scope 'thread'"),
    "an unknown meaning": (
        {**GOOD, "scope_names": '{talk = "everything"}'},
        "scope_names",
        "no scope 'everything'",
    ),
    "clocks that differ by hours": ({**GOOD, "leeway_seconds": "3600"}, "leeway_seconds", "300"),
    "a life without end": ({**GOOD, "max_lifetime_seconds": "0"}, "max_lifetime_seconds", "from 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_errors_of_an_issuer_are_reported_without_a_secret(folder: Path, case: str) -> None:
    issuer, setting, said = WRONG[case]
    site = '[site]\nurl = "https://desk.example"'
    problems = told(folder, issuer, rest=site)
    assert list(problems) == [f"issuers.{setting}"]
    assert said in problems[f"issuers.{setting}"]
    assert "hunter2" not in str(problems)
    assert SECRET not in str(problems)


def test_two_issuers_share_neither_name_nor_url(folder: Path) -> None:
    assert list(told(folder, GOOD, {**GOOD, "name": '"other"'})) == ["issuers.url"]
    assert list(told(folder, GOOD, {**GOOD, "url": '"https://other.example"'})) == ["issuers.name"]


def test_a_server_on_this_machine_is_asked_only_where_tests_allow_it(folder: Path) -> None:
    own = {**GOOD, "url": '"http://127.0.0.1:9000"'}
    assert "not encrypted" in told(folder, own)["issuers.url"]
    assert told(folder, own, rest="[egress]\nallow_loopback = true") == {}


def test_a_secret_is_read_without_the_space_around_it(folder: Path) -> None:
    issuer = Issuer(secret_file="secret.key")
    assert read_secret(issuer, folder) == SECRET.encode()
    assert read_secret(Issuer(secret_env="LOGIN_SECRET"), folder) == SECRET.encode()
