"""A conversation by mail with a whole desk: a real mail server on either side."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.support.desk.command import run
from tests.support.transports.email_platform import ADDRESS, EmailPlatform, address_of, buttons_of
from tests.support.transports.mail_desk import make_bounce
from tests.support.transports.mail_server import Received
from tests.support.transports.platforms import CarriedDesk, carrying

SECONDS = 60


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "email") as carried:
        yield carried


def platform_of(desk: CarriedDesk) -> EmailPlatform:
    assert isinstance(desk.platform, EmailPlatform)
    return desk.platform


async def mails(desk: CarriedDesk, person: str, count: int) -> list[Received]:
    """The mails to a person, once there are so many."""
    platform = platform_of(desk)
    async with asyncio.timeout(SECONDS):
        while len(platform.mails_to(person)) < count:
            await platform.server.wait_for(len(platform.server.received) + 1)
    found = platform.mails_to(person)
    assert len(found) == count
    return found


async def rows(desk: CarriedDesk, query: str, until: Callable[[list[Any]], object]) -> list[Any]:
    """The rows of a query, once they are as expected."""
    async with asyncio.timeout(SECONDS):
        while not until(found := desk.talker.rows(query)):  # noqa: ASYNC110 -- of a store
            await asyncio.sleep(0.02)
    return found


def mail_of(desk: CarriedDesk, person: str, text: str, **headers: str) -> EmailMessage:
    mail = platform_of(desk).make_mail(person, text)
    for name, value in headers.items():
        del mail[name.replace("_", "-")]
        if value:
            mail[name.replace("_", "-")] = value
    return mail


async def test_a_conversation_is_one_thread_of_mails(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    first = await platform.write("ada", "Do you sell books?")
    (answer,) = await mails(desk, "ada", 1)
    assert answer.mail["Subject"] == "Re: A question"
    assert answer.mail["In-Reply-To"] == answer.mail["References"] == first
    assert answer.mail["Auto-Submitted"] == "auto-replied"
    second = await platform.write("ada", "And maps?")
    _, last = await mails(desk, "ada", 2)
    assert last.mail["Subject"] == "Re: A question"
    assert last.mail["References"].split() == [first, str(answer.mail["Message-ID"]), second]
    assert last.mail["Reply-To"] == answer.mail["Reply-To"]
    so_far = last.part("plain").partition("Earlier in this conversation:")[2]
    assert "> Do you sell books?" in so_far
    assert "> You asked: Do you sell books?" in so_far


async def test_mails_are_in_the_sites_language_by_default(tmp_path: Path) -> None:
    async with carrying(tmp_path, "email", "site.language=de") as desk:
        await desk.platform.write("ada", "Do you sell books?")
        (answer,) = await mails(desk, "ada", 1)
        assert "Antworten Sie auf diese Mail" in answer.part("plain")
        assert answer.mail["Content-Language"] == "de"


async def test_an_answer_without_the_reply_address_is_found_by_its_references(
    desk: CarriedDesk,
) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "Do you sell books?")
    (answer,) = await mails(desk, "ada", 1)
    mail = mail_of(desk, "ada", "And maps?", In_Reply_To=str(answer.mail["Message-ID"]))
    await platform.deliver(mail, ADDRESS)
    await mails(desk, "ada", 2)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1


async def test_another_person_never_reads_the_conversation(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "My number is 1234.")
    (answer,) = await mails(desk, "ada", 1)
    address = answer.mail["Reply-To"].addresses[0].addr_spec
    await platform.deliver(mail_of(desk, "eve", "What did I say?"), address)
    (other,) = await mails(desk, "eve", 1)
    assert "1234" not in other.part("plain") + other.part("html")
    assert len(desk.talker.rows("SELECT id FROM threads")) == 2
    # and each of them goes on with their own
    await platform.deliver(mail_of(desk, "eve", "Me again."), address)
    await mails(desk, "eve", 2)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 2


async def test_a_person_that_is_not_proven_is_answered_apart(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "My number is 1234.")
    await mails(desk, "ada", 1)
    forged = mail_of(desk, "ada", "What did I say?", Authentication_Results="")
    await platform.deliver(forged, ADDRESS)
    await mails(desk, "ada", 2)
    assert len(desk.talker.rows("SELECT DISTINCT owner FROM threads")) == 2


async def test_strangers_share_a_limit_of_answers(tmp_path: Path) -> None:
    async with carrying(tmp_path, "email", "transports.email.strangers_per_hour=2") as desk:
        platform = platform_of(desk)
        for person in ("ada", "bob", "eve"):
            forged = mail_of(desk, person, "Do you sell books?", Authentication_Results="")
            await platform.deliver(forged, ADDRESS)
            if person != "eve":
                await mails(desk, person, 1)
        # who has got a mail of the desk is no stranger, nor who is proven
        last = platform.mails_to("ada")[-1].mail
        again = mail_of(desk, "ada", "And maps?", Authentication_Results="")
        await platform.deliver(again, last["Reply-To"].addresses[0].addr_spec)
        await mails(desk, "ada", 2)
        await platform.write("max", "Do you sell books?")
        await mails(desk, "max", 1)
        assert platform.mails_to("eve") == []
        asked = "SELECT count(*) FROM messages WHERE origin = 'visitor'"
        assert desk.talker.rows(asked) == [(5,)]


async def test_a_button_works_for_a_person_that_is_not_proven(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    await platform.deliver(
        mail_of(desk, "ada", "Which colours?", Authentication_Results=""), ADDRESS
    )
    (asked,) = await mails(desk, "ada", 1)
    assert [label for label, _ in buttons_of(asked)] == ["Red", "Blue"]
    await platform.press("ada", str(asked.mail["Message-ID"]), "Blue")
    _, answer = await mails(desk, "ada", 2)
    assert "You asked: Blue" in answer.part("plain")


async def test_a_sender_learns_what_was_not_taken(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    mail = mail_of(desk, "ada", "Which lamp is this?")
    mail.add_attachment(
        b"\x78\x9f\x3e\x22" + b"\0" * 20,
        maintype="application",
        subtype="ms-tnef",
        filename="winmail.dat",
    )
    await platform.deliver(mail, ADDRESS)
    texts = [one.part("plain") for one in await mails(desk, "ada", 2)]
    (notice,) = [one for one in texts if one.startswith("The attachment winmail.dat could not be")]
    assert any(one.startswith("You asked: Which lamp is this?") for one in texts if one != notice)
    told = next(one for one in platform.mails_to("ada") if one.part("plain") == notice)
    assert (told.mail["Subject"], told.mail["In-Reply-To"]) == (
        "Re: A question",
        mail["Message-ID"],
    )


async def test_a_mail_that_says_nothing_readable_is_recorded_and_its_sender_told(
    desk: CarriedDesk,
) -> None:
    platform = platform_of(desk)
    mail = mail_of(desk, "ada", "")
    mail.set_content(b"MIAG", "application", "pkcs7-mime", params={"smime-type": "enveloped-data"})
    await platform.deliver(mail, ADDRESS)
    (told,) = await mails(desk, "ada", 1)
    assert told.part("plain").startswith("Your mail is encrypted")
    await platform.write("ada", "Do you sell books?")
    _, answer = await mails(desk, "ada", 2)
    assert "You asked: Do you sell books?" in answer.part("plain")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_scanner_that_opens_all_links_decides_nothing(
    desk: CarriedDesk, method: str
) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "Which colours?")
    (asked,) = await mails(desk, "ada", 1)
    ends = asked.part("plain").partition("Receive no more mails: ")[2].split()[0]
    async with aiohttp.ClientSession() as http:
        for url in [ends, *(url for _, url in buttons_of(asked))] * 3:
            path = url.partition("/transports/")[2]
            async with http.request(method, f"{platform.desk}/transports/{path}") as page:
                assert page.status == 200
    url = buttons_of(asked)[1][1]
    await platform.open_and_press(url)
    await platform.open_and_press(url)
    await mails(desk, "ada", 2)
    said = desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor'")
    assert said == [('["Which colours?"]',), ('["Blue"]',)]


async def test_one_click_ends_the_mails_until_the_person_writes_again(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "Do you sell books?")
    await mails(desk, "ada", 1)
    await platform.block("ada")
    await rows(
        desk,
        "SELECT state FROM transport_conversations",
        lambda found: [state for (state,) in found] == ["stopped"],
    )
    await platform.write("ada", "And maps?")
    await mails(desk, "ada", 2)


@pytest.mark.parametrize(
    "headers", [{"Auto_Submitted": "auto-replied"}, {"List_Id": "<news.people.example>"}]
)
async def test_an_automatic_mail_is_recorded_and_not_answered(
    desk: CarriedDesk, headers: dict[str, str]
) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "Do you sell books?")
    (answer,) = await mails(desk, "ada", 1)
    address = answer.mail["Reply-To"].addresses[0].addr_spec
    await platform.deliver(mail_of(desk, "ada", "I am on holiday.", **headers), address)
    await rows(
        desk,
        "SELECT words FROM notes",
        lambda found: ["I am on holiday." in words for (words,) in found] == [True],
    )
    await platform.write("ada", "And maps?")
    _, last = await mails(desk, "ada", 2)
    assert "You asked: And maps?" in last.part("plain")


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-generated"},
        {"List_Id": "<news.people.example>"},
        {"From": "noreply@people.example"},
        {"Return_Path": "<>"},
    ],
)
async def test_an_automatic_mail_that_answers_nothing_is_recorded_too(
    desk: CarriedDesk, headers: dict[str, str]
) -> None:
    platform = platform_of(desk)
    await platform.deliver(mail_of(desk, "ada", "The lamps are late.", **headers), ADDRESS)
    ((content, words),) = await rows(
        desk, "SELECT content, words FROM messages JOIN notes USING (thread_id)", len
    )
    assert "The lamps are late." in content
    assert words.startswith("An automatic mail: ")
    assert desk.talker.rows("SELECT id FROM transport_conversations") == []
    await platform.write("ada", "Do you sell books?")
    await mails(desk, "ada", 1)
    assert len(desk.talker.rows("SELECT id FROM runs")) == 1
    assert len(platform.server.received) == 1


@pytest.mark.sqlite
async def test_an_automatic_mail_of_whom_is_erased_is_recorded_nowhere(
    desk: CarriedDesk, tmp_path: Path
) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "My number is 1234.")
    (answer,) = await mails(desk, "ada", 1)
    erased = ("--actor", "contact:email:ada@people.example")
    code, _, problems = await run("erase", "--data", tmp_path / "data", *erased)
    assert code == 0, problems
    away = mail_of(desk, "ada", "I am on holiday.", Auto_Submitted="auto-replied")
    await platform.deliver(away, answer.mail["Reply-To"].addresses[0].addr_spec)
    await platform.deliver(answer.data, ADDRESS)  # the desk's own mail comes back
    await rows(
        desk,
        "SELECT id FROM jobs WHERE state IN ('queued', 'at_work')",
        lambda found: not found,
    )
    assert desk.talker.rows("SELECT id FROM messages WHERE content IS NOT NULL") == []


async def test_an_address_that_is_gone_gets_no_more_mails(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    platform.server.refusals.append(("RCPT", "550 5.1.1 unknown"))
    await platform.write("ada", "Do you sell books?")
    await rows(
        desk,
        "SELECT state FROM transport_conversations",
        lambda found: [state for (state,) in found] == ["unreachable"],
    )
    assert platform.mails_to("ada") == []


async def test_a_bounce_ends_the_mails_to_an_address(desk: CarriedDesk) -> None:
    platform = platform_of(desk)
    await platform.write("ada", "Do you sell books?")
    (answer,) = await mails(desk, "ada", 1)
    report = make_bounce(answer.sender, str(answer.mail["Message-ID"]))
    assert (await platform.deliver(report, answer.sender))[answer.sender][0] == 250
    await rows(
        desk,
        "SELECT state FROM transport_conversations",
        lambda found: [state for (state,) in found] == ["unreachable"],
    )
    ((words,),) = await rows(desk, "SELECT words FROM notes", len)
    assert "The mail came back (5.1.1)." in words
    assert len(platform.server.received) == 1


async def test_two_desks_of_mail_do_not_talk_to_each_other(desk: CarriedDesk) -> None:
    """A mail of this desk that comes back, from its own address, begins nothing."""
    platform = platform_of(desk)
    await platform.write("ada", "Do you sell books?")
    (answer,) = await mails(desk, "ada", 1)
    assert (await platform.deliver(answer.data, ADDRESS))[ADDRESS][0] == 250
    await platform.write("ada", "And maps?")
    await mails(desk, "ada", 2)
    assert len(platform.server.received) == 2


async def command(desk: CarriedDesk, *arguments: str, data: bytes = b"") -> tuple[int, str]:
    """Run a command of the desk, and return its exit status and what it has printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aitp_desk", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **desk.platform.environment},
    )
    printed, _ = await process.communicate(data)
    assert process.returncode is not None
    return process.returncode, printed.decode()


