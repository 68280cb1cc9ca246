"""``aitp-desk client`` and ``aitp-desk keys rotate``, run in this process."""

from __future__ import annotations

import asyncio
import json
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from aitp_desk.auth.jwt.clients import ClientSecrets
from aitp_desk.auth.keys.master_key import open_master_key
from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_client
from aitp_desk.cli import main
from aitp_desk.cli.data import require_keys
from aitp_desk.model.timestamps import write_minute
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import clients as client_reads
from aitp_desk.store.records.clients import Client, SigningKey
from aitp_desk.store.units.keys.clients import register_client
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH

DAY = 86_400


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder as a desk leaves it that was served once."""
    folder = tmp_path / "data"
    open_master_key(folder)

    async def begin() -> None:
        async with SqliteStore.open(folder / "desk.db"):
            pass

    asyncio.run(begin())
    return folder


def command(data: Path, *arguments: str) -> list[str]:
    """Run what must work; the lines it wrote."""
    done = CliRunner().invoke(main, [*arguments, "--data", str(data)])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.splitlines()


def fail(data: Path, *arguments: str) -> str:
    """Run what must fail because of the user; what it wrote to stderr."""
    done = CliRunner().invoke(main, [*arguments, "--data", str(data)])
    assert (done.exit_code, done.stdout) == (1, "")
    return done.stderr


def kept(data: Path) -> tuple[tuple[Client, ...], tuple[SigningKey, ...], int]:
    """The clients of a desk by name, its keys, and how often a credential was changed."""

    async def read() -> tuple[tuple[Client, ...], tuple[SigningKey, ...], int]:
        async with SqliteStore.open(data / "desk.db") as store:
            return (
                tuple(sorted(await client_reads.list_clients(store), key=lambda made: made.name)),
                await client_reads.signing_keys(store),
                await reads.epoch(store, TOKENS_EPOCH),
            )

    return asyncio.run(read())


def test_a_client_is_made_with_a_secret_that_is_shown_once(data: Path) -> None:
    told = command(
        *(data, "client", "create", "--name", "Finder", "--scope", "threads", "--scope", "actions"),
        *("--expires", "30d"),
    )
    ((client,), _, _) = kept(data)
    id_, ends = client.id, write_minute(client.created_at + 30 * DAY)
    assert told == [
        f"Created client {id_} (Finder) with the scopes threads, actions. It expires {ends} UTC.",
        "Keep its secret; it cannot be shown again:",
        f"client_id={id_}",
        told[3],
    ]
    assert (client.scopes, client.is_registered) == (("threads", "actions"), False)
    assert client.expires_at == client.created_at + 30 * DAY
    found = re.fullmatch(r"client_secret=([0-9a-f]{64})", told[3])
    assert found is not None
    assert ClientSecrets(require_keys(data, "sqlite:desk.db")).is_valid(
        client.id, found[1], client, time.time()
    )
    (line,) = command(data, "client", "list")
    assert line.startswith(f"{client.id}  20")
    assert line.endswith("  owner's  threads,actions  Finder")
    assert "  live until " in line
    assert found[1] not in line


def test_what_callbacks_to_a_client_are_signed_with_is_shown_where_it_is_asked_for(
    data: Path,
) -> None:
    made = ("client", "create", "--name", "one", "--scope", "actions", "--webhook-secret")
    told = command(data, *made)
    ((client,), _, _) = kept(data)
    keys = require_keys(data, "sqlite:desk.db")
    secret = webhook_secret_of_client(keys, client.id, client.version, client.data_key)
    assert told[-1] == f"webhook_secret={secret}"
    told = command(data, "client", "rotate", "one", "--webhook-secret")
    secret = webhook_secret_of_client(keys, client.id, 2, client.data_key)
    assert told[-1] == f"webhook_secret={secret}"


def test_a_client_gets_another_secret_and_the_one_before_goes_on_for_a_while(data: Path) -> None:
    def proven(*secrets: str) -> list[bool]:
        ((client,), _, _) = kept(data)
        clients = ClientSecrets(require_keys(data, "sqlite:desk.db"))
        return [clients.is_valid(client.id, one, client, time.time()) for one in secrets]

    def secret(*arguments: str) -> str:
        return command(data, "client", *arguments)[-1].removeprefix("client_secret=")

    first = secret("create", "--name", "one", "--scope", "threads")
    second = secret("rotate", "one")
    assert proven(first, second, "0" * 64) == [True, True, False]
    (line,) = command(data, "client", "list", "--json")
    told = json.loads(line)
    assert (told["name"], told["scopes"], told["is_live"]) == ("one", ["threads"], True)
    assert told["former_until"].endswith("Z")
    assert first not in line
    third = secret("rotate", told["id"], "--overlap", "0")
    ((client,), _, _) = kept(data)
    assert client.version == 3
    assert proven(first, second, third) == [False, False, True]
    (line,) = command(data, "client", "list", "--json")
    assert json.loads(line)["former_until"] is None
    assert sum("client.rotated" in row for row in command(data, "audit", "export")) == 2
    command(data, "client", "revoke", "one")
    assert "no valid client 'one'" in fail(data, "client", "rotate", "one")


def test_a_client_is_revoked_by_id_or_name_while_the_desk_serves(data: Path) -> None:
    for name in ("one", "two"):
        command(data, "client", "create", "--name", name, "--scope", "threads")
    ((one, two), _, before) = kept(data)
    assert command(data, "client", "revoke", "one") == [f"Revoked client {one.id} (one)."]
    assert command(data, "client", "revoke", two.id) == [f"Revoked client {two.id} (two)."]
    ((one, two), _, after) = kept(data)
    assert one.revoked_at is not None
    assert two.revoked_at is not None
    assert after == before + 2
    assert [" revoked 20" in line for line in command(data, "client", "list")] == [True, True]
    assert "no valid client 'one'" in fail(data, "client", "revoke", "one")


def test_those_that_registered_themselves_are_listed_as_such(data: Path) -> None:
    now = int(time.time())
    stranger = Client(
        "0" * 16,
        "A stranger",
        b"h" * 32,
        ("threads",),
        0,
        expires_at=now + DAY,
        is_registered=True,
    )
    gone = Client("1" * 16, "", b"h" * 32, ("threads",), 1, expires_at=now - 1, is_registered=True)

    async def register() -> None:
        async with SqliteStore.open(data / "desk.db") as store:
            for client in (stranger, gone):
                await store.run(register_client, client=client, most=9)

    asyncio.run(register())
    first, second = command(data, "client", "list")
    assert first.startswith(f"{stranger.id}  1970-01-01  live until 20")
    assert first.endswith("  registered  threads  A stranger")
    assert "  expired 20" in second


def test_mistakes_are_told(data: Path) -> None:
    made = ("client", "create", "--scope", "threads", "--name")
    command(data, *made, "one")
    assert "There is a client named 'one'." in fail(data, *made, "one")
    assert "--name must be one line of at most 200 characters." in fail(data, *made, "a\nb")
    assert "There is no scope 'read'" in fail(data, *made, "two", "--scope", "read")
    assert "serve the site once first" in fail(data / "none", *made, "two")
    assert "serve the site once first" in fail(data / "none", "keys", "rotate")
    ((_,), (), _) = kept(data)  # nothing of these was kept


def test_keys_are_rotated_one_after_the_other(data: Path) -> None:
    (told,) = command(data, "keys", "rotate")
    (_, (second,), epoch) = kept(data)
    assert re.fullmatch(r"Published access token key 2; it signs from \d\d:\d\d:\d\d UTC\.", told)
    assert second == SigningKey(2, second.made_at, second.made_at + 600)
    assert epoch == 1
    assert "Rotate again after that." in fail(data, "keys", "rotate")
    assert command(data, "keys", "rotate", "--at-once") == [
        "Key 3 signs access tokens from now on; tokens signed by earlier keys are invalid."
    ]
    (_, (_, third), _) = kept(data)
    assert (third.signs_from, third.voids_earlier) == (third.made_at, True)


def test_what_was_done_stands_in_the_audit_log(data: Path) -> None:
    command(data, "client", "create", "--name", "one", "--scope", "threads")
    command(data, "client", "revoke", "one")
    command(data, "keys", "rotate")
    ((client,), _, _) = kept(data)
    lines = command(data, "audit", "export")
    for line, noted, of in zip(
        lines,
        ("client.registered", "client.revoked", "signing_key.rotated"),
        (f"client:{client.id}", f"client:{client.id}", "key:2"),
        strict=True,
    ):
        assert f'"{noted}"' in line
        assert f'"{of}"' in line
        assert '"cli:' in line
