"""What is cut off from a message, such as a quotation, is kept for operators."""

from __future__ import annotations

from pathlib import Path

from aitp_desk.transports.events import TextMessage
from tests.journeys.transports.test_contract import has, shown
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import carrying


async def test_what_was_cut_off_is_a_note_on_the_thread(tmp_path: Path) -> None:
    async with carrying(tmp_path, "pigeon") as desk:
        assert isinstance(desk.platform, PigeonPlatform)
        for text, trimmed in (
            ("One?", "> A quotation."),
            ("Two?", "> Another one."),
            ("Three?", ""),
        ):
            message = TextMessage(text=text, message_ref=text, trimmed=trimmed)
            await desk.platform.deliver("ada", message)
        await shown(desk, "ada", has("Three?"))
        notes = [words for (words,) in desk.talker.rows("SELECT words FROM notes ORDER BY id")]
        assert [words.rpartition("\n")[2] for words in notes] == [
            "> A quotation.",
            "> Another one.",
        ]


async def test_a_long_quotation_is_kept_as_long_as_a_note_may_be(tmp_path: Path) -> None:
    async with carrying(tmp_path, "pigeon") as desk:
        assert isinstance(desk.platform, PigeonPlatform)
        trimmed = "> word\n" * 1500 + "> The end."
        message = TextMessage(text="One?", message_ref="1", trimmed=trimmed)
        await desk.platform.deliver("ada", message)
        await shown(desk, "ada", has("One?"))
        ((words,),) = desk.talker.rows("SELECT words FROM notes")
        assert words.endswith("> The end.")
