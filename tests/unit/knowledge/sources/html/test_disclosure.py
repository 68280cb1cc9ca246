"""Parts of HTML pages that a button opens."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content


def read(tmp_path: Path, html: str) -> list[Passage]:
    """The passages of a page, without that of its title."""
    tmp_path.joinpath("a.html").write_text(f"<main><h1>Page</h1><p>Top.</p>{html}</main>", "utf-8")
    (document,) = load_content(tmp_path).documents
    return split_passages(document)[1:]


def item(button: str, panel: str) -> str:
    """One entry of a list of questions."""
    return f"<div class='item'>{button}{panel}</div>"


DOGS = "Are dogs allowed?"
CARDS = "Do you take cards?"


@pytest.mark.parametrize(
    ("button", "panel"),
    [
        ("<button aria-expanded='false'>{q}</button>", "<div><p>{a}</p></div>"),
        (
            "<button aria-controls='p{n}'><span>{q}</span><span>+</span></button>",
            "<div id='p{n}' aria-hidden='true' inert><p>{a}</p></div>",
        ),
        (
            "<h2><button data-bs-toggle='collapse' data-bs-target='#same'>\n {q}\n</button></h2>",
            "<div id='same' class='collapse'>{a}</div>",
        ),
        (
            "<div><h3><button aria-controls='p{n}'>{q}<svg><path/></svg></button></h3></div>",
            "<div id='p{n}' hidden>{a}</div>",
        ),
    ],
)
def test_a_button_is_the_heading_of_the_part_that_it_opens(
    tmp_path: Path, button: str, panel: str
) -> None:
    entries = [(DOGS, "On the patio."), (CARDS, "Cash only, sorry.")]
    html = "".join(
        item(button.format(q=q, a=a, n=n), panel.format(q=q, a=a, n=n))
        for n, (q, a) in enumerate(entries)
    )
    assert [(one.heading, one.text) for one in read(tmp_path, html)] == entries


def test_a_term_keeps_its_button_s_text(tmp_path: Path) -> None:
    html = (
        f"<dl><div><dt><button aria-expanded='false'>{DOGS}</button></dt><dd>No.</dd></div>"
        f"<div><dt><button aria-expanded='false'>{CARDS}</button></dt><dd>Yes.</dd></div></dl>"
    )
    found = read(tmp_path, f"<h2>Ask</h2>{html}")
    text = " ".join(unit.text for one in found for unit in one.units)
    assert (f"{DOGS}: No." in text, f"{CARDS}: Yes." in text) == (True, True)


@pytest.mark.parametrize(
    "html",
    [
        "<nav><button aria-expanded='false'>Sections</button><div>Jam. Tea.</div></nav>",
        "<button aria-expanded='false'>All our pages</button><ul><li><a href='/a'>A</a></li></ul>",
        "<button aria-expanded='false' aria-haspopup='true'>Language</button><p>English only.</p>",
        "<p>Tea.</p><button aria-expanded='false'>Read more</button><div>Jam too.</div>" * 2,
        "<p>Tea.</p><button aria-expanded='false'>Show the rest</button><div>Jam too.</div>",
    ],
)
def test_other_buttons_name_nothing(tmp_path: Path, html: str) -> None:
    assert {one.heading for one in read(tmp_path, html)} <= {"Page"}


@pytest.mark.parametrize(
    "html",
    [
        f"<button aria-expanded='false'>{DOGS}</button><p>No.</p><p hidden>secret</p>",
        f"<button aria-expanded='false'>{DOGS}</button><p hidden>secret</p><p>No.</p>",
        f"<button aria-controls='a'>{DOGS}</button><p id='a'>No.</p><p id='b' hidden>secret</p>",
    ],
)
def test_a_hidden_part_that_no_button_names_stays_hidden(tmp_path: Path, html: str) -> None:
    assert [one.text for one in read(tmp_path, html)] == ["No."]
