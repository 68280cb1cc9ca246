"""Which stretch of a section an answer quotes, and when it quotes others."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Answer, Clarification, Said, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import open_knowledge

SITE = SiteFacts("Boats", "https://boats.example")
FILLER = "The crew paints the hull in spring, and the harbour master signs the book each evening. "


async def replied(
    tmp_path: Path, question: str, pages: dict[str, str], max_tokens: int | None = None
) -> Said:
    folder = tmp_path / "content"
    folder.mkdir()
    for name, text in pages.items():
        (folder / name).write_text(text)
    languages = Languages("en")
    async with open_knowledge(folder, data=tmp_path / "data", languages=languages) as knowledge:
        return answer(Turn(question, SITE, max_tokens=max_tokens), knowledge.library)


async def asked(
    tmp_path: Path, question: str, pages: dict[str, str], max_tokens: int | None = None
) -> Answer:
    said = await replied(tmp_path, question, pages, max_tokens)
    assert isinstance(said, Answer)
    return said


async def clarified(tmp_path: Path, question: str, pages: dict[str, str]) -> Clarification:
    said = await replied(tmp_path, question, pages)
    assert isinstance(said, Clarification)
    return said


async def told(tmp_path: Path, question: str, pages: dict[str, str]) -> str:
    said = await asked(tmp_path, question, pages)
    assert said.found
    return said.text


async def test_an_unclear_lead_quotes_the_next_section_under_its_name(tmp_path: Path) -> None:
    pages = {
        "loft.md": "# Loft\n\nA torn sail is mended by the sailmaker within a week.\n",
        "yard.md": "# Yard\n\nA torn sail of a dinghy is mended by the saddler within a day.\n",
        "moorings.md": f"# Moorings\n\n{FILLER}\n",
    }

    text = await told(tmp_path, "Who mends a torn sail?", pages)

    assert "sailmaker" in text
    assert "Yard: A torn sail of a dinghy is mended by the saddler" in text
    assert "harbour master" not in text


async def test_sections_that_are_nearly_as_good_share_the_room(tmp_path: Path) -> None:
    loft = "A torn sail is mended by the sailmaker within a week."
    yard = "A torn sail of a dinghy is mended by the saddler within a day."
    pages = {
        "loft.md": f"# Loft\n\n{loft}\n\n{FILLER * 6}\n",
        "yard.md": f"# Yard\n\n{yard}\n\n{FILLER * 9}\n",
        "moorings.md": f"# Moorings\n\n{FILLER}\n",
    }

    text = await told(tmp_path, "Who mends a torn sail?", pages)

    assert text.startswith(loft)
    assert len(text) - text.index(yard) > 300
    assert len(text) <= 800


async def test_the_term_of_a_definition_is_said_once(tmp_path: Path) -> None:
    long = f"Put into the sail where the wind is strong. {FILLER * 3}"
    page = f"<main><h1>Sails</h1><dl><dt>reef if windy</dt><dd>{long}</dd></dl></main>"

    text = await told(tmp_path, "What is a reef?", {"sails.html": page})

    assert text.startswith("reef if windy: Put into the sail")


async def test_the_term_of_another_page_is_said_once(tmp_path: Path) -> None:
    long = f"Put into the sail where the wind is strong. {FILLER * 3}"
    terms = f"<dl><dt id='r'>reef</dt><dd>{long}</dd></dl>"
    pages = {
        "sails.html": f"<main><h1>Sails</h1>{terms}</main>",
        "knots.html": f"<main><h1>Knots</h1>{terms.replace('sail', 'topsail')}</main>",
    }

    said = await clarified(tmp_path, "Where is a reef put if the wind is strong?", pages)

    assert set(said.options) == {
        "Knots: reef – Put into the topsail where the wind is strong",
        "Sails: reef – Put into the sail where the wind is strong",
    }


STEPS = "1. Lower the sail.\n2. Tie the reef with the short line.\n"


async def test_what_two_guides_say_alike_is_not_asked_back(tmp_path: Path) -> None:
    pages = {
        "sails.md": f"# Sailing\n\n## Tie a reef\n\n{STEPS}3. Hoist it again.\n",
        "start.md": f"# First steps\n\n## Tie a reef\n\n{STEPS}\n",
        "moorings.md": f"# Moorings\n\n{FILLER}\n",
    }

    text = await told(tmp_path, "Where is a reef tied?", pages)

    assert text.count("Tie the reef with the short line.") == 1


async def test_the_page_with_that_title_alone_is_meant(tmp_path: Path) -> None:
    said = "A control point is one feature in two pictures{}. A control point is a pair."
    pages = {
        "points.md": f"# Control points\n\n{said.format(' of one scene')}\n",
        "vertical.md": f"# Vertical control points\n\n{said.format(' above each other')}\n",
        "moorings.md": f"# Moorings\n\n{FILLER}\n",
    }

    text = await told(tmp_path, "What is a control point?", pages)

    assert "one feature in two pictures of one scene" in text


async def test_an_answer_is_not_around_a_caption(tmp_path: Path) -> None:
    more = "".join(f"{number}. {FILLER}\n" for number in range(3, 14))
    pages = {
        "sails.md": "# Sails\n\n## Reefs\n\n1. Lower the sail in a strong wind.\n"
        f"2. Tie the reef with the short line.\n{more}\nFigure 12. Tie the reef in a strong wind\n",
        "moorings.md": f"# Moorings\n\n{FILLER}\n",
    }

    text = await told(tmp_path, "How do I tie the reef in a strong wind?", pages)

    assert "Tie the reef with the short line." in text


async def test_the_term_of_another_page_is_said_once_below_its_page(tmp_path: Path) -> None:
    terms = "<dl><dt id='r'>{}</dt><dd>Put into the sail where the wind is strong. {}</dd></dl>"
    pages = {
        "sails.html": f"<main><h1>Sails</h1>{terms.format('reef', FILLER * 3)}</main>",
        "knots.html": f"<main><h1>Knots</h1>{terms.format('reef band', FILLER * 3)}</main>",
    }

    text = await told(tmp_path, "the reef in the sail in strong wind", pages)

    assert "\n\nKnots: reef band: Put into the sail" in text or "\n\nSails: reef: Put" in text


async def test_the_name_of_a_field_is_asked_for_in_words(tmp_path: Path) -> None:
    option = "If set, peer dependencies are ignored when a peerDependencies tree is built.\n"
    pages = {
        "legacy.md": f"# Legacy\n\n{FILLER}\n\n## legacy-peer-deps\n\n{option}",
        "fields.md": f"# Fields\n\n{FILLER}\n\n## peerDependencies\n\nHosts that it works with.\n",
    }

    assert "Hosts that it works with" in await told(tmp_path, "what are peer dependencies", pages)


async def test_a_refusal_names_a_word_as_it_was_written(tmp_path: Path) -> None:
    pages = {"yard.md": f"# Yard\n\n{FILLER}\n"}

    said = await asked(tmp_path, "Can my co-worker get a parking lot?", pages)

    assert not said.found
    assert "“co-worker”" in said.text
    assert "“co”" not in said.text


async def test_a_visitor_who_asks_what_is_sold_is_never_refused(tmp_path: Path) -> None:
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "yard.md").write_text(f"# Yard\n\n{FILLER}\n")
    site = msgspec.structs.replace(SITE, description="Boats for a day, with a skipper.")
    async with open_knowledge(folder, data=tmp_path / "data") as knowledge:
        for question in ("What do you sell?", "what can i buy here", "What is this site about?"):
            said = answer(Turn(question, site), knowledge.library)
            assert isinstance(said, Clarification)
            assert "Boats for a day, with a skipper." in said.question


async def test_a_visitor_who_asks_for_the_site_by_name_is_told_what_it_is(tmp_path: Path) -> None:
    pages = {
        "index.md": "# Home\n\nBoats rents boats for a day. Each has a skipper.\n\n- Yard\n",
        "yard.md": "# Yard\n\n## All figures\n\n- boats_total: how many boats are in the yard\n",
        "sails.md": "# Boats with sails\n\nBoats with sails are rented in summer.\n",
    }

    said = await clarified(tmp_path, "What is Boats?", pages)

    assert said.question.startswith("Boats: Boats rents boats for a day. Each has a skipper.")


async def test_the_section_that_is_called_as_the_question_answers_it(tmp_path: Path) -> None:
    more = "".join(f"## Sail {at}\n\nBoats: Boats {FILLER}\n\n" for at in range(9))
    pages = {"index.md": f"# Manual\n\n{more}## 2. What is Boats?\n\nA place at the lake.\n"}

    assert await told(tmp_path, "what is boats", pages) == "A place at the lake."


async def test_a_heading_with_an_unnamed_thing_is_one_of_several(tmp_path: Path) -> None:
    pages = {
        "skiff.md": "# Skiff\n\n## Is it watertight?\n\nThe hull is, the deck is not.\n",
        "canoe.md": "# Canoe\n\n## Watertight\n\nThe canoe is watertight up to its rim.\n",
    }

    said = await replied(tmp_path, "Is it watertight?", pages)

    assert "Canoe" in (said.question if isinstance(said, Clarification) else said.text)


async def test_a_site_that_says_nothing_of_itself_is_searched_for_its_name(tmp_path: Path) -> None:
    pages = {"yard.md": "# Yard\n\nThe yard of Boats is where boats are mended.\n"}

    assert "where boats are mended" in await told(tmp_path, "What is Boats?", pages)


async def test_a_section_with_the_name_of_the_site_says_what_it_is(tmp_path: Path) -> None:
    pages = {"index.md": "# Help\n\n## What is Boats?\n\nA place with a hundred boats.\n"}

    assert "A place with a hundred boats." in await told(tmp_path, "what is boats", pages)


@pytest.mark.parametrize(
    "below", ["- Type: null or a rope", "lets a sailor tow a boat.", "```\ntow boat\n```"]
)
async def test_what_only_makes_sense_below_its_heading_is_quoted_below_it(
    tmp_path: Path, below: str
) -> None:
    pages = {"fields.md": f"# Fields\n\n## painter\n\n{below}\n\n## sail\n\n{FILLER}\n"}

    text = await told(tmp_path, "What is a painter?", pages)

    assert text.startswith("painter:")
    assert below in text


async def test_a_clear_lead_answers_alone(tmp_path: Path) -> None:
    pages = {
        "sails.md": "# Torn sails\n\nA torn sail is mended by the sailmaker within a week.\n",
        "trips.md": f"# Trips\n\n{FILLER}Each trip needs a sail.\n",
    }

    text = await told(tmp_path, "Who mends a torn sail?", pages)

    assert text == "A torn sail is mended by the sailmaker within a week."


async def test_other_sections_stay_within_the_room(tmp_path: Path) -> None:
    mended = "A torn sail is mended by the sailmaker, and a torn flag is mended by the tailor. "
    pages = {
        f"{name}.md": f"# {name.title()}\n\n{mended}{FILLER * 4}\n\n{FILLER * 4}\n"
        for name in ("sails", "flags", "ropes", "masts")
    }

    text = await told(tmp_path, "Who mends a torn sail?", pages)

    assert len(text) <= 1.3 * SITE.answer_characters


async def test_sentences_that_answer_together_outweigh_a_single_one(tmp_path: Path) -> None:
    single = f"A sail may be borrowed. {FILLER * 4}"
    together = "Fold the sail along the seam. Dry the folded sail. A wet sail rots at the seam."
    page = f"# Handbook\n\n{single}\n\n{FILLER * 6}\n\n{together} {FILLER * 4}\n"

    text = await told(tmp_path, "How do I fold and dry a sail?", {"handbook.md": page})

    assert together in text


async def test_code_stands_with_the_sentence_that_announces_it(tmp_path: Path) -> None:
    page = (
        f"# Charts\n\n{FILLER * 5}\n\nTo print a chart of the harbour, run:\n\n"
        f"```\nchart --print harbour\n```\n\n{FILLER * 5}\n"
    )

    text = await told(tmp_path, "How do I print a chart?", {"charts.md": page})

    assert "To print a chart of the harbour, run:\n```\nchart --print harbour\n```" in text


async def test_a_list_stands_whole_with_the_sentence_that_announces_it(tmp_path: Path) -> None:
    items = "- a life jacket\n- a torch\n- a whistle\n"
    page = f"# Trips\n\n{FILLER * 5}\n\nFor a night trip pack:\n\n{items}\n{FILLER * 5}\n"

    text = await told(tmp_path, "What do I pack for a night trip?", {"trips.md": page})

    assert f"For a night trip pack:\n{items.strip()}" in text


async def test_an_announcement_of_what_is_not_there_is_marked(tmp_path: Path) -> None:
    page = "# Charts\n\nCharts of the harbour are free. Print one so:\n\n![Printing](print.png)\n"

    text = await told(tmp_path, "Are charts of the harbour free?", {"charts.md": page})

    assert text == "Charts of the harbour are free. Print one so: …"


async def test_what_announces_code_stays_with_it_in_a_long_section(tmp_path: Path) -> None:
    long = f"```\n{'chart --print harbour --and-all-that-is-near ' * 40}\n```"
    page = f"# Charts\n\nCharts of the harbour are free. Print one so:\n\n{long}\n\n{FILLER * 9}\n"

    text = await told(tmp_path, "Are charts of the harbour free?", {"charts.md": page})

    assert text == "Charts of the harbour are free."


async def test_a_nested_item_stands_below_what_it_belongs_to(tmp_path: Path) -> None:
    items = "\n".join(f"- Rope {at}\n  - {FILLER}" for at in range(9))
    page = (
        f"# Ropes\n\nWe stock these ropes:\n\n{items}\n- Anchor line\n"
        f"  - For holding a dinghy overnight in a tidal estuary.\n- Painter\n  - {FILLER}\n"
    )
    question = "What holds a dinghy overnight in a tidal estuary?"

    text = await told(tmp_path, question, {"ropes.md": page})

    assert "- Anchor line\n- For holding a dinghy overnight in a tidal estuary." in text
    assert not text.endswith("Painter")


async def test_a_way_back_to_the_top_is_not_quoted(tmp_path: Path) -> None:
    page = (
        "<html><head><title>Locks</title></head><body><h1>Locks</h1>"
        "<p>The lock opens at seven.</p><p><a href='#top'>Back to Top</a></p></body></html>"
    )

    text = await told(tmp_path, "When does the lock open?", {"locks.html": page})

    assert text == "The lock opens at seven."


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("Not allowed", "Not allowed"),
        ("Not allowed!", "Not allowed"),
        ("If the wind is strong", "If the wind is strong"),
        ("3.2 Before the trip", "Before the trip"),
        ("Overview", ""),
    ],
)
async def test_a_heading_without_which_it_reads_otherwise_is_quoted(
    tmp_path: Path, heading: str, shown: str
) -> None:
    page = f"# Boats\n\n{FILLER}\n\n## {heading}\n\nA dinghy is tied to the inner pier.\n"

    text = await told(tmp_path, "Where is a dinghy tied?", {"boats.md": page})

    sentence = "A dinghy is tied to the inner pier."
    assert text == (f"{shown}: {sentence}" if shown else sentence)


async def test_of_a_table_the_rows_that_matter_are_quoted(tmp_path: Path) -> None:
    rows = [
        f"| {name} | {name} pier, berth {at}, behind the crane and the old shed |"
        for at, name in enumerate(("Heron", "Gull", "Tern", "Petrel", "Skua", "Plover") * 3)
    ]
    rows.insert(9, "| Cormorant | outer wall, ladder two |")
    table = "\n".join(["| Boat | Place |", "| --- | --- |", *rows])
    page = f"# Berths\n\nEach boat has a place:\n\n{table}\n"

    text = await told(tmp_path, "What is the place of the Cormorant?", {"berths.md": page})

    assert "Cormorant" in text
    assert "outer wall, ladder two" in text
    assert text.count("crane") < len(rows) / 2


async def test_a_change_note_is_not_an_answer(tmp_path: Path) -> None:
    note = "Changed in version 3: the anchor chain was longer."
    fact = "The anchor chain is 30 meters."
    page = f"# Anchors\n\n{note}\n\n{FILLER * 5}\n\n{fact}\n\n{FILLER * 5}\n"

    text = await told(tmp_path, "How long is the anchor chain?", {"anchors.md": page})

    assert "30 meters" in text


async def test_an_answer_keeps_to_the_tokens_that_are_asked_for(tmp_path: Path) -> None:
    page = f"# Sails\n\nA torn sail is mended by the sailmaker. {FILLER * 9}\n"

    said = await asked(tmp_path, "Who mends a torn sail?", {"sails.md": page}, max_tokens=20)

    assert len(said.text) <= 20 * CHARACTERS_PER_TOKEN
    assert said.tokens_used <= 20
    assert "sailmaker" in said.text


NEAR = {
    "moorings.md": "# Moorings\n\nA mooring costs 9 euros a night and is paid at the office.\n",
    **{f"{name}.md": f"# {name.title()}\n\n{FILLER}\n" for name in ("trips", "oars", "crew")},
}


async def test_a_section_by_that_name_is_a_near_answer(tmp_path: Path) -> None:
    said = await asked(tmp_path, "Are there moorings for zeppelins?", NEAR)

    assert not said.found
    assert "“zeppelins”" in said.text
    assert "Moorings" in said.text
    assert "9 euros a night" in said.text


async def test_nothing_is_near_where_no_section_is_called_so(tmp_path: Path) -> None:
    said = await asked(tmp_path, "Does the harbour master sell zeppelins?", NEAR)

    assert not said.found
    assert "“zeppelins”" in said.text
    assert "signs the book" not in said.text


async def test_a_near_answer_is_shorter_than_an_answer(tmp_path: Path) -> None:
    pages = NEAR | {"moorings.md": f"# Moorings\n\nMoorings are free. {FILLER * 9}\n"}

    said = await asked(tmp_path, "Are there moorings for zeppelins?", pages)

    assert "Moorings" in said.text
    assert len(said.text) <= SITE.answer_characters / 2


async def test_hours_without_more_are_opening_hours(tmp_path: Path) -> None:
    pages = {
        "clinic.md": "# Clinic\n\n## Contact\n\nReception hours: Mon to Fri, 8 am to 6 pm.\n\n"
        "## Blood tests\n\nFasting hours: nothing but water for 10 hours before.\n"
    }
    assert (await told(tmp_path, "What are your hours?", pages)).startswith("Contact: Reception")


@pytest.mark.parametrize(
    "question", ["Is there parking?", "Do you have parking?", "Will there be parking"]
)
async def test_whether_there_is_a_thing_is_answered_without_a_choice(
    tmp_path: Path, question: str
) -> None:
    pages = {
        "visit.md": f"# Visit\n\n## Parking\n\nParking is behind the quay. {FILLER}\n",
        "berths.md": f"# Berths\n\n## Parking\n\nParking is next to each berth. {FILLER}\n",
        "crew.md": f"# Crew\n\n{FILLER}\n",
    }

    text = await told(tmp_path, question, pages)

    assert "behind the quay" in text or "next to each berth" in text


async def test_a_long_block_of_code_is_quoted_by_its_part(tmp_path: Path) -> None:
    parts = [f"hoist_{number}(halyard)\n" + f"    belay({number})\n" * 20 for number in range(6)]
    wanted = "def reef(mainsail):\n    tie(mainsail, 'second reef')\n    ease(sheet)\n"
    code = "\n".join([*parts[:4], wanted, *parts[4:]])
    pages = {"sails.md": f"# Sails\n\n```python\n{code}```\n", "yard.md": f"# Yard\n\n{FILLER}\n"}

    text = await told(tmp_path, "How do I tie the second reef in the mainsail?", pages)

    assert "tie(mainsail, 'second reef')" in text
    assert "hoist_0" not in text
    assert text.count("```") == 2


async def test_code_that_must_be_cut_is_closed(tmp_path: Path) -> None:
    lines = "".join(f"reef(mainsail, {number})\n" for number in range(200))
    pages = {"sails.md": f"# Sails\n\n```\n{lines}```\n", "yard.md": f"# Yard\n\n{FILLER}\n"}

    said = await asked(tmp_path, "How do I reef the mainsail?", pages, max_tokens=40)

    assert len(said.text) <= 40 * CHARACTERS_PER_TOKEN
    assert said.text.endswith(")\n…\n```")


async def test_a_heading_that_asks_the_same_answers(tmp_path: Path) -> None:
    shared = "# Lockers shared by several crews\n\n## Keys\n\n"
    pages = {
        "faq.md": "# Answers\n\n## Can crews share a locker?\n\nOnly several in the north.\n\n"
        f"{FILLER}\n",
        "lockers.md": f"{shared}Several crews that share a locker have a key each.\n",
        "moorings.md": f"# Moorings\n\n{FILLER}\n",
    }

    said = await asked(tmp_path, "Can several crews share a locker?", pages)

    assert said.sources[0].url.startswith("/faq#")


async def test_the_best_sentence_is_quoted_at_the_end_of_its_section(tmp_path: Path) -> None:
    before = (
        "A report is filed by the skipper.",
        "The office sends it to the insurer.",
        "Lamps are lit at dusk.",
        "Nets are dried in the loft.",
    )
    last = "If a neighbour is rude, tell him so."
    body = "\n\n".join(f"{one} {FILLER * 2}".strip() for one in before)
    pages = {
        "boats.md": f"# Harbour\n\n## Accidents\n\n{body}\n\n{last}\n",
        "yard.md": f"# Yard\n\n{FILLER}\n",
    }

    text = await told(tmp_path, "my neighbour is rude, should I file a report", pages)

    assert last in text
    assert before[-1] in text
