"""Questions that are asked of documentation: names, options, defaults, and many pages alike."""

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Clarification, Said, SiteFacts, Turn
from aitp_desk.agent.extractive import answer
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.languages import Languages
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.load import read_files

SITE = SiteFacts("Docs", "https://docs.example")


def library_of(tmp_path: Path, pages: dict[str, str]) -> Library:
    folder = tmp_path / "site"
    folder.mkdir()
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(f"<main>{html}</main>", "utf-8")
    return open_editions(read_files(folder), tmp_path / "data", {}, Languages()).library


def first_source(library: Library, question: str) -> str:
    said = answer(Turn(question, SITE), library)
    assert isinstance(said, Answer)
    assert said.found
    return said.sources[0].url


@pytest.fixture
def manual(tmp_path: Path) -> Library:
    settings = "".join(
        f"<dt id={name}>{name} (boolean)</dt><dd>{text}</dd>"
        for name, text in {
            "key_checks_list": "Lists the key checks of the table, a row for each key.",
            "key_checks": "Turns checks of keys on. By default it is off. It is a list no longer.",
            "defer_key_checks": "Puts off the key checks until the end, checks of all keys.",
            "max_sessions": "How many sessions there may be. The default is 40. Non-default values"
            " of SESSIONS need a value of memory that is higher.",
        }.items()
    )
    options = (
        "<dl><dt id=o>-o</dt><dd>Where output goes.</dd><dt id=schema>--schema-only</dt>"
        "<dd>Dumps the definitions and no data.</dd><dt id=no-schema>--no-schema</dt>"
        "<dd>Dumps only what is no schema, the data.</dd></dl>"
    )
    return library_of(
        tmp_path,
        {
            "settings": f"<h1>Settings</h1><p>All that can be set.</p><dl>{settings}</dl>",
            "dump": f"<h1>dump</h1><p>Dumps a schema with its data.</p>{options}",
            "sweep": "<h1>SWEEP</h1><p>Takes out the dead rows.</p><h2>FULL</h2><p>Writes all anew."
            "</p><h2>Costs of a full sweep</h2><p>A full SWEEP does a lot, a full copy.</p>",
        },
    )


@pytest.mark.parametrize(
    ("question", "url"),
    [
        ("key_checks", "/settings#key_checks"),
        ("what does key_checks do", "/settings#key_checks"),
        ("key_checks_list", "/settings#key_checks_list"),
        ("what does dump --schema-only do", "/dump#schema"),
        ("what does the -o option do", "/dump#o"),
        ("what does SWEEP FULL do", "/sweep#full"),
    ],
)
def test_a_technical_name_is_found_exactly(manual: Library, question: str, url: str) -> None:
    assert first_source(manual, question) == url


def test_a_question_for_a_default_is_answered_with_it(manual: Library) -> None:
    said = answer(Turn("what is the default value of max_sessions", SITE), manual)
    assert isinstance(said, Answer)
    assert "The default is 40." in said.text


def test_an_unknown_name_is_looked_for_by_its_parts(manual: Library) -> None:
    assert first_source(manual, "which sessions_max") == "/settings#max_sessions"


def ask_among(tmp_path: Path, pages: int, question: str) -> Said:
    made = {
        f"p{at}": f"<h1>Part {at}</h1><p>Nothing of note, only {at}.</p>" for at in range(pages)
    }
    made |= {
        f"t{at}": f"<h1>{name} tent</h1><p>{name} is green and has {at} doors.</p>"
        for at, name in enumerate(("Larkspur", "Basin"), 2)
    }
    made |= {
        f"b{at}": f"<h1>{name}</h1><p>The {name} rucksack weighs {at} kg and is grey.</p>"
        for at, name in enumerate(("Divide", "Cutbank"), 2)
    }
    return answer(Turn(question, SITE), library_of(tmp_path, made))


def test_among_few_pages_that_fit_alike_the_desk_asks_which_is_meant(tmp_path: Path) -> None:
    assert isinstance(ask_among(tmp_path, 3, "is the rucksack grey?"), Clarification)


def test_among_many_pages_it_answers_from_the_first_of_them(tmp_path: Path) -> None:
    assert isinstance(ask_among(tmp_path, 160, "is the rucksack grey?"), Answer)


def test_among_many_it_asks_where_several_are_called_what_is_asked_for(tmp_path: Path) -> None:
    asked = ask_among(tmp_path, 160, "what is the tent?")
    assert isinstance(asked, Clarification)
    assert set(asked.options) == {"Larkspur tent", "Basin tent"}


def test_answers_come_from_the_pages_and_not_from_the_edition_on_one_page(tmp_path: Path) -> None:
    parts = {
        f"part{at}": f"<h1>Part {at}</h1>"
        + "".join(f"<p>The {sort} of number {at} stand in row {row}.</p>" for row in range(5))
        for at, sort in enumerate(
            ("apples", "pears", "plums", "grapes", "figs", "dates", "limes", "melons")
        )
    }
    together = "".join(html.replace("h1>", "h2>") for html in parts.values())
    library = library_of(tmp_path, {**parts, "all": f"<h1>All figs and more</h1>{together}"})
    assert first_source(library, "where do the figs of number 4 stand") == "/part4#part-4"
    assert library.document("all") is not None
    assert not library.numbers("all")
