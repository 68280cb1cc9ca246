"""Who takes anything is given a video or a file where the question is about it, and not else."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.clients.ahp import Visitor, visiting
from tests.support.desk.server import SHOP

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANYTHING = [
    "media/video",
    "media/audio",
    "media/image",
    "file/download",
    "application/data",
    "x-trailhead/gear-spec",
    "text/answer",
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shopper(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    """A visitor of the shop, some of whose pages offer a thing each."""
    async with visiting(tmp_path_factory.mktemp("data"), folder=SHOP) as visitor:
        yield visitor


async def kind_of(shopper: Visitor, query: str) -> str:
    said = await shopper.ask(query, accept_types=ANYTHING)
    kind: str = said.body["response"]["content_type"]
    return kind


@pytest.mark.parametrize(
    "query",
    [
        "When does the Bend store close on Sundays?",  # on the page with the recording
        "How much is it to rent a bear canister for one day?",
        "How many gas canisters can I put in one order?",
        "return policy",  # on the page with the records of the stores
        "phone number",
        "how mcuh is overnigth shiping",
        "How many minutes does a boot fitting take?",  # on the page with the video
        "a video of a bear",
    ],
)
async def test_a_page_that_speaks_of_it_does_not_make_its_video_an_answer(
    shopper: Visitor, query: str
) -> None:
    assert await kind_of(shopper, query) == "text/answer"


@pytest.mark.requirement("AHP-6.6-3")
@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("How do I pitch the Larkspur?", "media/video"),
        ("the sound of the whistle", "media/audio"),
        ("a photo of the floor plan", "media/image"),
        ("boot sizes in a table", "file/download"),
        ("your stores as json", "application/data"),
        ("Divide 55 pack", "x-trailhead/gear-spec"),
    ],
)
async def test_what_a_question_is_about_is_given_itself(
    shopper: Visitor, query: str, kind: str
) -> None:
    assert await kind_of(shopper, query) == kind


async def test_who_seeks_a_video_is_given_it_by_what_its_page_alone_says(shopper: Visitor) -> None:
    query = "two people and a dog in the rain"
    said = await shopper.ask(query, "get_video", accept_types=["media/video"])
    assert said.body["response"]["payload"]["title"] == "Pitching the Larkspur 2"
    assert await kind_of(shopper, query) == "text/answer"
