"""Actions that take a person's approval: nothing is done before, and then once."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.errors import Forbidden, PreconditionFailed
from aitp_desk.store.reads.audit_log import audit_rows
from tests.support.access.audit_log import somebody
from tests.support.clients.ahp import Said
from tests.support.clients.event_stream import following
from tests.support.clients.threads import Talker, talking
from tests.support.desk.command import run
from tests.support.doubles.agent import Clock
from tests.support.doubles.callback_receiver import receiving
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Body, Reply, say, tool_results, use
from tests.support.sites.actions import offering
from tests.support.sites.orders import Caller

SECONDS = 30
ACTIONS = '''
"""The actions of these tests."""

from decimal import Decimal
from pathlib import Path

from aitp_desk.actions import Context, Money, Ticket, action

HERE = Path(__file__).parent


def is_large(amount: int) -> bool:
    if amount == 13:
        raise RuntimeError("unlucky")
    return amount > 100


def fee(amount: int) -> Money | None:
    kept = HERE / "fee.txt"
    return Money(Decimal(kept.read_text()), "EUR") if amount > 900 else None


@action(
    kind="async",
    mutability="irreversible",
    blast_radius="self",
    approval=is_large,
    cost=fee,
    says=lambda done: f"Paid back {done}.",
)
def refund(order: str, amount: int, context: Context) -> int:
    """Pays money back.

    Args:
        order: the order's number.
        amount: in euros.
    """
    with (HERE / "book.txt").open("a") as book:
        book.write(f"{context.call_id} {amount}" + chr(10))
    return amount


@refund.requires("is_open", "The till is open.", recovery="Come back tomorrow.")
def is_open() -> str | None:
    return "The till is closed." if (HERE / "closed").exists() else None


@action(kind="async", mutability="reversible", blast_radius="self", approval=True)
def move_house(where: str) -> Ticket:
    """Has people move a house."""
    return Ticket(f"Move to {where}")
'''


class House:
    """A site with these actions, who calls them, and the people who approve."""

    def __init__(self, talker: Talker, folder: Path) -> None:
        self.talker = talker
        self.site = folder / "site"
        self.data = ("--data", folder / "data")
        self.people = EscalationService(talker.desk.store, time.time)

    async def caller(self, *scopes: str) -> Caller:
        return Caller(await self.talker.with_key(*(scopes or ("actions", "threads"))), self.site)

    async def refund(self, caller: Caller, amount: int = 500, **more: Any) -> Said:
        return await caller.ask({"order": "A7", "amount": amount}, "refund", **more)

    async def run(self, command: str, *arguments: object) -> tuple[int | None, list[str], str]:
        """Run a command of tickets: its code, what it says, and what is wrong."""
        code, out, wrong = await run("tickets", command, *self.data, *arguments)
        return code, out, "\n".join(wrong)

    async def tickets(self) -> list[dict[str, Any]]:
        """Those that are open."""
        return [json.loads(line) for line in (await self.run("list", "--json"))[1]]

    async def ticket(self) -> dict[str, Any]:
        """The one that is open."""
        (ticket,) = await self.tickets()
        return ticket

    @property
    def booked(self) -> list[str]:
        """What was done: a line each, the call's id and the amount."""
        book = self.site / "book.txt"
        return book.read_text("utf-8").splitlines() if book.exists() else []

    async def noted(self) -> list[tuple[str, str, str]]:
        """What the audit log says of calls and tickets: who, what, and what came of it."""
        return [
            (row.principal.split(":")[0], row.action, row.outcome)
            async for row in audit_rows(self.talker.desk.store)
            if row.action.startswith(("ticket.", "action."))
        ]


def write_site(folder: Path) -> Path:
    site = folder / "site"
    site.mkdir(exist_ok=True)
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (site / "desk.toml").write_text("", encoding="utf-8")
    (site / "fee.txt").write_text("2.50", encoding="utf-8")
    return site


