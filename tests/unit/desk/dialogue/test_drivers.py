"""A dialogue about a call is the same in a session and in runs: statements, calls and effects.

Each row of the table begins a call and answers what the desk asks. It is driven twice: by the turns
of a session, and by messages on its thread, which runs answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from aitp_desk.desk.dialogue.consent import ONLY_YES
from aitp_desk.desk.tickets.service import EscalationService
from tests.support.access.audit_log import somebody
from tests.support.doubles.dialogue_answers import Chosen, Filled, Meanwhile, Paid, Reaction
from tests.support.protocols.agent import CallingAgent
from tests.support.sites.dialogues import DialogueSite, open_site

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 30
DRIVERS = ("session", "run")
WANTED = "I want to order a tent"
COVE = {"tent": "cove", "colour": "blue"}
WHICH = "Which tent?\n1. Ridge\n2. Cove\nReply 1 or 2."
COLOUR = "Which colour?\n1. red\n2. blue\nReply 1 or 2."
SURE = (
    "Orders a tent: tent cove; colour blue. It cannot be undone. It costs 199.00 USD."
    " Shall I go ahead?\n1. Yes\n2. No\nReply 1 or 2."
)
BED = (
    "Guest and nights\n- Guest: Who sleeps there.\n- Nights: How many.\n"
    "Reply with one line for each field: “Guest: …”, “Nights: …”."
)
NIGHTS = (
    "Nights\n- Nights: The nights must be at most 9. How many.\n"
    "Reply with the value alone, or with “Nights: …”."
)
HOW_MANY = (
    "How many nights?\n- Nights: 'nights' must be a whole number from 1 to 9. How many.\n"
    "Reply with the value alone, or with “Nights: …”."
)
BED_SURE = (
    "Books a bed: guest “Ada”; nights 3. It cannot be undone. Shall I go ahead?"
    "\n1. Yes\n2. No\nReply 1 or 2."
)
BOX = (
    "Box and code\n- Box: Which one.\n- Code (kept sealed): What opens it.\n"
    "Reply with one line for each field: “Box: …”, “Code: …”."
)
BOOKED = "A bed for Ada, 3 nights.\nSources:\n- All beds: {url}/beds"
PLATE = "What is the text?\n- Text: What it says.\nReply with the value alone, or with “Text: …”."
PLATE_SURE = (
    "Has people engrave a plate: text “Ada”. It cannot be undone. Shall I go ahead?"
    "\n1. Yes\n2. No\nReply 1 or 2."
)
LOAN = (
    "Number and name\n- Number: Of the loan.\n- Name: Who has it.\n"
    "Reply with one line for each field: “Number: …”, “Name: …”."
)
NO_LOAN = (
    "Number\n- Number: There is no loan L9. Of the loan.\n"
    "Reply with the value alone, or with “Number: …”."
)
COURT = (
    "Hour and name\n- Hour: When it begins.\n- Name: Who plays.\n"
    "Reply with one line for each field: “Hour: …”, “Name: …”."
)
TAKEN = (
    "The court is taken at 9.\nChoose another hour.\n- Hour (default: 9): When it begins.\n"
    "- Name (default: Ada): Who plays.\nReply with one line for each field: “Hour: …”,"
    " “Name: …”. “The same” accepts all proposed values."
)
QUOTE = "Sells a ticket: name “Ada”. 5.00 EUR. Pay at the till, or say no."
REFUND = (
    "Pays an order back: order last. It cannot be undone. A person of the site approves it first."
    " Shall I go ahead?\n1. Yes\n2. No\nReply 1 or 2."
)
TO_APPROVE = (
    "A person of this site must approve your request first. Ask here for its status; the"
    " result is posted on this thread."
)
TAKEN_ON = (
    "Your request was accepted. Ask here for its status; the result is posted on this thread."
)
NOTHING = "Nothing was done."
SOLD_OUT = "It is sold out."
CODE = "Sesame-4711"


async def sell_out(site: DialogueSite) -> None:
    (site.folder / "no-cove").touch()


async def approve(site: DialogueSite) -> None:
    people = EscalationService(site.talker.desk.store, site.clock)
    assert await people.approve(await open_ticket(site), "sam", somebody())


async def deny(site: DialogueSite) -> None:
    people = EscalationService(site.talker.desk.store, site.clock)
    assert await people.decline(await open_ticket(site), "It was worn.", "sam", somebody())


async def carry_out(site: DialogueSite) -> None:
    people = EscalationService(site.talker.desk.store, site.clock)
    assert await people.answer(await open_ticket(site), "It is engraved.", "sam", somebody())


async def open_ticket(site: DialogueSite) -> str:
    async with asyncio.timeout(SECONDS):
        while not (rows := site.talker.rows("SELECT id FROM tickets WHERE state = 'open'")):
            await site.talker.desk.store.settled()
    ((ticket,),) = rows
    return str(ticket)


class Row(NamedTuple):
    """A dialogue.

    Parameters:
        words: what begins the call; a mapping is its arguments.
        says: the desk's statements in order; a ``?`` before one marks a question about the call,
            a ``!`` what a plugin or a person says, a ``~`` what a session says by the status of
            its reply alone, and a ``+`` what only a session says: how a call has ended.
        done: what the action has done in the end.
        refused: states of earlier calls, whose action has refused what was answered.
    """

    action: str
    words: str | Mapping[str, Any]
    answers: Sequence[Reaction]
    says: Sequence[str]
    state: str
    done: Sequence[str] = ()
    refused: Sequence[str] = ()


TABLE: Mapping[str, Row] = {
    "choices by number": Row(
        "order_tent",
        WANTED,
        ("the second one", "blue", "yes"),
        (f"?{WHICH}", f"?{COLOUR}", f"?{SURE}", "The blue cove is yours."),
        "succeeded",
        ("blue cove",),
    ),
    "choices by name": Row(
        "order_tent",
        WANTED,
        ("Cove", "blue", "Yes."),
        (f"?{WHICH}", f"?{COLOUR}", f"?{SURE}", "The blue cove is yours."),
        "succeeded",
        ("blue cove",),
    ),
    "choices by message, after one that is not offered": Row(
        "order_tent",
        WANTED,
        (Chosen("t-none"), Chosen("t-cove"), Chosen("blue"), Chosen("yes")),
        (f"?{WHICH}", f"?{COLOUR}", f"?{SURE}", "The blue cove is yours."),
        "succeeded",
        ("blue cove",),
    ),
    "a choice that cannot be had any more": Row(
        "order_tent",
        "order a blue tent",
        (Meanwhile(sell_out), Chosen("t-cove")),
        (f"?{WHICH}", SOLD_OUT),
        "failed",
    ),
    "a yes in a message": Row(
        "order_tent",
        COVE,
        (Chosen("yes"),),
        (f"?{SURE}", "The blue cove is yours."),
        "succeeded",
        ("blue cove",),
    ),
    "a question that is cancelled": Row(
        "order_tent", WANTED, ("never mind",), (f"?{WHICH}", NOTHING), "failed"
    ),
    "a consent that is cancelled": Row(
        "order_tent", COVE, ("never mind",), (f"?{SURE}", NOTHING), "failed"
    ),
    "a change of mind": Row(
        "order_tent",
        COVE,
        ("no, in red", "yes"),
        (f"?{SURE}", f"?{SURE.replace('blue', 'red')}", "The red cove is yours."),
        "succeeded",
        ("red cove",),
    ),
    "a change to what cannot be had": Row(
        "order_tent",
        {"tent": "ridge", "colour": "blue"},
        (Meanwhile(sell_out), "no, the cove"),
        (f"?{SURE.replace('cove', 'ridge')}", SOLD_OUT),
        "failed",
    ),
    "a payment that is cancelled": Row(
        "buy_ticket", {"name": "Ada"}, ("never mind",), (f"?{QUOTE}", NOTHING), "failed"
    ),
    "a no in words": Row("order_tent", COVE, ("no",), (f"?{SURE}", NOTHING), "failed"),
    "a no in a message": Row("order_tent", COVE, (Chosen("no"),), (f"?{SURE}", NOTHING), "failed"),
    "too little of a yes for what costs": Row(
        "order_tent",
        COVE,
        ("sure",),
        (f"?{SURE}", f"?{ONLY_YES} {SURE}"),
        "waiting_input",
    ),
    "a vague yes, then the word": Row(
        "order_tent",
        COVE,
        ("yes please", "ja"),
        (f"?{SURE}", f"?{ONLY_YES} {SURE}", "The blue cove is yours."),
        "succeeded",
        ("blue cove",),
    ),
    "a yes in words to what cannot be done any more": Row(
        "order_tent", COVE, (Meanwhile(sell_out), "yes"), (f"?{SURE}", SOLD_OUT), "failed"
    ),
    "a yes in a message to what cannot be done any more": Row(
        "order_tent", COVE, (Meanwhile(sell_out), Chosen("yes")), (f"?{SURE}", SOLD_OUT), "failed"
    ),
    "a form": Row(
        "book_bed",
        "I want to book a bed",
        (Filled({"guest": "Ada", "nights": "3"}), Chosen("yes")),
        (f"?{BED}", f"?{BED_SURE}", BOOKED),
        "succeeded",
        ("3 nights",),
    ),
    "a form in words": Row(
        "book_bed",
        "I want to book a bed",
        ("Guest: Ada\nNights: 3", "yes"),
        (f"?{BED}", f"?{BED_SURE}", BOOKED),
        "succeeded",
        ("3 nights",),
    ),
    "a wrong value is asked for again": Row(
        "book_bed",
        "I want to book a bed",
        (Filled({"guest": "Ada", "nights": "30"}), Filled({"nights": "3"}), "yes"),
        (f"?{BED}", f"?{NIGHTS}", f"?{BED_SURE}", BOOKED),
        "succeeded",
        ("3 nights",),
    ),
    "a value that the action refuses is asked for again, for another call": Row(
        "find_loan",
        "When is it due?",
        (Filled({"number": "L9", "name": "Ada"}), Filled({"number": "L7"})),
        (f"?{LOAN}", "+There is no loan L9.", f"?{NO_LOAN}", "The loan L7 of Ada is due."),
        "succeeded",
        refused=("failed",),
    ),
    "a form that the site refuses and knows help for": Row(
        "reserve_court",
        "Reserve a court",
        (
            Filled({"hour": "9", "name": "Ada"}),
            Filled({"hour": "10", "name": "Ada"}),
        ),
        (f"?{COURT}", f"?{TAKEN}", "The court is yours at 10, Ada."),
        "succeeded",
        ("court at 10",),
    ),
    "a secret": Row(
        "lock_box",
        "Lock the box",
        (Filled({"box": "b7", "code": CODE}),),
        (f"?{BOX}", "The box b7 is locked."),
        "succeeded",
        ("b7 is locked",),
    ),
    "a payment": Row(
        "buy_ticket",
        {"name": "Ada"},
        (Paid("good"),),
        (f"?{QUOTE}", "!The till says: paid.", "A ticket for Ada."),
        "succeeded",
        ("ticket for Ada",),
    ),
    "a no after a payment that was refused": Row(
        "buy_ticket",
        {"name": "Ada"},
        (Paid("bad"), "no"),
        (f"?{QUOTE}", "!The till says: refused: no such money.", NOTHING),
        "failed",
    ),
    "an approval": Row(
        "refund",
        "pay the last order back",
        ("yes", Meanwhile(approve)),
        (
            f"?{REFUND}",
            f"~{TO_APPROVE}",
            "!The call was approved and is running now.",
            "The last order is paid back.",
        ),
        "succeeded",
        ("paid back last",),
    ),
    "an approval that is denied": Row(
        "refund",
        "pay the last order back",
        (Chosen("yes"), Meanwhile(deny)),
        (f"?{REFUND}", f"~{TO_APPROVE}", "!It was worn."),
        "failed",
    ),
    "what people carry out": Row(
        "engrave",
        "engrave a plate",
        (Filled({"text": "Ada"}), "yes", Meanwhile(carry_out)),
        (f"?{PLATE}", f"?{PLATE_SURE}", f"~{TAKEN_ON}", "!It is engraved."),
        "succeeded",
    ),
    "a price that is not paid": Row(
        "buy_ticket", {"name": "Ada"}, ("no",), (f"?{QUOTE}", NOTHING), "failed"
    ),
}


class Told(NamedTuple):
    """How a dialogue went: the desk's statements with their metadata, and the calls."""

    says: list[str]
    metadata: list[Mapping[str, str]]
    calls: list[tuple[str, str]]
    done: list[str]
    everything: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DialogueSite]:
    """A desk without a model."""
    async with open_site(tmp_path_factory.mktemp("desk")) as site:
        yield site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DialogueSite]:
    """A desk whose agent makes the calls."""
    async with open_site(tmp_path_factory.mktemp("desk"), CallingAgent()) as site:
        yield site


