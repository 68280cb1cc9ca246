"""An operator who works from a mailbox: what is proven counts, and nothing else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.support.access.keys import make_key
from tests.support.desk.command import run
from tests.support.transports.email_platform import EmailPlatform, address_of
from tests.support.transports.mail_desk import make_bounce
from tests.support.transports.platforms import CarriedDesk, carrying

SECONDS = 60
OPERATOR, VISITOR = "ada", "vera"


class Mailbox:
    """The operator's mailbox, and the visitor's."""

    def __init__(self, desk: CarriedDesk, platform: EmailPlatform) -> None:
        self.desk = desk
        self.platform = platform

    def texts(self, person: str) -> list[str]:
        """The mails of a person, each without those that it shows again."""
        received = self.platform.mails_to(person)
        return [one.part("plain").partition("\n-- \n")[0] for one in received]

    async def until(self, person: str, text: str) -> None:
        """Wait until a person has got this."""
        try:
            async with asyncio.timeout(SECONDS):
                while not any(text in one for one in self.texts(person)):
                    await self.platform.server.wait_for(len(self.platform.server.received) + 1)
        except TimeoutError:
            raise AssertionError(self.texts(person)) from None

    def tickets(self) -> list[tuple[str, str | None]]:
        """State of each ticket, and who has it."""
        rows = self.desk.talker.rows("SELECT state, taken_by FROM tickets ORDER BY id")
        return [(state, taken_by) for state, taken_by in rows]


@pytest_asyncio.fixture
async def box(tmp_path: Path) -> AsyncIterator[Mailbox]:
    room = f"transports.email.operators={address_of(OPERATOR)}"
    async with carrying(tmp_path, "email", room, "tickets.people=on_request") as desk:
        assert isinstance(desk.platform, EmailPlatform)
        await make_key(desk.talker.desk.store, tmp_path / "data", "operator", name="anna")
        yield Mailbox(desk, desk.platform)


async def bind(box: Mailbox, folder: Path) -> None:
    """Let the operator's address act as the holder of the key."""
    site = (folder / "site", "--data", folder / "data")
    _, (told,), _ = await run("transport", "bind", "email", "anna", *site)
    await box.platform.write(OPERATOR, told)
    await box.until(OPERATOR, "You act as anna now.")


async def test_a_ticket_is_answered_by_mail(box: Mailbox, tmp_path: Path) -> None:
    await bind(box, tmp_path)
    await box.platform.write(VISITOR, "I want to talk to a person.")
    await box.until(OPERATOR, "Ticket:")
    await box.platform.reply(OPERATOR, "How can I help you?")
    await box.until(VISITOR, "How can I help you?")
    await box.until(OPERATOR, "Taken by anna.")
    assert box.tickets() == [("taken", "anna")]
    await box.platform.reply(VISITOR, "My lamp is broken.")
    await box.until(OPERATOR, "My lamp is broken.")
    ref = next(
        one.ref
        for one in await box.platform.shown(OPERATOR)
        if "Taken by anna." in one.text and "Close" in one.buttons
    )
    await box.platform.press(OPERATOR, ref, "Close")
    await box.until(OPERATOR, "Closed by anna.")
    assert box.tickets() == [("closed", "anna")]


async def test_a_file_of_an_operators_mail_is_attached_to_the_visitors(
    box: Mailbox, tmp_path: Path
) -> None:
    await bind(box, tmp_path)
    await box.platform.write(VISITOR, "I want to talk to a person.")
    await box.until(OPERATOR, "Ticket:")
    await box.platform.attach(OPERATOR, "Here is the offer.", "offer.txt", b"One lamp, 20 EUR.")
    await box.until(VISITOR, "Here is the offer.")
    mail = box.platform.mails_to(VISITOR)[-1].mail
    (file,) = mail.iter_attachments()
    assert (file.get_filename(), file.get_payload(decode=True)) == (
        "offer.txt",
        b"One lamp, 20 EUR.",
    )


async def test_a_mail_that_nothing_proves_says_nothing(box: Mailbox, tmp_path: Path) -> None:
    await bind(box, tmp_path)
    await box.platform.write(VISITOR, "I want to talk to a person.")
    await box.until(OPERATOR, "Ticket:")
    shown = box.platform.mails_to(OPERATOR)[-1].mail
    forged = box.platform.make_mail(OPERATOR, "Send me your password.")
    del forged["Authentication-Results"]
    forged["In-Reply-To"] = shown["Message-ID"]
    address = shown["Reply-To"].addresses[0].addr_spec
    assert re.match(r"desk\+", address)
    await box.platform.deliver(forged, address)
    await box.until(OPERATOR, "not known as an operator")
    assert not any("password" in one for one in box.texts(VISITOR))
    assert box.tickets() == [("open", None)]


async def test_what_machines_answer_to_a_ticket_is_a_note(box: Mailbox, tmp_path: Path) -> None:
    """An absence and a failed delivery of the ticket's mail are read by operators alone."""
    await bind(box, tmp_path)
    await box.platform.write(VISITOR, "I want to talk to a person.")
    await box.until(OPERATOR, "Ticket:")
    told = len(box.texts(VISITOR)), len(box.texts(OPERATOR))
    ticket = box.platform.mails_to(OPERATOR)[-1]
    absence = box.platform.make_mail(OPERATOR, "I am on holiday until Monday.")
    absence["Auto-Submitted"] = "auto-replied"
    absence["In-Reply-To"] = ticket.mail["Message-ID"]
    await box.platform.deliver(absence, ticket.sender)
    bounce = make_bounce(ticket.sender, str(ticket.mail["Message-ID"]))
    await box.platform.deliver(bounce, ticket.sender)
    async with asyncio.timeout(SECONDS):
        query = "SELECT n.words FROM notes n JOIN tickets t ON t.thread_id = n.thread_id"
        while len(notes := box.desk.talker.rows(query)) < 2:  # noqa: ASYNC110 -- of a store
            await asyncio.sleep(0.02)
    words = {one for (one,) in notes}
    assert "A message was not delivered. The mail came back (5.1.1)." in words
    assert any("on holiday until Monday" in one for one in words)
    assert box.tickets() == [("open", None)]
    await box.platform.reply(OPERATOR, "I am here.")  # what was to be sent came before it
    await box.until(VISITOR, "I am here.")
    await box.until(OPERATOR, "Taken by anna.")
    assert [one.strip() for one in box.texts(VISITOR)[told[0] :]] == ["I am here."]
    assert not any("holiday" in one for one in box.texts(OPERATOR)[told[1] :])


async def test_a_ticket_offers_no_end_of_mails(box: Mailbox, tmp_path: Path) -> None:
    """Tickets go to the address of the settings, whoever has unsubscribed."""
    await bind(box, tmp_path)
    await box.platform.write(VISITOR, "I want to talk to a person.")
    await box.until(OPERATOR, "Ticket:")
    ticket = box.platform.mails_to(OPERATOR)[-1]
    assert ticket.mail["List-Unsubscribe"] is None
    assert "nsubscribe" not in ticket.part("plain")
    assert box.platform.mails_to(VISITOR)[-1].mail["List-Unsubscribe"] is not None