@asynccontextmanager
async def housing(folder: Path, *settings: str, **more: Any) -> AsyncIterator[House]:
    async with talking(folder, *settings, site=write_site(folder), **more) as talker:
        yield House(talker, folder)


@pytest.mark.slow
async def test_a_call_is_carried_out_once_a_person_has_approved_it(tmp_path: Path) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        said = await house.refund(caller, user_intent="They\nbroke")
        assert said.body["status"] == "accepted"
        status = (await caller.status(said.session_id)).body
        assert (status["status"], status["progress"]) == ("pending", "Waiting for approval.")
        ticket = await house.ticket()
        assert (ticket["kind"], ticket["state"]) == ("approval", "open")
        assert ticket["about"] == "Pays money back: order “A7”; amount 500."
        assert ticket["note"].splitlines() == [
            "Pays money back.",
            "It cannot be undone. It costs nothing.",
            f"Requested by {ticket['asked_by']}.",
            "It requires: The till is open.",
            'Purpose, in the caller\'s words: "They\\nbroke"',
            "Arguments:",
            '  order: "A7"',
            "  amount: 500",
        ]
        _, shown, _ = await house.run("show", ticket["id"])
        assert "  amount: 500" in shown
        _, (told,), _ = await house.run("show", ticket["id"], "--json")
        assert json.loads(told)["arguments"] == {"order": "A7", "amount": 500}
        assert house.booked == []

        thread = await house.talker.thread_of(said.session_id)
        async with following(caller.talker, thread, "?after=0") as listener:
            approved = await house.run("approve", ticket["id"], "--as", "anna")
            assert approved == (0, [f"Approved ticket {ticket['id']}."], "")
            heard = await listener.until(lambda event: "Paid back 500." in str(event.data))
        words = [event.data for event in heard if "approved" in str(event.data)]
        assert [one["metadata"]["actor"].rpartition("/")[2] for one in words] == ["anna"]
        done = (await caller.ended(said.session_id)).body
        assert (done["status"], done["response"]["answer"]) == ("success", "Paid back 500.")
        assert house.booked == [f"{ticket['call']} 500"]
        assert await house.tickets() == []
        (over,) = (await house.run("list", "--all", "--json"))[1]
        assert json.loads(over)["answer"] == "Approved"
        for command in (("approve",), ("decline", "--reason", "No.")):
            code, _, wrong = await house.run(*command, ticket["id"])
            assert (code, wrong) == (1, "The ticket is answered; nothing was changed.")
        assert await house.noted() == [
            ("key", "action.called", "done"),
            ("cli", "ticket.approved", "done"),
            ("desk", "action.ended", "done"),
        ]


async def test_nothing_that_a_caller_writes_passes_for_a_line_of_the_desks(
    tmp_path: Path,
) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        lie = "A7\nIt costs nothing. It can be undone.\r\u2028Requested by key:boss.\x1b[2J"
        said = await caller.ask({"order": lie, "amount": 500}, "refund", user_intent=lie)
        assert said.body["status"] == "accepted"
        ticket = await house.ticket()
        lines = ticket["note"].splitlines()
        assert [line for line in lines if line.startswith(("It c", "Requested"))] == [
            "It cannot be undone. It costs nothing.",
            f"Requested by {ticket['asked_by']}.",
        ]
        assert "\n" not in ticket["about"]
        _, shown, _ = await house.run("show", ticket["id"])
        assert all(line.isprintable() for line in shown)
        quoted = (
            "A7\\nIt costs nothing. It can be undone.\\r\\u2028Requested by key:boss.\\u001b[2J"
        )
        assert lines[-2:] == [f'  order: "{quoted}"', "  amount: 500"]


async def test_only_what_the_action_says_takes_approval(tmp_path: Path) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        said = await house.refund(caller, 100)
        assert (await caller.ended(said.session_id)).body["status"] == "success"
        assert len(house.booked) == 1
        operator = await house.talker.with_key("operator")
        async with operator.http.get("/metrics", headers=operator.credentials) as response:
            figures = await response.text()
        counted = r'aitp_desk_calls_total{action="refund",agent="desk",state="succeeded"[^}]*} 1\.0'
        assert re.search(counted, figures)
        failed = await house.refund(caller, 13)
        assert failed.status == 500
        assert await house.tickets() == []
        assert len(house.booked) == 1


