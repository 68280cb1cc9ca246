"""Questions that are asked of documentation: names, options, defaults, and many pages alike."""

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Clarification, Said, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.sources.loader import read_files

SITE = SiteFacts("Docs", "https://docs.example")


def library_of(tmp_path: Path, pages: dict[str, str]) -> Library:
    folder = tmp_path / "site"
    folder.mkdir(exist_ok=True)
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
        "<dl><dt id=o>-o</dt><dd>Where output goes.</dd><dt id=big-o>-O, --no-owner</dt>"
        "<dd>Leaves the owners out.</dd><dt id=onto>--onto=&lt;where></dt>"
        "<dd>Where all of it is put back.</dd><dt id=schema>--schema-only</dt>"
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
        ("dump -o", "/dump#o"),
        ("dump -O", "/dump#big-o"),
        ("what does the -O option do", "/dump#big-o"),
        ("what does dump --onto do", "/dump#onto"),
        ("--onto", "/dump#onto"),
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


def test_among_few_pages_that_fit_equally_the_desk_asks_which_is_meant(tmp_path: Path) -> None:
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


def text_of(library: Library, question: str) -> str:
    said = answer(Turn(question, SITE), library)
    assert isinstance(said, Answer)
    return said.text


def test_what_a_thing_is_is_answered_by_the_sentence_that_says_it(tmp_path: Path) -> None:
    pages = {f"hut{at}": f"<h1>Hut {at}</h1><p>Sleeps {at} people.</p>" for at in range(9)}
    pages["trails"] = (
        "<h1>Trails</h1><p>Beside the cairn a bench stands, and children count each cairn.</p>"
    )
    pages["words"] = (
        "<h1>Words of the mountains</h1><p>Snow is cold. A cairn is a heap of stones that marks a"
        " way. It is not to be climbed.</p>"
    )
    said = text_of(library_of(tmp_path, pages), "what is a cairn?")
    assert "A cairn is a heap of stones that marks a way. It is not to be climbed." in said


def test_a_section_that_is_called_what_is_asked_for_is_quoted_from_its_beginning(
    tmp_path: Path,
) -> None:
    html = (
        "<h1>Tools</h1><p>All of them.</p><h2>Sweep</h2><p>Takes out the rows that nobody sees any"
        " more. This makes room. Each night is a good time for it.</p>"
        + "".join(f"<p>When {at} sessions sweep, the sweep waits.</p>" for at in range(20))
    )
    said = text_of(library_of(tmp_path, {"tools": html}), "what does sweep do")
    assert said.startswith("Takes out the rows that nobody sees any more. This makes room.")


def test_a_sentence_is_quoted_with_the_one_that_it_leans_on(tmp_path: Path) -> None:
    html = (
        "<h1>Locks</h1><p>A bolt needs no key at all. It slides into the frame by hand, unlike a"
        " latch. Doors have two sides. Paint keeps the rain off.</p>"
    )
    said = text_of(library_of(tmp_path, {"locks": html}), "what slides into the frame by hand")
    assert said.startswith("A bolt needs no key at all. It slides into the frame by hand")


def test_a_page_that_is_about_it_comes_before_what_a_release_changed(tmp_path: Path) -> None:
    change = "<p>The keeper option turns the keeper of keys on, the keeper being new.</p>"
    pages = {f"releases/2.{at}": f"<h1>Release 2.{at}</h1>{change}" for at in range(3)}
    reference = "<p>Of the keys. The keeper turns on with the keeper option and keeps them.</p>"
    (tmp_path / "site" / "releases").mkdir(parents=True)
    library = library_of(tmp_path, {**pages, "reference": f"<h1>Reference</h1>{reference}"})
    assert first_source(library, "how do I turn the keeper option on") == "/reference#reference"


def test_a_register_whose_entries_have_numbers_for_names_is_no_first_source(
    tmp_path: Path,
) -> None:
    said = "A hinge that squeaks wants a drop of oil twice."
    entries = "".join(
        f"<h2>7-{at}</h2><p>{said if at == 9 else f'Part {at} of a door is to be made well.'}</p>"
        for at in range(80)
    )
    pages = {
        "register": f"<h1>Register</h1>{entries}",
        "hinges": f"<h1>Doors</h1><p>Oil. {said}</p>",
    }
    assert first_source(library_of(tmp_path, pages), "my hinge squeaks") == "/hinges#doors"


