"""The keys of a desk: checked, exchanged, and what happens where they do not fit."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.auth.keys.master_key import KEY_FILE, MASTER_KEY, NEW_MASTER_KEY, KeyFileError
from aitp_desk.store.engine.lock import lock_data_folder
from tests.support.access.identity_provider import SECRET, claims_of, sign
from tests.support.clients.ahp import Visitor, visiting
from tests.support.desk.server import serving
from tests.support.desk.terminal import command

BY_LINK = {"may": "read", "link": True}
ALWAYS_THERE = "site.url=https://desk.example"
BY_ANOTHER = """
[[issuers]]
name = "login"
url = "https://login.example"
algorithms = ["HS256"]
secret_file = "secret.key"
replay = "once"
"""
ONE, TWO = "1a" * 32, "2b" * 32


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder as a desk leaves it that was served once."""
    folder = tmp_path / "data"
    serve(folder)
    return folder


def serve(folder: Path) -> None:
    """Start and stop a desk."""

    async def start() -> None:
        async with serving(folder):
            pass

    asyncio.run(start())


def lets_in(folder: Path, *keys: str) -> list[int]:
    """What a desk that is started now answers to who sends these API keys."""

    async def ask() -> list[int]:
        statuses = []
        async with visiting(folder) as visitor:
            for key in keys:
                async with visitor.http.get("/v1/models", headers={"X-AHP-Key": key}) as response:
                    statuses.append(response.status)
        return statuses

    return asyncio.run(ask())


def make_token(data: Path, name: str, **environment: str) -> str:
    arguments = ("--data", data, "--name", name, "--scope", "threads")
    return command("token", "create", *arguments, environment=environment)[-1]


def test_keys_that_fit_are_told_without_themselves(data: Path) -> None:
    make_token(data, "bot")
    told = command("keys", "check", "--data", data)
    assert told[1:] == [
        "data keys   1; new credentials use the newest",
        "tokens      1 not revoked",
        "The master key belongs to this database and decrypts all data keys.",
    ]
    assert told[0].endswith(f", from {data}/{KEY_FILE}")
    assert (data / KEY_FILE).read_text().strip() not in "\n".join(told)


