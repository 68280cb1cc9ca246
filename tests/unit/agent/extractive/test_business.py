"""Questions about the site itself: its hours and prices, where it is, how to reach it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, SiteFacts
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.cli.evaluation.conversation import Conversation
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import open_knowledge

SITE = SiteFacts("Oak", "https://oak.example")
CLINIC = (
    "# Oak Street Clinic\n\n## Blood tests\n\nDo not eat for 10 hours before a blood test.\n\n"
    "## Contact\n\n4 Oak Street. Telephone (555) 0134. Mon-Fri 8 am to 6 pm, Saturday 9 am to noon."
    "\n\n## Fees\n\nA visit costs $60.\n"
)
WORKSHOP = (
    "# Frame & Fork\n\n## Repairs\n\nWe mend bicycles and sell no new ones.\n\n"
    "## Questions\n\nCall (541) 555-0137 or come by.\n"
)
SHOP = (
    "# Loom\n\n## Processing\n\nOrders placed before noon are processed the same day; bulk orders "
    "take longer.\n\n## Tracking\n\nOnce it has left us, you get a tracking number and a link.\n\n"
    "## Delivery areas\n\nWe deliver to homes, offices and P.O. Boxes.\n\n"
    "## Returns\n\nSend it within 30 days, unworn.\n"
)
SCHOOL = (
    "# Musikschule\n\n## Kontakt\n\nMarktstraße 1. Öffnungszeiten: nach Vereinbarung.\n\n"
    "## Fragen\n\nMit einem Klick öffnen.\n\n## Unterricht\n\nKlavier und Gesang im Saal.\n"
)
DENTIST = (
    "# 한빛 치과\n\n## 이용 시간\n\n평일 오전 9시부터 오후 6시까지 진료합니다.\n\n"
    "## 오시는 길\n\n서울시 종로구 새문안로 12, 광화문역 3번 출구에서 5분입니다.\n"
)
BAKERY = (
    "# Bäckerei Huber\n\n## Öffnungszeiten\n\nMontag bis Freitag 6 bis 18 Uhr.\n\n"
    "## Anfahrt\n\nMarktplatz 4, 83022 Rosenheim.\n\n## Preise\n\nBauernbrot 5,20 Euro.\n"
)


@pytest.mark.parametrize(
    ("page", "language", "asked"),
    [
        (
            CLINIC,
            "en",
            {
                "what are your hours": "8 am",
                "when do you close?": "8 am",
                "Where are you?": "4 Oak Street",
                "How do I contact you?": "0134",
            },
        ),
        (
            WORKSHOP,
            "en",
            {
                "what's the phone number": "555-0137",
                "What is your phone number?": "555-0137",
                "the phone number?": "555-0137",
            },
        ),
        (
            SHOP,
            "en",
            {
                "where is my order": "a tracking number and a link",
                "Where's my parcel?": "a tracking number and a link",
                "do you deliver to a PO box": "P.O. Boxes",
            },
        ),
        (DENTIST, "ko", {"몇 시에 문을 닫나요?": "오후 6시", "어디에 있나요?": "새문안로"}),
        (
            BAKERY,
            "de",
            {"Wann macht ihr zu?": "18 Uhr", "Wo seid ihr?": "Markt", "Was kostet das?": "5,20"},
        ),
        (SCHOOL, "de", {"Wann habt ihr offen?": "nach Vereinbarung"}),
    ],
)
async def test_what_is_asked_of_the_site_itself_is_answered_in_the_words_of_its_pages(
    tmp_path: Path, page: str, language: str, asked: dict[str, str]
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.md").write_text(page, "utf-8")
    async with open_knowledge(
        tmp_path / "site", data=tmp_path / "data", languages=Languages(language)
    ) as knowledge:
        for question, fact in asked.items():
            said = await Conversation(ExtractiveAgent(knowledge), SITE).ask(question)
            assert isinstance(said, Answer)
            assert fact in said.text[:80]


async def test_a_page_that_says_find_is_no_address(tmp_path: Path) -> None:
    page = "# Questions\n\nFind answers to common questions.\n\n" + "".join(
        f"## {what}\n\nThe {what.lower()} is included with each court, and is cleaned daily.\n\n"
        for what in ("Net", "Light", "Shower", "Ball", "Bench", "Locker", "Bottle", "Towel")
    )
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.md").write_text(page, "utf-8")
    async with open_knowledge(
        tmp_path / "site", data=tmp_path / "data", languages=Languages(own="en")
    ) as knowledge:
        said = await Conversation(ExtractiveAgent(knowledge), SITE).ask("Where are you located?")
    assert isinstance(said, Answer)
    assert not said.found


async def test_a_manual_tells_no_price_and_no_place_of_the_site(tmp_path: Path) -> None:
    manual = "# Manual\n\n" + "".join(
        f"## Setting {number}\n\nThe location of cache {number} is an address of the memory. "
        "Contact points open at the cost of speed.\n\n"
        for number in range(120)
    )
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.md").write_text(manual, "utf-8")
    (tmp_path / "site" / "people.md").write_text(
        "# People\n\n## Maintainers\n\nWrite to oak@oak.example, a contact for all.\n", "utf-8"
    )
    async with open_knowledge(
        tmp_path / "site", data=tmp_path / "data", languages=Languages(own="en")
    ) as knowledge:
        for question in ("What does it cost?", "Where are you?", "When are you open?"):
            said = await Conversation(ExtractiveAgent(knowledge), SITE).ask(question)
            assert isinstance(said, Answer)
            assert not said.found
        told = await Conversation(ExtractiveAgent(knowledge), SITE).ask("How can I contact you?")
    assert isinstance(told, Answer)
    assert "oak@oak.example" in told.text