async def converse(
    site: DialogueSite, action: str, words: str | Mapping[str, Any], session: str | None = None
) -> Any:
    """Take a turn of a session."""
    query = words if isinstance(words, str) else json.dumps(words)
    body = {"capability": action, "query": query}
    if session is not None:
        body["session_id"] = session
    return (await site.talker.send("POST", "/agent/converse", body)).body


async def drive(site: DialogueSite, driver: str, row: Row, *, begins_in_run: bool = False) -> Told:
    """Hold a dialogue.

    Parameters:
        begins_in_run: whether the call begins in a run, by the agent, where runs drive it.
    """
    await site.renew()
    session = None
    count = len(expected(row, driver))
    if driver == "run" and begins_in_run:
        begins = {"role": "user", "content": row.words}
        thread = (await site.talker.open(begins, wait=SECONDS)).id
    else:
        begun = await converse(site, row.action, row.words)
        thread = begun["payment"]["thread_id"] if "payment" in begun else ""
        thread = thread or await site.talker.thread_of(begun["session_id"])
        ((session,),) = site.talker.rows(f"SELECT id FROM sessions WHERE thread_id = '{thread}'")
    for answer in row.answers:
        if isinstance(answer, Meanwhile):
            await answer.happens(site)
            continue
        text = answer
        if not isinstance(text, str):
            text = text.write((await site.requests(thread))[0])
        if driver == "session":
            await converse(site, row.action, text, session)
        else:
            await site.talker.post(thread, text, wait=SECONDS)
    await until_said(site, thread, count)
    messages = await site.messages(thread)
    said = [one for one in messages if one["role"] == "assistant"]
    return Told(
        ["\n".join(one["content"]) for one in said],
        [one["metadata"] for one in said],
        site.calls(thread),
        site.done,
        json.dumps(messages),
    )


