"""What a restore undoes: calls and runs that were under way at the backup are not done twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer
from aitp_desk.auth.keys.master_key import KEY_FILE
from aitp_desk.store.units.privacy.restoration import CUT_SHORT, FROM_BEFORE
from tests.support.clients.threads import DATABASE, Talker, talking
from tests.support.desk.command import run
from tests.support.doubles.agent import PacedAgent
from tests.support.sites.orders import Caller
from tests.support.store.integrity import check_whole

ACTIONS = '''
"""The actions of these tests."""

from decimal import Decimal
from pathlib import Path

from aitp_desk.actions import Money, Ticket, action

BOOK = Path(__file__).with_name("book.txt")


def write(line: str) -> dict[str, str]:
    with BOOK.open("a") as book:
        book.write(line + chr(10))
    return {"written": line}


@action(kind="async", mutability="irreversible", blast_radius="self")
def send_parcel(to: str) -> dict[str, str]:
    """Sends a parcel."""
    return write(f"sent to {to}")


@action(kind="async", mutability="reversible", blast_radius="self", idempotent=True)
def book_visit(day: str) -> dict[str, str]:
    """Books a visit."""
    return write(f"visit on {day}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    cost=Money(Decimal("5.00"), "EUR"),
)
def close_account(name: str) -> dict[str, str]:
    """Closes an account."""
    return write(f"closed {name}")


@action(kind="async", mutability="irreversible", blast_radius="self", approval=True)
def give_away(what: str) -> dict[str, str]:
    """Gives something away."""
    return write(f"gave {what}")


@action(kind="async", mutability="read_only", blast_radius="self")
def ask_somebody(what: str) -> Ticket:
    """Asks a person."""
    return Ticket(what, note="Soon, please.")
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.md").write_text("# Parcels\n\nWe send parcels.\n", encoding="utf-8")
    (folder / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (folder / "desk.toml").write_text("", encoding="utf-8")
    return folder


async def status(caller: Caller, session_id: str) -> str:
    found: str = (await caller.status(session_id)).body["status"]
    return found


@pytest.mark.sqlite
async def test_what_was_under_way_at_the_backup_is_not_done_twice(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, backup = PacedAgent(), tmp_path / "backup.db"
    async with talking(tmp_path, site=site, agent=agent) as talker:
        owner = await talker.with_key("actions", "threads")
        caller = Caller(owner, site)
        asked = await caller.ask({"what": "May I?"}, "ask_somebody")
        gift = await caller.ask({"what": "a lamp"}, "give_away")
        while len(talker.rows("SELECT 1 FROM tickets")) < 2:
            await talker.desk.store.settled()
    with monkeypatch.context() as nothing_begins:
        nothing_begins.setattr("aitp_desk.desk.calls.async_calls.MAX_AT_ONCE", 0)
        async with talking(tmp_path, site=site, agent=agent) as talker:
            owner = Talker(talker.desk, tmp_path, talker.http, owner.key)
            caller = Caller(owner, site)
            parcel = await caller.ask({"to": "Anna"}, "send_parcel")
            visit = await caller.ask({"day": "Monday"}, "book_visit")
            closing = await caller.ask({"name": "anna"}, "close_account")
            assert closing.body["status"] == "clarification_needed"
            thread = await owner.open("Do you send parcels?")
            await agent.asked.get()
            await owner.post(thread.id, "And letters?")
            code, *_ = await run("store", "backup", "--data", tmp_path / "data", backup)
            assert code == 0
            agent.say(Answer("Yes."), Answer("Yes, too."))

    restored = tmp_path / "restored"
    (restored / "data").mkdir(parents=True, mode=0o700)
    shutil.copy(tmp_path / "data" / KEY_FILE, restored / "data")
    code, *_ = await run("store", "restore", "--data", restored / "data", backup)
    assert code == 0
    check_whole(restored / "data" / DATABASE)
    agent = PacedAgent()
    async with talking(restored, site=site, agent=agent) as talker:
        owner = Talker(talker.desk, restored, talker.http, owner.key)
        caller = Caller(owner, site)
        assert (await caller.ended(parcel.session_id)).body["status"] == "failed"
        assert (await caller.ended(visit.session_id)).body["status"] == "success"
        await caller.reply(closing, "yes", "close_account")
        assert caller.booked == ["visit on Monday"]

        # people look what became of the one, and are told that the other is from before
        found = talker.rows("SELECT kind, state, note FROM tickets ORDER BY kind")
        asks_approval = found.pop(1)
        assert found == [("action", "open", f"{FROM_BEFORE}Soon, please."), ("unknown", "open", "")]
        assert asks_approval[:2] == ("approval", "open")
        assert asks_approval[2].startswith(f"{FROM_BEFORE}Gives something away.")
        for waiting in (asked, gift):
            assert await status(caller, waiting.session_id) == "pending"

        path = f"/v1/threads/{thread.id}/runs"
        runs = (await owner.send("GET", path)).ok["data"]
        assert {(one["status"], one["last_error"]["message"]) for one in runs} == {
            ("failed", CUT_SHORT)
        }
        assert len(runs) == 2
        agent.say(Answer("Yes, once more."))
        await owner.post(thread.id, "Well?", wait=10)
        assert (await owner.texts(thread.id))[-1] == "Yes, once more."
    check_whole(restored / "data" / DATABASE)
