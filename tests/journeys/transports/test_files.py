"""Files of the desk on every platform: sent there, or linked where it does not take them."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from tests.journeys.transports.test_contract import platforms, shown
from tests.journeys.transports.test_operators import ROOM, WISH, Office, eventually
from tests.support.access.keys import make_key
from tests.support.clients.operator import browsing
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platform import Shown
from tests.support.transports.platforms import CarriedDesk, carrying_all

LINKED = {"whatsapp": "text/html"}
"""What a platform does not take."""
FILES = {"text/plain": b"One lamp, 20 EUR.", "text/html": b"<!DOCTYPE html><title>One lamp</title>"}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", [one for one in platforms() if one.values[0] != "pigeon"])
async def test_a_file_of_an_operator_reaches_the_visitor(
    tmp_path: Path, name: str, kind: str
) -> None:
    settings = (f"transports.pigeon.operators={ROOM}", "tickets.people=on_request")
    async with carrying_all(tmp_path, ("pigeon", name), *settings) as (talker, carried):
        pigeon = cast("PigeonPlatform", carried["pigeon"])
        key = await make_key(talker.desk.store, tmp_path / "data", "operator", name="anna")
        async with browsing(talker.desk) as anna:
            office = Office(talker, pigeon, tmp_path, anna, {"anna": key})
            await office.bind("ada")
            await office.answered("ada", "You act as anna now.")
            await carried[name].write("vera", WISH)
            await eventually(lambda: office.in_room, lambda: pigeon.sent)
            pigeon.keep("1", FILES[kind])
            await office.reply("ada", office.in_room[0], "See the file.", files=1)

        def is_there(found: tuple[Shown, ...]) -> bool:
            texts = "\n".join(one.text for one in found)
            names = [named for one in found for named in one.files]
            if LINKED.get(name) == kind:
                return "See the file." in texts and "/v1/files/" in texts and not names
            is_named = "a.txt" in names or "a.txt" in texts.split("\n")
            return "See the file." in texts and is_named and "/v1/files/" not in texts

        await shown(CarriedDesk(talker, carried[name]), "vera", is_there)