async def until_said(site: DialogueSite, thread: str, count: int) -> None:
    """Wait until the desk has said so much: it reports paid calls by itself."""
    async with asyncio.timeout(SECONDS):
        while True:
            await site.talker.desk.store.settled()
            said = [one for one in await site.messages(thread) if one["role"] == "assistant"]
            if len(said) >= count:
                return


def expected(row: Row, driver: str) -> list[str]:
    """The desk's statements that stand on the thread."""
    other = "+" if driver == "run" else "~"
    return [one for one in row.says if not one.startswith(other)]


def check(told: Told, row: Row, driver: str, url: str) -> None:
    """Compare a dialogue with its row."""
    says = expected(row, driver)
    assert told.says == [one.lstrip("?!~+").format(url=url) for one in says]
    for said, metadata in zip(says, told.metadata, strict=True):
        assert ("asks_back" in metadata) == said.startswith("?")
        assert "waits" in metadata or not said.startswith("?")
        assert ("calls" in metadata) == (said[0] not in "?!"), said
    states = (*row.refused, row.state)
    assert sorted(told.calls) == sorted((row.action, state) for state in states)
    assert told.done == list(row.done)
    assert CODE not in told.everything


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", TABLE)
async def test_a_dialogue_goes_the_same_way_in_a_session_and_in_runs(
    desk: DialogueSite, name: str, driver: str
) -> None:
    told = await drive(desk, driver, TABLE[name])
    check(told, TABLE[name], driver, desk.talker.desk.url)


