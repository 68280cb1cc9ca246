"""What visitors may ask of the passages finds these, and what does not stand there any more not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Said, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.documents.base import Passage, Unit
from aitp_desk.knowledge.enrichment.file import Line, Question, write_lines
from aitp_desk.knowledge.enrichment.text import QuotedText, make_digest
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.snapshot import Knowledge

SITE = SiteFacts("Site", "https://site.example")
PAGES = {
    "leave.md": "# Leave\n\n## Bereavement\n\nTell your manager; no form is needed. "
    "Employees whose spouse, child or parent dies receive five working days with full pay.\n",
    "insurance.md": "# Insurance\n\n## Disability\n\nThe insurance pays 60% of the "
    "salary from the 91st day of an illness, also after an accident in the family.\n",
    "parking.md": "# Parking\n\n## Garage\n\nThe garage is open from six to ten.\n",
}
ASK = "Do I get time off when my mother passed away?"
QUOTE = "Employees whose spouse, child or parent dies receive five working days with full pay."


def open_site(folder: Path, *, enriched: bool = True) -> Knowledge:
    return Knowledge(folder, folder.parent / "data", {}, enriched=enriched)


def write(folder: Path, asked: Mapping[str, str], heading: str = "Bereavement") -> None:
    """A site whose passage is enriched with these questions and quotes."""
    folder.mkdir(exist_ok=True)
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    library = open_site(folder).library
    passage = next(one for one in library.passages if one.heading == heading)
    questions = tuple(Question(ask, quote) for ask, quote in asked.items())
    line = Line("leave", passage.trail, passage.anchor, make_digest(passage), "", questions)
    write_lines(folder / "enriched.jsonl", [line])


def said(library: Library, question: str) -> Said:
    return answer(Turn(question, SITE), library)


def first_source(library: Library, question: str) -> str:
    outcome = said(library, question)
    assert isinstance(outcome, Answer)
    return outcome.sources[0].url if outcome.sources else ""


def test_a_question_in_other_words_than_the_passage_is_answered_from_it(tmp_path: Path) -> None:
    write(tmp_path / "site", {ASK: QUOTE})
    question = "my mother passed away, do I get time off?"
    without = open_site(tmp_path / "site", enriched=False).library
    assert first_source(without, question) != "/leave#bereavement"
    library = open_site(tmp_path / "site").library
    assert first_source(library, question) == "/leave#bereavement"
    outcome = said(library, question)
    assert isinstance(outcome, Answer)
    assert "five working days" in outcome.text


def test_a_page_whose_title_is_the_question_comes_before_what_was_asked_elsewhere(
    tmp_path: Path,
) -> None:
    write(tmp_path / "site", {"are questions often asked about leave?": QUOTE})
    page = "# Questions asked often\n\nWhat people ask us.\n\n## Keys\n\nAt the desk.\n"
    (tmp_path / "site" / "faq.md").write_text(page)
    library = open_site(tmp_path / "site").library
    assert first_source(library, "questions asked often") == "/faq#questions-asked-often"


def test_what_a_model_wrote_is_never_shown(tmp_path: Path) -> None:
    write(tmp_path / "site", {"zebra stripes passed away": QUOTE})
    outcome = said(open_site(tmp_path / "site").library, "zebra stripes passed away")
    assert "zebra" not in str(outcome).replace("zebra stripes passed away", "")


def test_the_revision_tells_whether_and_how_content_is_enriched(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site, {ASK: QUOTE})
    first = open_site(site).library.revision
    write(site, {ASK + "!": QUOTE})
    second = open_site(site).library.revision
    assert len({first, second, open_site(site, enriched=False).library.revision}) == 3


async def test_a_change_of_the_file_is_known_to_the_next_question(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site, {"irrelevant": QUOTE})
    knowledge = open_site(site)
    write(site, {ASK: QUOTE, "another": QUOTE})
    assert await knowledge.refresh()
    assert knowledge.library.questions is not None
    assert len(knowledge.library.questions) == 2


def test_a_quote_that_still_stands_is_used_after_a_change_and_others_are_not(
    tmp_path: Path,
) -> None:
    site = tmp_path / "site"
    write(site, {ASK: QUOTE, "must I fill in a form": "Tell your manager; no form is needed."})
    page = site / "leave.md"
    page.write_text(PAGES["leave.md"].replace("Tell your manager", "Tell your boss"))
    questions = open_site(site).library.questions
    assert questions is not None
    assert questions.asks == [ASK]
    assert questions.left_out == 1


def test_a_damaged_file_leaves_the_content_as_it_is(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site, {ASK: QUOTE})
    (site / "enriched.jsonl").write_bytes(b"\xff\xfe{]\n")
    library = open_site(site).library
    assert library.questions is None
    assert "enriched.jsonl:1" in str(library.problems[0])


UNITS = (
    Unit("sentence", "It’s “new”  – really."),
    Unit("sentence", "Take one of these:"),
    Unit("item", "an apple"),
    Unit("code", "```sh\nrun it\n```"),
)
TEXT = "It’s “new”  – really. Take one of these:\n- an apple\n```sh\nrun it\n```"


@pytest.mark.parametrize(
    ("quote", "units"),
    [
        ("""It's "new" - really.""", [0]),
        ("these: - an apple", [1, 2]),
        ("run it", [3]),
        (TEXT, [0, 1, 2, 3]),
        ("It is new", []),
        ("", []),
    ],
)
def test_a_quote_is_located_whatever_its_white_space_and_quotation_marks(
    quote: str, units: list[int]
) -> None:
    passage = Passage(0, "page", "Page", "", (), "", TEXT, UNITS)
    assert list(QuotedText(passage).units(quote)) == units
