"""The ledger of payments, as its owner meets it at a terminal."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from aitp_desk.auth.keys.master_key import open_master_key
from tests.support.clients.threads import talking
from tests.support.desk.command import run_here
from tests.support.desk.first_start import begin_database
from tests.support.desk.terminal import command

KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"  # RFC 8037, appendix A


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder of a desk that was served once."""
    folder = tmp_path / "data"
    open_master_key(folder)
    begin_database(folder / "desk.db")
    return folder


def ledger(data: Path, what: str, *arguments: object) -> list[str]:
    """What a command of the ledger prints."""
    return command("ledger", what, "--data", data, *arguments)


def refused(data: Path, what: str, *arguments: object) -> str:
    """What a command says that does nothing."""
    done = run_here("ledger", what, "--data", data, *arguments)
    assert done.code == 1
    assert "Traceback" not in done.err
    return done.err


def opened(data: Path, *arguments: object) -> str:
    (told,) = ledger(data, "open", "--json", *arguments)
    return str(json.loads(told)["account"])


def test_an_account_is_opened_credited_and_told_of(data: Path) -> None:
    account = opened(data, "--key", KEY, "--owner", "key:anna")
    ledger(data, "credit", account, "25.00", "EUR", "--memo", "invoice 7")
    ledger(data, "credit", account, "0.000001", "EUR")
    ledger(data, "payout", account, "5", "EUR")
    assert ledger(data, "accounts") == [
        f"{account}  20.000001 EUR  spent by a key or its owner",
        "outside:cash  -20.000001 EUR",
    ]
    *lines, holds = ledger(data, "statement", account)
    assert sorted(line.split("  ")[1:3] for line in lines) == [
        ["credit", "0.000001 EUR"],
        ["credit", "25.00 EUR"],
        ["payout", "-5.00 EUR"],
    ]
    assert any(line.endswith("invoice 7") for line in lines)
    assert holds == f"{account} holds 20.000001 EUR."
    assert ledger(data, "verify") == [
        "The ledger is correct: 3 transactions, 2 balances, 0 quotes, 0 payments."
    ]
    told = [json.loads(line) for line in ledger(data, "statement", account, "--json")]
    assert {one.get("amount") for one in told} == {"25.00", "0.000001", "-5.00", None}
    assert ledger(data, "statement", account, "--until", "2001-01-01") == [holds]
    noted = [json.loads(row)["object"] for row in command("audit", "export", "--data", data)]
    assert noted.count("capability:payments.credit_booked") == 2


def test_an_owner_is_named_as_its_key_is(data: Path) -> None:
    made = command("token", "create", "--data", data, "--name", "scout", "--scope", "actions")
    command("client", "create", "--data", data, "--name", "courier", "--scope", "actions")
    (id,) = (line.split()[2] for line in made if line.startswith("Created token "))
    account = opened(data, "--owner", "scout")
    assert f"key:{id} already has an account: {account}." in refused(data, "open", "--owner", id)
    assert "already has an account" in refused(data, "open", "--owner", f"key:{id}")
    opened(data, "--owner", "courier")
    assert "client:" in refused(data, "open", "--owner", "courier")
    assert "has the id or name 'nobody'" in refused(data, "open", "--owner", "nobody")


