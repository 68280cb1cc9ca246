"""One conversation: in the chat, by mail, answered from Matrix, and in Telegram."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.access.keys import make_key
from tests.support.desk.command import run
from tests.support.transports.email_platform import EmailPlatform, address_of
from tests.support.transports.matrix_platform import DESK_USER, MatrixPlatform
from tests.support.transports.platform import Platform, Shown
from tests.support.transports.platforms import carrying_all

pytestmark = pytest.mark.servers

SECONDS = 30
CODE = re.compile(r"join ([0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4})")


async def test_a_conversation_goes_from_the_chat_to_mail_to_an_operator_and_to_telegram(
    tmp_path: Path,
) -> None:
    rooms: list[str] = []

    async def make_room(platforms: Mapping[str, Platform]) -> Sequence[str]:
        matrix = platforms["matrix"]
        assert isinstance(matrix, MatrixPlatform)
        olga, otto = await matrix.person("olga"), await matrix.person("otto")
        room = {"preset": "private_chat", "name": "Tickets", "invite": [DESK_USER, otto.user]}
        rooms.append((await olga.call("POST", "client/v3/createRoom", room))["room_id"])
        await otto.call("POST", f"client/v3/rooms/{quote(rooms[0])}/join", {})
        return (f'transports.matrix.operators="{rooms[0]}"',)

    async with carrying_all(
        tmp_path,
        ("email", "matrix", "telegram"),
        "tickets.people=on_request",
        prepare=make_room,
    ) as (visitor, platforms):
        mail, matrix, telegram = (platforms[name] for name in ("email", "matrix", "telegram"))
        assert isinstance(mail, EmailPlatform)
        assert isinstance(matrix, MatrixPlatform)
        (room,) = rooms
        await matrix.member("olga", room, "join")
        await make_key(visitor.desk.store, tmp_path / "data", "operator", name="olga")
        site = (tmp_path / "site", "--data", tmp_path / "data")
        _, lines, faults = await run(
            *("transport", "bind", "matrix", "olga", *site),
            *("--set", f'transports.matrix.operators="{room}"'),
        )
        bind = re.search(r"bind [0-9A-Z-]+", "\n".join(lines))
        assert bind is not None, (lines, faults)
        await matrix.write("olga", bind[0])
        await until(lambda: matrix.shown("olga"), "olga")

        # in the chat
        opened = await visitor.open("Do you sell tents?", wait=10)
        await visitor.post(opened.id, "I want to talk to a person.", wait=10)
        path = f"/v1/threads/{opened.id}/contact"
        left = await visitor.send("POST", path, {"email": address_of("ada")})
        assert left.status == 200
        ticket = await until(lambda: matrix.shown_in("olga", room), "I want to talk to a person.")

        # by mail, once the address is confirmed
        asked = await until(lambda: mail.shown("ada"), "")
        await mail.press("ada", asked.ref, asked.buttons[0])

        # an operator answers from Matrix, and is answered
        await reply(matrix, room, ticket.ref, "Which size do you need?")
        await until(lambda: mail.shown("ada"), "Which size do you need?")
        await mail.reply("ada", "For two people.")
        await until(lambda: matrix.shown_in("olga", room), "For two people.")
        said = await reply(matrix, room, ticket.ref, "We have one for you.")
        await until(lambda: mail.shown("ada"), "We have one for you.")
        change = {
            "msgtype": "m.text",
            "body": "* We have two for you.",
            "m.new_content": {"msgtype": "m.text", "body": "We have two for you."},
            "m.relates_to": {"rel_type": "m.replace", "event_id": said},
        }
        await matrix.put("olga", room, change)
        await until(lambda: mail.shown("ada"), "Correction: We have two for you.")

        # the same person goes on in Telegram
        await mail.reply("ada", "!continue")
        code = CODE.search((await until(lambda: mail.shown("ada"), "join ")).text)
        assert code is not None
        await telegram.write("ada_on_the_road", f"join {code[1]}")
        await until(lambda: telegram.shown("ada_on_the_road"), "what we talked about")
        await telegram.write("ada_on_the_road", "Keep it until Friday, please.")
        await until(lambda: matrix.shown_in("olga", room), "Keep it until Friday, please.")
        await reply(matrix, room, ticket.ref, "It is yours until Friday.")
        await until(lambda: telegram.shown("ada_on_the_road"), "It is yours until Friday.")

        assert not any("Friday" in one.text for one in await mail.shown("ada"))
        order = [
            "Do you sell tents?",
            "I want to talk to a person.",
            "Which size do you need?",
            "For two people.",
            "We have one for you.",
            "Correction: We have two for you.",
            "Keep it until Friday, please.",
            "It is yours until Friday.",
        ]
        texts = await visitor.texts(opened.id)
        places = [next(n for n, said in enumerate(texts) if said == text) for text in order]
        assert places == sorted(places)
        threads = visitor.rows("SELECT DISTINCT thread_id FROM messages WHERE origin = 'visitor'")
        assert threads == [(opened.id,)]


async def reply(matrix: MatrixPlatform, room: str, ticket: str, text: str) -> str:
    """Answer as the operator, in the thread below a ticket, and return the event's id."""
    relation = {"rel_type": "m.thread", "event_id": ticket}
    content = {"msgtype": "m.text", "body": text, "m.relates_to": relation}
    event = await matrix.put("olga", room, content)
    await matrix.gate.acknowledged(event)
    return event


async def until(shown: Callable[[], Awaitable[tuple[Shown, ...]]], text: str) -> Shown:
    """The newest message with a text, once it is there."""
    found: tuple[Shown, ...] = ()
    try:
        async with asyncio.timeout(SECONDS):
            while True:
                found = await shown()
                for one in reversed(found):
                    if text in one.text:
                        return one
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"{text!r} is in none of {found}") from None