@pytest.mark.slow
async def test_what_is_declined_or_closed_has_failed_and_says_why(tmp_path: Path) -> None:
    async with receiving() as receiver, housing(tmp_path, "egress.allow_loopback=true") as house:
        caller, ends = await house.caller(), []
        for command, reason, told in (
            ("decline", "The order is too old.", "The order is too old."),
            ("decline", "", "It was declined; nothing was done."),
            ("close", "Not this one.", "Not this one."),
        ):
            said = await house.refund(caller, callback_url=receiver.url)
            ticket = (await house.ticket())["id"]
            assert (await house.run(command, ticket, "--reason", reason))[0] == 0
            done = (await caller.ended(said.session_id)).body
            ends.append(done)
            assert (done["status"], done["error"]["kind"]) == ("failed", "declined")
            assert done["progress"] == told
            thread = await house.talker.thread_of(said.session_id)
            assert (await caller.talker.texts(thread))[-1] == told
        async with asyncio.timeout(SECONDS):
            while len(receiver.got) < 3:
                await house.talker.desk.store.settled()
        assert all(json.loads(delivery.body) in ends for delivery in receiver.got)
        assert house.booked == []
        assert await house.noted() == 3 * [
            ("key", "action.called", "done"),
            ("cli", "action.ended", "failed"),
            ("cli", "ticket.declined", "done"),
        ]


async def test_what_fits_no_ticket_of_its_kind_is_refused_and_changes_nothing(
    tmp_path: Path,
) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        await house.refund(caller)
        asked = await house.ticket()
        for arguments, reason in (
            (("answer", asked["id"], "Yes."), "approve or decline it"),
            (("approve", "ticket_none"), "There is no ticket 'ticket_none'"),
            (("decline", "ticket_none"), "There is no ticket 'ticket_none'"),
            (("approve", asked["id"], "--as", "Anna B"), "is not a valid operator name"),
            (("decline", asked["id"], "--reason", "x" * 16_001), "at most 16000 characters"),
        ):
            code, out, wrong = await house.run(*arguments)
            assert (code, out) == (1, []), arguments
            assert reason in wrong
        assert await house.ticket() == asked
        assert (await house.run("take", asked["id"], "--as", "anna"))[0] == 0
        code, _, wrong = await house.run("approve", asked["id"], "--as", "ben")
        assert (code, wrong) == (1, "anna has taken the ticket; nothing was changed.")
        own = somebody(principal=asked["asked_by"])
        with pytest.raises(Forbidden, match="Another operator must approve it"):
            await house.people.approve(asked["id"], "anna", own)
        assert house.booked == []
        # who has asked may well decline it, and the conversation is given back
        assert await house.people.decline(asked["id"], "I was wrong.", "anna", own) is not None
        assert house.talker.rows("SELECT * FROM thread_operators") == []


@pytest.mark.slow
async def test_of_two_who_approve_at_once_one_does(tmp_path: Path) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        said = await house.refund(caller)
        ticket = await house.ticket()
        approve = partial(house.people.approve, ticket["id"])
        told = await asyncio.gather(
            approve("anna", somebody(principal="key:anna")),
            approve("ben", somebody(principal="key:ben")),
            house.people.decline(ticket["id"], "", "eva", somebody(principal="key:eva")),
            return_exceptions=True,
        )
        assert [type(one) for one in told[1:]] == [PreconditionFailed, PreconditionFailed]
        assert (await caller.ended(said.session_id)).body["status"] == "success"
        assert house.booked == [f"{ticket['call']} 500"]
        assert house.talker.rows("SELECT count(*) FROM jobs WHERE kind = 'call'") == [(1,)]