def test_a_public_key_is_read_from_its_file(data: Path, tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    public, private = tmp_path / "agent.pub", tmp_path / "agent.pem"
    public.write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    assert ledger(data, "open", "acct_scout", "--key", public) == ["Opened acct_scout."]
    told = refused(data, "open", "--key", private)
    assert "no Ed25519 public key" in told
    assert "openssl pkey -in agent.pem -pubout" in told


def test_bookings_are_listed_as_json(data: Path) -> None:
    account = opened(data, "--key", KEY)
    for what, kind in (("credit", "cash"), ("payout", "payout")):
        (told,) = ledger(data, what, account, "5.00", "EUR", "--id", "till-1", "--json")
        booked = {"account": account, "amount": "5.00", "currency": "EUR"}
        assert json.loads(told) == {"transaction": f"{kind}:till-1", **booked}


def test_a_code_of_store_credit_is_printed_once_and_kept_nowhere(data: Path) -> None:
    first, code, _ = ledger(data, "open", "--code")
    assert first.startswith("Opened acct_")
    plain = code.removeprefix("code SC-")
    assert [len(part) for part in plain.split("-")] == [5, 5, 5, 5]
    (line,) = ledger(data, "accounts")
    assert line.endswith("empty  spent by its code")
    kept = b"".join(path.read_bytes() for path in data.glob("desk.db*"))
    assert plain.encode() not in kept
    assert plain.replace("-", "").encode() not in kept


def test_what_cannot_be_booked_is_reported(data: Path) -> None:
    account = opened(data, "--owner", "key:anna")
    ledger(data, "credit", account, "1.00", "EUR", "--id", "till-1")
    assert "already has an account" in refused(data, "open", "--owner", "key:anna")
    assert "must have a key, an owner or a code" in refused(data, "open")
    assert f"The account {account} already exists" in refused(data, "open", account, "--key", KEY)
    assert "is not an account id" in refused(data, "open", "Anna", "--key", KEY)
    assert "Ed25519" in refused(data, "open", "--key", "abc")
    assert "was already booked" in refused(data, "credit", account, "1", "EUR", "--id", "till-1")
    assert "are missing" in refused(data, "payout", account, "1.01", "EUR")
    assert "such as 29.99" in refused(data, "credit", account, "1e3", "EUR")
    assert "such as 29.99" in refused(data, "credit", account, "--", "-1", "EUR")
    assert "not an ISO 4217 code" in refused(data, "credit", account, "1", "Euro")
    assert "The account 'acct_nobody' does not exist" in refused(
        data, "credit", "acct_nobody", "1", "EUR"
    )
    assert "cannot be credited or paid out" in refused(data, "credit", "outside:cash", "1", "EUR")
    assert "'nobody' is not an account" in refused(data, "statement", "nobody")
    assert "No payment 'pay_nothing' exists" in refused(data, "refund", "pay_nothing")
    assert ledger(data, "accounts")[0].startswith(f"{account}  1.00 EUR")


@pytest.mark.parametrize("amount", ["0", "0.000000"])
def test_nothing_is_nothing_to_book(data: Path, amount: str) -> None:
    account = opened(data, "--key", KEY)
    for what in ("credit", "payout"):
        told = refused(data, what, account, amount, "EUR")
        assert told.strip() == "The amount must be above 0, such as 25.00 EUR."


def test_more_than_can_be_counted_does_not_come_in(data: Path) -> None:
    account, other = opened(data, "--key", KEY), opened(data, "--code")
    ledger(data, "credit", account, "999999999999.999999", "EUR")
    ledger(data, "credit", other, "0.000001", "EUR")
    for again in (account, other):
        told = refused(data, "credit", again, "0.000002", "EUR")
        assert "At most 1000000000000.00 EUR can come from outside:cash in total" in told
        assert "this is 0.000002 EUR too much" in told
    ledger(data, "credit", account, "999999999999", "USD")
    ledger(data, "payout", account, "999999999999", "EUR")
    ledger(data, "credit", account, "999999999999", "EUR")
    assert ledger(data, "verify")[-1].startswith("The ledger is correct")


def test_the_journal_is_exported_for_bookkeeping_the_same_each_time(
    data: Path, tmp_path: Path
) -> None:
    account = opened(data, "--key", KEY)
    ledger(data, "credit", account, "10", "EUR", "--id", "b", "--memo", "=HYPERLINK(1)")
    ledger(data, "credit", account, "500", "JPY", "--id", "a")
    printed = run_here("ledger", "export", "--data", data).out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert len(rows) == 4
    assert {row["memo"] for row in rows} == {"'=HYPERLINK(1)", ""}
    for transaction in ("cash:a", "cash:b"):
        legs = [row for row in rows if row["transaction"] == transaction]
        assert [row["account"] for row in legs] == ["outside:cash", account]
        assert legs[0]["debit"] == legs[1]["credit"] in {"10.00", "500"}
        assert legs[0]["credit"] == legs[1]["debit"] == ""
    assert run_here("ledger", "export", "--data", data).out == printed

    out = tmp_path / "journal.jsonl"
    assert not ledger(data, "export", "--format", "jsonl", "--out", out)
    entries = [json.loads(line) for line in out.read_text().splitlines()]
    assert [leg["amount"] for one in entries for leg in one["legs"] if one["memo"]] == [
        "-10.00",
        "10.00",
    ]
    assert out.stat().st_mode & 0o077 == 0
    assert not ledger(data, "export", "--format", "jsonl", "--since", "2999-01-01")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE capability_counters SET value = value + 1 WHERE key LIKE '%acct%'", "it holds"),
        ("DELETE FROM capability_records WHERE key LIKE 'entry:%'", "but the journal adds up to"),
        (
            "UPDATE capability_records SET value = replace(value, '-5000000', '-4000000')",
            "its legs add up to 1.00 EUR, not 0",
        ),
        (
            "UPDATE capability_records SET key = 'entry:cash:x' WHERE key = 'entry:cash:a'",
            "it contains the transaction cash:a",
        ),
        ("UPDATE capability_counters SET value = -value", "its balance is negative"),
        (
            "UPDATE capability_records SET value = '{}' WHERE key LIKE 'entry:%'",
            "not an entry of the journal",
        ),
    ],
)
def test_books_that_were_changed_are_told(data: Path, change: str, told: str) -> None:
    account = opened(data, "--key", KEY)
    ledger(data, "credit", account, "5", "EUR", "--id", "a")
    with closing(sqlite3.connect(data / "desk.db")) as database, database:
        database.execute(change)
    assert told in refused(data, "verify")
    done = run_here("ledger", "verify", "--data", data, "--json")
    assert done.code == 1
    assert json.loads(done.out)["right"] is False


async def test_it_works_while_a_desk_serves(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "content").mkdir(parents=True)
    (site / "desk.toml").write_text('[site]\nname = "Shop"\n[capabilities.payments]\n')
    (site / "content" / "index.md").write_text("# Shop\n\nTents.\n")
    async with talking(tmp_path, site=site):
        data = tmp_path / "data"
        account = await asyncio.to_thread(opened, data, "--key", KEY)
        await asyncio.to_thread(ledger, data, "credit", account, "5", "EUR")
        (line, _) = await asyncio.to_thread(ledger, data, "accounts")
        assert line.startswith(f"{account}  5.00 EUR")
        assert (await asyncio.to_thread(ledger, data, "verify"))[0].startswith(
            "The ledger is correct"
        )


def test_without_a_desk_it_says_what_is_missing(tmp_path: Path) -> None:
    assert "there is no" in refused(tmp_path / "nowhere", "accounts")


def test_what_the_site_has_paid_into_a_channel_elsewhere_is_booked_by_its_owner(
    data: Path,
) -> None:
    ledger(data, "credit", "channel-at:bakery", "100", "EUR")
    assert "channel-at:bakery  100.00 EUR" in ledger(data, "accounts")
    assert ledger(data, "purchases") == ledger(data, "purchases", "--pending", "--json") == []