def test_the_master_key_and_the_data_key_are_exchanged_and_every_api_key_goes_on_working(
    data: Path,
) -> None:
    keys = [make_token(data, "one")]
    before = (data / KEY_FILE).read_text()
    command("keys", "rotate-master", "--data", data)
    keys.append(make_token(data, "two"))
    command("keys", "rotate-data", "--data", data)
    keys.append(make_token(data, "three"))
    assert (data / KEY_FILE).read_text() != before
    assert (data / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert lets_in(data, *keys) == [200, 200, 200]
    assert "data keys   1, 2; new credentials use the newest" in command(
        "keys", "check", "--data", data
    )
    log = "\n".join(command("audit", "export", "--data", data))
    assert "master_key.rotated" in log
    assert "data_key.rotated" in log
    assert (
        command("audit", "verify", "--data", data)[0]
        == "The audit log is complete and unchanged: 5 rows."
    )


def test_a_desk_that_serves_keeps_its_keys(data: Path) -> None:
    before = (data / KEY_FILE).read_text()
    with lock_data_folder(data):
        for exchange in ("rotate-master", "rotate-data"):
            (told,) = command("keys", exchange, "--data", data, exit_code=1)
            assert "Another desk is serving" in told
    assert (data / KEY_FILE).read_text() == before


def test_the_master_key_goes_to_the_environment_and_on_to_another(data: Path) -> None:
    kept = make_token(data, "kept")
    command("keys", "rotate-master", "--data", data, environment={NEW_MASTER_KEY: ONE})
    (told,) = command("keys", "check", "--data", data, exit_code=1)[1:]
    assert "does not belong to this database" in told
    command("keys", "check", "--data", data, environment={MASTER_KEY: ONE})

    one = {MASTER_KEY: ONE}
    (told,) = command("keys", "rotate-master", "--data", data, environment=one, exit_code=1)
    assert NEW_MASTER_KEY in told
    same = {**one, NEW_MASTER_KEY: ONE}
    (told,) = command("keys", "rotate-master", "--data", data, environment=same, exit_code=1)
    assert "is already in use" in told
    command("keys", "rotate-master", "--data", data, environment={**one, NEW_MASTER_KEY: TWO})
    command("keys", "check", "--data", data, environment=one, exit_code=1)
    command("keys", "check", "--data", data, environment={MASTER_KEY: TWO})

    (data / KEY_FILE).write_text(TWO)
    assert lets_in(data, kept) == [200]


@pytest.mark.sqlite
def test_a_restored_database_with_another_key_file_does_not_start(
    data: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    serve(other)
    shutil.copy(other / KEY_FILE, data / KEY_FILE)
    with pytest.raises(KeyFileError, match="does not belong to this database"):
        serve(data)
    assert (
        "does not belong to this database"
        in command("keys", "check", "--data", data, exit_code=1)[-1]
    )
    (data / KEY_FILE).unlink()
    with pytest.raises(KeyFileError, match="is missing"):
        serve(data)
    (told,) = command("keys", "check", "--data", data, exit_code=1)
    assert f"there is no {data}/{KEY_FILE}" in told


@pytest.mark.sqlite
def test_what_an_interrupted_exchange_left_is_reported_and_the_next_one_clears_it(
    data: Path,
) -> None:
    kept = make_token(data, "kept")
    with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
        database.execute("INSERT INTO data_keys SELECT version, 'ab', wrapped, 0 FROM data_keys")
    draft = data / f"{KEY_FILE}.0"
    draft.touch()
    told = command("keys", "check", "--data", data, exit_code=1)
    assert "the master key ab too" in told[-2]
    assert str(draft) in told[-1]
    draft.unlink()
    command("keys", "rotate-master", "--data", data)
    command("keys", "check", "--data", data)
    assert lets_in(data, kept) == [200]


@pytest.mark.sqlite
def test_a_changed_data_key_is_reported(data: Path) -> None:
    make_token(data, "lost")
    with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
        database.execute("UPDATE tokens SET data_key = 2")
    assert "uses data key 2" in command("keys", "check", "--data", data, exit_code=1)[-1]
    with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
        database.execute("UPDATE data_keys SET wrapped = x'00'")
    assert "was changed" in command("keys", "check", "--data", data, exit_code=1)[-1]


@pytest.mark.sqlite
def test_keys_of_a_desk_of_an_earlier_version_are_told_too(data: Path) -> None:
    with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
        database.execute("DELETE FROM data_keys")
    told = command("keys", "check", "--data", data)
    assert told[-1] == "data keys   none yet; the next start creates one"


@pytest.mark.sqlite
def test_a_desk_whose_master_key_is_lost_starts_with_a_new_one_and_keeps_messages(
    data: Path,
) -> None:
    lost = make_token(data, "lost")
    (data / KEY_FILE).unlink()
    with pytest.raises(KeyFileError, match="is missing"):
        serve(data)
    command("keys", "reset", "--data", data, exit_code=1)
    assert not (data / KEY_FILE).exists()
    told = command("keys", "reset", "--data", data, "--yes")
    assert [line.split()[0] for line in told[1:]] == ["1", "0", "0", "1", "0"]
    kept = make_token(data, "lost")
    assert lets_in(data, lost, kept) == [401, 200]
    command("keys", "check", "--data", data)
    assert command("audit", "verify", "--data", data)[0].startswith(
        "The audit log is complete and unchanged"
    )


def test_a_reset_ends_clients_access_tokens_and_links_and_says_how_many(data: Path) -> None:
    command("keys", "rotate-data", "--data", data)
    command("keys", "rotate", "--data", data, "--at-once")  # by the second data key
    owner = make_token(data, "owner")
    client = make_client(data)
    token, link = asyncio.run(prove(data, client, owner))
    assert asyncio.run(answered(data, client, token, link)) == [200, 200, 200]
    (data / KEY_FILE).unlink()
    told = command("keys", "reset", "--data", data, "--yes")
    assert told == [
        "Created a new data key and a new access token key.",
        "       1  API keys and HMAC keys revoked",
        "       1  OAuth clients revoked, with their access tokens",
        "       1  links to shared threads revoked",
        f"{7:>8}  rows of the audit log deleted",
        "       0  sealed values deleted; they could not be decrypted",
    ]
    assert asyncio.run(answered(data, client, token, link)) == [401, 401, 401]
    log = "\n".join(command("audit", "export", "--data", data))
    for action in ("key.revoked", "client.revoked", "grant.revoked"):
        assert f'"action":"{action}","object":"desk:all"' in log
    renewed = make_client(data)
    assert asyncio.run(prove(data, renewed, make_token(data, "owner")))


def test_old_credentials_do_not_work_after_a_reset(tmp_path: Path) -> None:
    site, data = tmp_path / "site", tmp_path / "data"
    site.mkdir()
    (site / "secret.key").write_text(SECRET, encoding="utf-8")
    (site / "desk.toml").write_text(BY_ANOTHER, encoding="utf-8")
    now = int(time.time())
    token = sign(claims_of("https://login.example", "https://desk.example", now, jti="1"), "HS256")

    async def show() -> list[int]:
        """What is answered to who shows the token twice."""
        statuses = []
        async with visiting(data, ALWAYS_THERE, folder=site) as visitor:
            for _ in range(2):
                headers = {"Authorization": f"Bearer {token}"}
                async with visitor.http.post("/v1/threads", json={}, headers=headers) as response:
                    statuses.append(response.status)
        return statuses

    assert asyncio.run(show()) == [200, 401]
    (data / KEY_FILE).unlink()
    command("keys", "reset", "--data", data, "--yes")
    assert asyncio.run(show()) == [401, 401]


Credentials = tuple[str, str]


def make_client(data: Path) -> Credentials:
    arguments = ("--data", data, "--name", "bot", "--scope", "threads")
    lines = command("client", "create", *arguments)[-2:]
    return lines[0].partition("=")[2], lines[1].partition("=")[2]


async def prove(data: Path, client: Credentials, owner: str) -> tuple[str, str]:
    """An access token of a client, and a link to a thread of the owner's."""
    async with visiting(data, ALWAYS_THERE) as visitor:
        token = (await (await ask_for_token(visitor, client)).json())["access_token"]
        headers = {"X-AHP-Key": owner}
        async with visitor.http.post("/v1/threads", json={}, headers=headers) as response:
            path = f"/v1/threads/{(await response.json())['id']}/grants"
        async with visitor.http.post(path, json=BY_LINK, headers=headers) as response:
            shared = await response.json()
    return token, shared["secret"]


async def answered(data: Path, client: Credentials, token: str, link: str) -> list[int]:
    """What is answered to who shows what was given before."""
    async with visiting(data, ALWAYS_THERE) as visitor:
        statuses = [(await ask_for_token(visitor, client)).status]
        for headers in ({"Authorization": f"Bearer {token}"}, {"Desk-Grant": link}):
            async with visitor.http.post("/v1/threads", json={}, headers=headers) as response:
                statuses.append(response.status)
    return statuses


async def ask_for_token(visitor: Visitor, client: Credentials) -> aiohttp.ClientResponse:
    id_, secret = client
    form = {"grant_type": "client_credentials", "client_id": id_, "client_secret": secret}
    async with visitor.http.post("/oauth/token", data=form) as response:
        await response.read()
        return response