def test_what_stands_on_most_pages_answers_from_one_of_them_alone(tmp_path: Path) -> None:
    frame = "<p>Published by the guild of locksmiths in the year of the owl.</p>"
    pages = {
        f"p{at:02}": f"<h1>Part {at}</h1><p>This is part {at} of many.</p>{frame}"
        for at in range(30)
    }
    library = library_of(tmp_path, pages)
    said = answer(Turn("the guild of locksmiths", SITE), library)
    assert isinstance(said, Answer)
    assert [source.url for source in said.sources] == ["/p00#part-0"]


@pytest.mark.parametrize(
    ("question", "missing"),
    [("how do I install conda", "conda"), ("what is xonda", "xonda"), ("use redis", "redis")],
)
def test_a_name_that_the_pages_lack_is_no_other_word_misspelt(
    tmp_path: Path, question: str, missing: str
) -> None:
    pages = {
        "waits": "<h1>Waits</h1><p>The cond of a wait is its condition. Each cond ends.</p>",
        "reads": "<h1>Reads</h1><p>What reads it needs no lock. A xond is none.</p>",
    }
    said = answer(Turn(question, SITE), library_of(tmp_path, pages))
    assert isinstance(said, Answer)
    assert not said.found
    assert f"“{missing}”" in said.text


def test_a_slip_in_a_word_of_the_pages_is_still_put_right(tmp_path: Path) -> None:
    pages = {
        "waits": "<h1>Waits</h1><p>The cond of a wait is its condition. Each cond ends.</p>",
        "reads": "<h1>Reads</h1><p>What reads it needs no lock.</p>",
    }
    assert first_source(library_of(tmp_path, pages), "what is a codn") == "/waits#waits"


@pytest.mark.parametrize("question", ["longest parameter", "max param length", "maxParamLength"])
def test_a_name_in_camel_case_is_found_by_its_parts_and_as_a_whole(
    tmp_path: Path, question: str
) -> None:
    pages = {
        "server": "<h1>Server</h1><h2>maxParamLength</h2><p>Longer ones get a 404.</p>"
        "<h2>bodyLimit</h2><p>Bytes of a body.</p>",
        "limits": "<h1>Limits</h1><p>What is too long is refused. A maximum is a length.</p>",
    }
    assert first_source(library_of(tmp_path, pages), question) == "/server#maxparamlength"


@pytest.mark.parametrize(
    ("question", "url"),
    [
        ("max_size of a Field", "/models#size"),
        ("how do I create a keeper", "/models#createkeeper"),
        ("KEY_AGE", "/models#age"),
    ],
)
def test_a_name_is_found_however_its_parts_are_put_together(
    tmp_path: Path, question: str, url: str
) -> None:
    terms = {
        "size": ("Field.max_size", "How long what is written may be."),
        "createkeeper": ("createkeeper", "Makes somebody who may do all. Asks for a name."),
        "get": ("get_key_age()", "Gives the age of a key. It is KEY_AGE where none is said."),
        "age": ("KEY_AGE", "Two weeks, in seconds."),
    }
    listed = "".join(
        f"<dt id={id}>{name}</dt><dd>{text}</dd>" for id, (name, text) in terms.items()
    )
    notes = "<p>A max_size of a Field above 255 is refused: no Field has such a max_size.</p>"
    library = library_of(
        tmp_path,
        {
            "models": f"<h1>Models</h1><p>Of all.</p><dl>{listed}</dl>",
            "checks": f"<h1>Checks</h1>{notes}",
            "people": "<h1>People</h1><p>Create what you like. A keeper keeps the keys.</p>",
        },
    )
    assert first_source(library, question) == url


@pytest.mark.parametrize(
    ("question", "url"),
    [
        ("what is a cairn?", "/words#cairn"),
        ("what are cairns", "/words#cairn"),
        ("way mark", "/way-mark#way-mark1"),
    ],
)
def test_what_is_called_as_is_asked_is_found_among_many_that_speak_of_it(
    tmp_path: Path, question: str, url: str
) -> None:
    pages = {
        f"trail{at}": f"<h1>Trail {at}</h1><p>Cairn after cairn marks the way of trail {at}: a"
        " mark, a way mark, a cairn.</p>"
        for at in range(60)
    }
    terms = "<dt id=cairn>cairn</dt><dd>Stones that were put in a heap, so that all see them.</dd>"
    pages["words"] = f"<h1>Words</h1><p>Of the mountains.</p><dl>{terms}</dl>"
    pages["way-mark"] = "<h1>way-mark(1)</h1><p>Paints a sign upon a stone.</p>"
    assert first_source(library_of(tmp_path, pages), question) == url