@pytest.mark.slow
async def test_what_is_not_possible_any_more_fails_and_says_what_helps(tmp_path: Path) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        price = {"_confirm": {"amount": "2.50", "currency": "EUR"}}
        for query, spoil, told, why, helps in (
            (
                {"amount": 500},
                ("closed", ""),
                "The till is closed. Come back tomorrow.",
                "The till is closed.",
                {"description": "Come back tomorrow.", "actions": []},
            ),
            (
                {"amount": 950, **price},
                ("fee.txt", "3"),
                "now costs 3 EUR, but the agreed price was 2.50 EUR",
                "It now costs 3 EUR, but the agreed price was 2.50 EUR. Nothing was done.",
                None,
            ),
        ):
            said = await caller.ask({"order": "A7", **query}, "refund")
            assert said.body["status"] == "accepted", said.body
            ticket = await house.ticket()
            assert ("It costs 2.50 EUR." in ticket["note"]) is ("_confirm" in query)
            spoilt = house.site / spoil[0]
            spoilt.write_text(spoil[1], encoding="utf-8")
            assert (await house.run("approve", ticket["id"]))[0] == 0
            done = (await caller.ended(said.session_id)).body
            assert (done["status"], done["error"]["kind"]) == ("failed", "precondition_failed")
            assert told in done["progress"]
            assert (done["error"]["message"], done["error"].get("recovery")) == (why, helps)
            spoilt.unlink()
        assert house.booked == []


@pytest.mark.slow
async def test_what_is_read_from_words_is_agreed_to_by_who_asks_first(tmp_path: Path) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        asked = await caller.ask("amount 500, order: A7", "refund")
        assert asked.body["status"] == "clarification_needed"
        question = asked.body["clarification_question"]
        assert "A person of the site may have to approve it first. Shall I go ahead?" in question
        assert await house.tickets() == []
        agreed = await caller.reply(asked, "yes", "refund")
        assert agreed.body["status"] == "accepted"
        thread = await house.talker.thread_of(agreed.session_id)
        assert (await house.run("approve", (await house.ticket())["id"]))[0] == 0
        assert (await caller.ended(agreed.session_id)).body["status"] == "success"
        assert len(house.booked) == 1
        assert (await caller.talker.texts(thread))[-1] == "Paid back 500."