async def piped(desk: CarriedDesk, folder: Path, data: bytes, *options: str) -> int:
    """Run the command of a mail server's pipe, and return its exit status."""
    site, kept = str(folder / "site"), str(folder / "data")
    status, _ = await command(
        desk, "transport", "deliver", "email", site, "--data", kept, *options, data=data
    )
    return status


@pytest.mark.slow
async def test_a_pipe_delivers_to_a_desk_that_serves(desk: CarriedDesk, tmp_path: Path) -> None:
    data = mail_of(desk, "ada", "Do you sell books?").as_bytes()
    assert await piped(desk, tmp_path, b"From ada Tue Nov 3\n" + data, "--to", ADDRESS) == os.EX_OK
    assert await piped(desk, tmp_path, data) == os.EX_OK  # the same mail
    (answer,) = await mails(desk, "ada", 1)
    assert answer.recipients == (address_of("ada"),)
    assert await piped(desk, tmp_path, data, "--to", "x@shop.example") == os.EX_NOUSER
    assert await piped(desk, tmp_path, b"\n") == os.EX_DATAERR
    assert await piped(desk, tmp_path / "elsewhere", data) != os.EX_OK


@pytest.mark.slow
async def test_a_pipe_keeps_the_mail_where_the_site_has_a_mistake(
    desk: CarriedDesk, tmp_path: Path
) -> None:
    (tmp_path / "site" / "desk.toml").write_text("[transports.email]\naddress = 5\n")
    assert await piped(desk, tmp_path, b"x") == os.EX_TEMPFAIL


@pytest.mark.slow
async def test_the_way_is_tried_from_the_command_line(desk: CarriedDesk, tmp_path: Path) -> None:
    site = (str(tmp_path / "site"), "--data", str(tmp_path / "data"))
    platform = platform_of(desk)

    async def bring() -> None:
        """Bring the desk what it sends to itself, as its mail server does."""
        for number in range(2):
            mail = (await platform.server.wait_for(number + 1))[number]
            await platform.deliver(mail.data, *mail.recipients)

    bringing = asyncio.create_task(bring())
    status, printed = await command(desk, "transport", "test", "email", *site)
    await bringing
    lines = printed.splitlines()
    assert status == 0
    assert [line[:4] for line in lines] == ["ok  "] * 7
    assert "STARTTLS: the connection is encrypted" in lines[0]
    assert "the desk's own LMTP" in lines[1]
    assert f"The mail to {ADDRESS} comes back." in lines[-2]
    # they begin nothing
    await platform.write("ada", "Do you sell books?")
    await mails(desk, "ada", 1)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1
