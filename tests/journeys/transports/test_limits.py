"""Limits of answers: each event counts once, whichever way it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.transports.events import IncomingFile, TextMessage
from tests.journeys.transports.test_attacks import handled, pigeons, say, threads
from tests.journeys.transports.test_contract import has, shown
from tests.journeys.transports.test_repetition import forget
from tests.journeys.transports.test_structured import FORM, Counter, Page
from tests.support.clients.operator import operating
from tests.support.desk.conditions import until
from tests.support.transports.platforms import carrying

LIMITED = ("limits.enabled=true", "limits.authenticated_per_minute=3")
ASKING = ("capabilities.requests={}", "capabilities.data={}", "console.enabled=true")


@pytest.mark.parametrize("is_forgotten", [False, True])
async def test_an_event_that_is_delivered_again_counts_once(
    tmp_path: Path, *, is_forgotten: bool
) -> None:
    async with carrying(tmp_path, "pigeon", *LIMITED) as desk:
        platform = pigeons(desk)
        for number in range(3):
            event = await platform.write("ada", f"Number {number}?")
            await shown(desk, "ada", has(f"Number {number}?"))
            if is_forgotten:
                await forget(desk)
            for _ in range(5):
                await platform.redeliver(event)
            await handled(desk)
        await platform.write("ada", "One too many?")
        await handled(desk)
        assert [one.text for one in platform.sent] == [
            f"You asked: Number {number}?" for number in range(3)
        ]
        ((*_, last),) = threads(desk).values()
        assert "One too many?" in last


@pytest.mark.parametrize("where", ["the platform", "the page"])
async def test_the_answer_to_a_form_counts(tmp_path: Path, where: str) -> None:
    limited = ("limits.enabled=true", "limits.authenticated_per_minute=5")
    async with (
        carrying(tmp_path, "pigeon", *limited, *ASKING) as desk,
        operating(desk.talker.desk, tmp_path / "data", "anna") as anna,
    ):
        platform = pigeons(desk)
        await say(desk, "ada", "I need a tent.")
        ((thread,),) = desk.talker.rows("SELECT id FROM threads")
        await anna.post(f"threads/{thread}/take")
        counter = Counter(desk, anna, thread)
        await counter.ask("data", request_data=FORM)
        found = await shown(desk, "ada", has("Where to?"))
        if where == "the platform":
            await platform.submit("ada", found[-1].ref, {"street": "Elm Street 5"})
        else:
            form = platform.sent[-1].form
            assert form is not None
            page = Page(desk, form.url)
            await page.load()
            await page.submit(f0="Elm Street 5")
        await handled(desk)
        assert counter.answers()
        await handled(desk)
        for number in range(3):
            await platform.write("ada", f"Number {number}.")
        await handled(desk)
        count = len(platform.sent)
        await counter.ask("data", request_data={**FORM, "id": "address-2"})
        await until(lambda: len(platform.sent) > count)
        form = platform.sent[-1].form
        assert form is not None
        await Page(desk, form.url).submit(429, f0="Elm Street 6")


@pytest.mark.parametrize("taken", [1, 0])
async def test_files_without_words_next_to_one_that_is_refused(tmp_path: Path, taken: int) -> None:
    async with carrying(tmp_path, "pigeon", "files.max_bytes=1024") as desk:
        platform = pigeons(desk)
        files = []
        for name, size in (("small.txt", 5), ("big.txt", 2000))[1 - taken :]:
            platform.keep(name, b"x" * size)
            file = IncomingFile(name=name, content_type="text/plain", size=size, ref=name)
            files.append(file)
        message = TextMessage(text="", message_ref="files", files=tuple(files))
        await platform.deliver("ada", message)
        await until(lambda: len(platform.sent) == 1 + taken)
        await say(desk, "ada", "And maps?")
        refused = "The file big.txt was not taken"
        told = [one.text for one in platform.sent if one.text.startswith(refused)]
        assert len(told) == 1
        answered = [one.text for one in platform.sent if one.text.startswith("You asked")]
        assert len(answered) == 1 + taken, answered
        ((said, _),) = threads(desk).values()
        assert refused in said
        assert desk.talker.rows("SELECT name FROM files") == [("small.txt",)] * taken