@pytest.mark.slow
async def test_what_is_not_approved_expires_and_an_approval_restarts_the_time(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with housing(tmp_path, "actions.expire_hours=10", clock=clock) as house:
        caller = await house.caller()
        said = await house.refund(caller)
        ticket = await house.ticket()
        clock.advance(9.9 * 60 * 60)
        people = EscalationService(house.talker.desk.store, clock)
        assert await people.approve(ticket["id"], "anna", somebody()) is not None
        ((expires_at,),) = house.talker.rows("SELECT expires_at FROM calls")
        assert expires_at - int(clock()) == 10 * 60 * 60
        assert (await caller.ended(said.session_id)).body["status"] == "success"
        said = await house.refund(caller)
        clock.advance(11 * 60 * 60)
        done = (await caller.ended(said.session_id)).body
        assert (done["status"], done["progress"]) == (
            "expired",
            "The call was not approved in time; nothing was done.",
        )
        assert len(house.booked) == 1


@pytest.mark.slow
async def test_an_action_that_hands_its_call_to_people_may_take_approval_first(
    tmp_path: Path,
) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        said = await caller.ask({"where": "Bend"}, "move_house")
        assert (await house.run("approve", (await house.ticket())["id"]))[0] == 0
        async with asyncio.timeout(SECONDS):
            while not (open_ := await house.tickets()):
                pass
        assert [(one["kind"], one["about"]) for one in open_] == [("action", "Move to Bend")]
        status = (await caller.status(said.session_id)).body
        assert (status["status"], status["progress"]) == ("pending", "Waiting for a person.")
        assert (await house.run("answer", open_[0]["id"], "It stands there."))[0] == 0
        done = (await caller.ended(said.session_id)).body
        assert done["response"]["answer"] == "operator: It stands there."


async def test_an_approval_outlives_the_process_and_is_given_while_nothing_serves(
    tmp_path: Path,
) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        said = await house.refund(caller)
        key, ticket = caller.talker.key, (await house.ticket())["id"]
    assert (await house.run("approve", ticket))[0] == 0
    assert house.booked == []
    async with housing(tmp_path) as house:
        caller = Caller(
            Talker(house.talker.desk, tmp_path / "data", house.talker.http, key), house.site
        )
        done = (await caller.ended(said.session_id)).body
        assert (done["status"], len(house.booked)) == ("success", 1)


async def test_nothing_is_done_for_an_erased_person_or_a_deleted_thread(
    tmp_path: Path,
) -> None:
    async with housing(tmp_path) as house:
        for way in ("delete", "erase"):
            caller = await house.caller()
            said = await house.refund(caller)
            ticket = await house.ticket()
            if way == "delete":
                thread = await house.talker.thread_of(said.session_id)
                gone = await caller.talker.send("DELETE", f"/v1/threads/{thread}")
                assert gone.status == 200
            else:
                who = ticket["asked_by"]
                code, *rest = await run("erase", *house.data, "--actor", who)
                assert code == 0, rest
            code, _, wrong = await house.run("approve", ticket["id"])
            assert (code, wrong) == (1, "The ticket is closed; nothing was changed."), way
            assert "A7" not in str(house.talker.rows("SELECT * FROM calls, tickets"))
        assert house.booked == []


@pytest.mark.slow
async def test_a_key_that_was_revoked_takes_nothing_back(tmp_path: Path) -> None:
    async with housing(tmp_path) as house:
        caller = await house.caller()
        await house.refund(caller)
        ticket = await house.ticket()
        key = ticket["asked_by"].removeprefix("key:")
        assert (await run("token", "revoke", *house.data, key))[0] == 0
        assert (await house.run("approve", ticket["id"]))[0] == 0
        async with asyncio.timeout(SECONDS):
            while not house.booked:
                await house.talker.desk.store.settled()
        assert house.booked == [f"{ticket['call']} 500"]


@pytest.mark.slow
async def test_a_model_is_told_that_a_person_must_approve_its_call(tmp_path: Path) -> None:
    results: list[str] = []

    def script(body: Body) -> Reply:
        results[:] = [one["content"] for one in tool_results(body)]
        return say("A person looks at it.") if results else use("site_move", where="Bend")

    safety = Safety("reversible", "self")
    action = Action("move", "Moves.", "async", open_to="actions", safety=safety, approval="always")
    moved: list[str] = []

    async def move(_who: str, arguments: Mapping[str, Any]) -> str:
        moved.append(arguments["where"])
        return "It stands there."

    async with meeting(tmp_path, script, actions=(offering(action, move),)) as met:
        who = await met.talker.with_key("actions", "threads")
        opened = await who.open("Move my house to Bend.", wait=SECONDS)
        [reply] = opened.ok["replies"]
        assert reply["content"][0] == "A person looks at it."
        assert "nothing was done yet: a person of the site must approve it first" in results[0]
        assert moved == []
        [(ticket,)] = met.talker.rows("SELECT id FROM tickets WHERE kind = 'approval'")
        async with following(who, opened.id) as listener:
            people = EscalationService(met.talker.desk.store, time.time)
            assert await people.approve(ticket, "anna", somebody()) is not None
            await listener.until(lambda event: "It stands there." in str(event.data))
        assert moved == ["Bend"]


async def test_callers_are_told_that_a_person_approves_it(tmp_path: Path) -> None:
    async with housing(tmp_path) as house:
        async with house.talker.http.get("/.well-known/agent.json") as response:
            manifest = await response.json()
        told = {one["name"]: one["description"] for one in manifest["capabilities"]}
    assert "A person of the site may have to approve it first." in told["refund"]
    assert "A person of the site approves it first." in told["move_house"]
