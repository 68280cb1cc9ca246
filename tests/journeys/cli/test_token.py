"""API keys at the command line: made, listed, rotated, revoked; never shown a second time."""

from __future__ import annotations

import asyncio
import json
import re
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.auth.keys.master_key import open_master_key
from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_key
from aitp_desk.cli.data import require_keys
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.units.keys.tokens import note_token_use
from tests.support.desk.command import run_here
from tests.support.desk.terminal import command

DAY = 86_400
ACTION = '''
from aitp_desk.actions import action


@action
def get_quote(sku: str) -> str:
    """Quotes a price."""
    return sku
'''


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder as a desk leaves it that was served once."""
    folder = tmp_path / "data"
    open_master_key(folder)
    in_store(folder)
    return folder


def in_store(data: Path, *units: dict[str, Any]) -> None:
    """Have the uses of keys noted, as a desk does that serves."""

    async def note() -> None:
        async with SqliteStore.open(data / "desk.db") as store:
            for unit in units:
                await store.run(note_token_use, **unit)

    asyncio.run(note())


def create(data: Path, name: str, *more: object) -> str:
    arguments = ("--data", data, "--name", name, "--scope", "threads", *more)
    return command("token", "create", *arguments)[-1]


def listed(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in command("token", "list", "--data", data, "--json")]


def seconds(instant: str) -> float:
    return datetime.fromisoformat(instant).timestamp()


def test_a_scope_of_an_action_that_the_site_does_not_have_is_noted(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "content").mkdir(parents=True)
    (site / "content" / "about.md").write_text("# About\n\nWe sell gear.\n", "utf-8")
    (site / "desk.toml").write_text('[content]\nfolder = "content"\n', "utf-8")
    (site / "actions.py").write_text(ACTION, "utf-8")
    data = site / ".desk"
    open_master_key(data)
    in_store(data)
    scopes = [f"--scope=actions:{name}" for name in ("get_qoute", "get_quote", "content_search")]
    done = run_here("token", "create", "--data", data, "--name", "agent", *scopes)
    assert done.code == 0
    assert done.err == (
        "Note: the site has no action named 'get_qoute'; did you mean actions:get_quote?\n"
    )
    assert listed(data)[0]["scopes"] == [scope.removeprefix("--scope=") for scope in scopes]


def test_a_token_is_made_listed_and_revoked(data: Path) -> None:
    made = command(
        *("token", "create", "--data", data, "--name", "the shop's agent"),
        *("--scope", "threads", "--scope", "actions:get_quote"),
    )
    _, id_, secret = made[-1].split("_")
    (line,) = command("token", "list", "--data", data)
    assert line.startswith(f"{id_}  api_key  created 20")
    assert line.endswith("never used  live  threads,actions:get_quote  the shop's agent")
    assert secret not in line
    assert secret.encode() not in (data / "desk.db").read_bytes()
    assert command("token", "revoke", "--data", data, "the shop's agent") == [
        f"Revoked token {id_} (the shop's agent)."
    ]
    (line,) = command("token", "list", "--data", data)
    assert "  revoked 20" in line
    for refused in ("revoke", "rotate"):
        (told,) = command("token", refused, "--data", data, id_, exit_code=1)
        assert "There is no valid token" in told


def test_a_name_is_free_again_when_its_token_was_revoked(data: Path) -> None:
    first = create(data, "a")
    twin = ("token", "create", "--data", data, "--name", "a", "--scope", "admin")
    assert "There is a token named 'a'" in command(*twin, exit_code=1)[0]
    command("token", "revoke", "--data", data, first.split("_")[1])
    command(*twin)


def test_a_token_ends_when_it_was_told_to(data: Path) -> None:
    now = time.time()
    day = (datetime.now(UTC) + timedelta(days=2)).date()
    create(data, "in ninety days", "--expires", "90d")
    create(data, "that day", "--expires", day.isoformat())
    create(data, "never")
    ends = {kept["name"]: kept["expires_at"] for kept in listed(data)}
    assert seconds(ends["in ninety days"]) == pytest.approx(now + 90 * DAY, abs=60)
    assert ends["that day"] == f"{day}T00:00:00Z"
    assert ends["never"] is None
    assert all(kept["is_live"] for kept in listed(data))
    lines = command("token", "list", "--data", data)
    assert [line for line in lines if f"  live until {day}  threads  that day" in line]


@pytest.mark.parametrize(
    "expires", ["90", "d", "0d", "0", "-1d", "1y", "2001-01-01", "2099-13-01", "999999w", "٣d"]
)
def test_an_end_that_is_none_is_refused(data: Path, expires: str) -> None:
    made = ("token", "create", "--data", data, "--name", "a", "--scope", "threads")
    told = command(*made, f"--expires={expires}", exit_code=2)
    assert expires in told[-1]
    assert re.search("such as 90d nor a day such as|like 90d, or a future day", told[-1])
    assert listed(data) == []


def test_a_rotated_token_keeps_its_id_and_name_and_tells_until_when_the_former_goes_on(
    data: Path,
) -> None:
    first = create(data, "bot", "--expires", "10d")
    (before,) = listed(data)
    told = command("token", "rotate", "--data", data, "bot", "--overlap", "30m")
    assert re.fullmatch(
        r"Rotated token [0-9a-f]{16} \(bot\)\. The previous secret stays valid until .* UTC\.",
        told[0],
    )
    assert told[-1].startswith(first.rsplit("_", 1)[0])
    assert told[-1] != first
    (after,) = listed(data)
    assert seconds(after.pop("former_until")) == pytest.approx(time.time() + 1800, abs=60)
    assert before.pop("former_until") is None
    assert (before.pop("version"), after.pop("version")) == (1, 2)
    assert after == before
    assert command("token", "rotate", "--data", data, "bot", "--overlap", "0")[0].endswith(
        "The previous secret is no longer valid."
    )
    assert command("token", "rotate", "--data", data, "bot", "--overlap", "1 h", exit_code=2)


def test_a_key_that_signs_is_rotated_to_its_next_version(data: Path) -> None:
    create(data, "signer", "--hmac")
    told = command("token", "rotate", "--data", data, "signer")
    (kept,) = listed(data)
    assert (kept["kind"], kept["prefix"], kept["version"]) == ("hmac", None, 2)
    assert told[-2] == f"AITP_DESK_KEY_ID={kept['id']}.2"
    assert re.fullmatch(r"AITP_DESK_SECRET=[0-9a-f]{64}", told[-1])


def test_the_last_use_is_listed(data: Path) -> None:
    key = create(data, "bot")
    id_ = key.split("_")[1]
    noon = int(datetime.combine(date(2026, 3, 4), datetime.min.time(), UTC).timestamp()) + DAY // 2
    in_store(data, {"id": id_, "used_at": noon})
    (kept,) = listed(data)
    assert kept["used_at"] == "2026-03-04T12:00:00Z"
    assert kept["prefix"] == f"desk_{id_}_"
    assert key.startswith(kept["prefix"])
    assert "  used 2026-03-04 12:00  " in command("token", "list", "--data", data)[0]


def test_what_callbacks_are_signed_with_is_shown_where_it_is_asked_for_and_is_rotated(
    data: Path,
) -> None:
    made = command(
        *("token", "create", "--data", data, "--name", "buyer", "--scope", "actions"),
        "--webhook-secret",
    )
    rotated = command("token", "rotate", "buyer", "--data", data, "--webhook-secret")
    keys, (token,) = require_keys(data, "sqlite:desk.db"), listed(data)
    for version, told in enumerate((made, rotated), start=1):
        secret = webhook_secret_of_key(keys, token["id"], version, 1)
        assert told[2] == f"AITP_DESK_WEBHOOK_SECRET={secret}"
        assert len(told) == 5
    assert not any(
        "webhook" in line.lower() for line in command("token", "rotate", "buyer", "--data", data)
    )