def calls(action: str, **arguments: str) -> str:
    """Words that have the agent call an action."""
    return json.dumps([action, arguments])


BY_AGENT: Mapping[str, Row] = {
    "missing arguments": Row(
        "order_tent",
        calls("order_tent"),
        ("the second one", "blue", "no"),
        (f"?{WHICH}", f"?{COLOUR}", f"?{SURE}", NOTHING),
        "failed",
    ),
    "a wrong value is asked for again": Row(
        "book_bed",
        calls("book_bed", guest="Ada", nights="30"),
        ("3", "no"),
        (f"?{HOW_MANY}", f"?{BED_SURE}", NOTHING),
        "failed",
    ),
    "a no to what is to be paid": Row(
        "buy_ticket", calls("buy_ticket", name="Ada"), ("no",), (f"?{QUOTE}", NOTHING), "failed"
    ),
    "a yes to what cannot be done any more": Row(
        "order_tent",
        calls("order_tent", **COVE),
        (Meanwhile(sell_out), "yes"),
        (f"?{SURE}", SOLD_OUT),
        "failed",
    ),
}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", BY_AGENT)
async def test_a_call_that_the_agent_begins_goes_the_same_way(
    model_desk: DialogueSite, name: str, driver: str
) -> None:
    row = BY_AGENT[name]
    told = await drive(model_desk, driver, row, begins_in_run=True)
    check(told, row, driver, model_desk.talker.desk.url)
