"""Operators on each platform: a ticket arrives, is taken, answered and closed there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from tests.journeys.transports.test_contract import has, shown
from tests.journeys.transports.test_operators import eventually_async
from tests.support.access.keys import make_key
from tests.support.desk.command import run
from tests.support.transports.platform import Platform, Shown
from tests.support.transports.platforms import CarriedDesk, carrying_all
from tests.support.transports.slack_payloads import TEAM
from tests.support.transports.slack_platform import CHANNEL, SlackPlatform
from tests.support.transports.telegram_platform import TelegramPlatform
from tests.support.transports.whatsapp_platform import WhatsAppPlatform

pytestmark = pytest.mark.slow

GROUP = -1001234567890
OPERATOR, VISITOR = "olga", "vera"


class Room(msgspec.Struct, frozen=True):
    """Where the operators are.

    Parameters:
        name: as the setting ``operators`` has it.
        read: returns what the desk has said there.
        press: presses a button of a message.
        reply: answers a message, and returns its event's id.
    """

    name: str
    read: Callable[[], Awaitable[Sequence[Shown]]]
    press: Callable[[str, str], Awaitable[object]]
    reply: Callable[[str, str], Awaitable[str]]

    async def until(self, text: str) -> Shown:
        """The newest message with a text, once it is there."""
        await eventually_async(self.read, lambda found: any(text in one.text for one in found))
        return [one for one in await self.read() if text in one.text][-1]


def find_room(platform: Platform) -> Room:
    """The room of a platform: a group, a channel, or the operator's own conversation."""
    if isinstance(platform, TelegramPlatform):
        telegram = platform
        telegram.add_group(GROUP, "Tickets")

        async def read_group() -> Sequence[Shown]:
            return [
                Shown(ref=str(one.id), text=one.plain) for one in telegram.sent if one.chat == GROUP
            ]

        return Room(
            str(GROUP),
            read_group,
            lambda ref, label: telegram.press_in(GROUP, OPERATOR, ref, label),
            lambda ref, text: telegram.deliver(
                "message", telegram.make_message(OPERATOR, text, chat=GROUP, reply_to=int(ref))
            ),
        )
    if isinstance(platform, SlackPlatform):
        slack = platform
        return Room(
            f"{TEAM}/{CHANNEL}",
            slack.shown_in_channel,
            lambda ref, label: slack.press(OPERATOR, ref, label),
            lambda ref, text: slack.reply_in_channel(OPERATOR, text, ref),
        )
    assert isinstance(platform, WhatsAppPlatform)
    whatsapp = platform
    return Room(
        whatsapp.number(OPERATOR),
        lambda: whatsapp.shown(OPERATOR),
        lambda ref, label: whatsapp.press(OPERATOR, ref, label),
        lambda ref, text: whatsapp.send_as(
            OPERATOR,
            {
                "type": "text",
                "text": {"body": text},
                "context": {"from": "15550783881", "id": ref},
            },
        ),
    )


class Office(msgspec.Struct, frozen=True):
    """A desk with operators on one platform, where visitors write too."""

    desk: CarriedDesk
    room: Room

    async def ticket(self) -> tuple[str, str | None]:
        """State of the ticket, and who has it."""
        ((state, taken_by),) = self.desk.talker.rows("SELECT state, taken_by FROM tickets")
        return state, taken_by


@pytest_asyncio.fixture(params=["slack", "slack (socket)", "telegram", "whatsapp"])
async def office(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Office]:
    rooms: list[Room] = []
    name = request.param.partition(" ")[0]

    async def prepare(platforms: Mapping[str, Platform]) -> Sequence[str]:
        rooms.append(find_room(platforms[request.param]))
        return (f'transports.{name}.operators="{rooms[0].name}"',)

    people = "tickets.people=on_request"
    async with carrying_all(tmp_path, (request.param,), people, prepare=prepare) as (
        talker,
        platforms,
    ):
        desk = CarriedDesk(talker, platforms[request.param])
        await make_key(talker.desk.store, tmp_path / "data", "operator", name="anna")
        site = (tmp_path / "site", "--data", tmp_path / "data")
        _, (told,), _ = await run("transport", "bind", name, "anna", *site)
        await desk.platform.write(OPERATOR, told)
        await shown(desk, OPERATOR, has("You act as anna now."))
        yield Office(desk, rooms[0])


async def test_a_ticket_is_taken_answered_and_closed_where_operators_are(office: Office) -> None:
    platform = office.desk.platform
    await platform.write(VISITOR, "I want to talk to a person.")
    ticket = await office.room.until("A visitor asks for a person.")
    await office.room.press(ticket.ref, "Take")
    taken = await office.room.until("Taken by anna.")
    assert await office.ticket() == ("taken", "anna")
    said = await office.room.reply(ticket.ref, "How can I help you?")
    await shown(office.desk, VISITOR, has("How can I help you?"))
    if not isinstance(platform, WhatsAppPlatform):  # which tells of no change
        await platform.edit(OPERATOR, said, "How can we help you?")
        await shown(office.desk, VISITOR, has("Correction: How can we help you?"))
    if isinstance(platform, SlackPlatform):  # Telegram tells bots of no deletion
        await platform.remove(OPERATOR, said)
        await shown(office.desk, VISITOR, lambda found: not has("help you?")(found))
    await platform.write(VISITOR, "My lamp is broken.")
    passed_on = await office.room.until("My lamp is broken.")
    await office.room.reply(passed_on.ref, "We send a new one.")
    await shown(office.desk, VISITOR, has("We send a new one."))
    await office.room.press(taken.ref, "Close")
    await office.room.until("Closed by anna.")
    assert (await office.ticket())[0] == "closed"


async def test_who_is_no_operator_any_more_does_nothing_there(
    office: Office, tmp_path: Path
) -> None:
    await office.desk.platform.write(VISITOR, "I want to talk to a person.")
    ticket = await office.room.until("A visitor asks for a person.")
    ((name, person),) = office.desk.talker.rows("SELECT transport, person FROM operator_people")
    site = (tmp_path / "site", "--data", tmp_path / "data")
    code, _, faults = await run("transport", "unbind", name, person, *site)
    assert code == 0, faults
    await office.room.press(ticket.ref, "Take")
    await office.room.reply(ticket.ref, "How can I help you?")
    await office.room.until("You are not known as an operator here")
    assert await office.ticket() == ("open", None)
    found = await office.desk.platform.shown(VISITOR)
    assert not has("How can I help you?")(found)
