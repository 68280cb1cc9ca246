"""What is put before a model: how much, of what, in which order."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aitp_desk.agent.base import SiteFacts, Turn, Utterance
from aitp_desk.agent.generative.passages import (
    Excerpt,
    choose_excerpts,
    estimate_tokens,
    group_by_page,
    search_excerpts,
)
from aitp_desk.knowledge.documents.chunks import join_units
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.sources.loader import read_files
from tests.answers.judge import SHOP, questions
from tests.answers.prompts import ROOM

SITE = SiteFacts("Trailhead Goods", "https://trailhead.example")

PROTOCOL = """# Handshake

## 1. Meeting

How two programs meet.

### 1.1 By address

A site serves its manifest at one address.

### 1.2 By header

A program asks for the manifest in a header.

## 2. Colours

Paint is blue.

Sizes of paint tins:

- Small tins hold 2 pounds.
- Medium tins hold 5 pounds and have a handle.
- Large tins hold 9 pounds and have a handle and a spout, which is why carpenters like them.

SHADES

## 3. What carpenters mix

Carpenters mix until the evening. What they mix, they would mix again.
""".replace("SHADES", "\n\n".join(f"Shade {number} is thinned with water." for number in range(40)))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return library_of(SHOP / "content", tmp_path_factory.mktemp("data"))


@pytest.fixture
def protocol(tmp_path: Path) -> Library:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "handshake.md").write_text(PROTOCOL, "utf-8")
    (tmp_path / "site" / "boats.md").write_text("# Boats\n\nBoats are made of oak.\n", "utf-8")
    return library_of(tmp_path / "site", tmp_path / "data")


def library_of(folder: Path, data: Path) -> Library:
    return open_editions(read_files(folder, data=data), data, {}, Languages()).library


def ask(question: str, library: Library, *, room: int = ROOM) -> tuple[Excerpt, ...]:
    return choose_excerpts(Turn(question, SITE), library, room=room)


def urls(excerpts: tuple[Excerpt, ...]) -> list[str]:
    return [excerpt.passage.url for excerpt in excerpts]


def runs(excerpt: Excerpt) -> Iterator[range]:
    """The units of the passage that each piece of an excerpt is made of."""
    units = excerpt.passage.units
    for piece in excerpt.text.removeprefix("…\n").removesuffix("\n…").split("\n…\n"):
        yield next(
            range(first, last)
            for first in range(len(units))
            for last in range(first + 1, len(units) + 1)
            if join_units(units[first:last]) == piece
        )


@pytest.mark.slow
@pytest.mark.parametrize("room", [60, 150, ROOM])
def test_excerpts_are_whole_units_in_order_and_gaps_are_marked(shop: Library, room: int) -> None:
    cut = 0
    for question in questions("shop", "tune"):
        for excerpt in ask(question.question, shop, room=room):
            if excerpt.text == excerpt.passage.text:
                continue
            cut += 1
            sent = [number for run in runs(excerpt) for number in run]
            assert sent == sorted(set(sent))
            everything = len(excerpt.passage.units)
            assert excerpt.text.startswith("…\n") == (sent[0] > 0)
            assert excerpt.text.endswith("\n…") == (sent[-1] < everything - 1)
    assert cut


@pytest.mark.parametrize("room", [0, 30, 60, 150, 400, ROOM])
def test_what_is_sent_stays_within_the_room(shop: Library, room: int) -> None:
    sent = 0
    for question in questions("shop", "tune"):
        excerpts = ask(question.question, shop, room=room)
        taken = sum(
            estimate_tokens(f"{page.title} {page.url}") + sum(map(estimate_tokens, page.texts))
            for page in group_by_page(excerpts)
        )
        assert taken <= room
        assert len({excerpt.passage.number for excerpt in excerpts}) == len(excerpts)
        sent += len(excerpts)
    assert bool(sent) == (room > 0)


def test_a_clear_question_is_sent_less_than_a_vague_one(shop: Library) -> None:
    clear = ask("What is the return window?", shop)
    vague = ask("My feet hurt and I wonder whether I can still do something about it", shop)
    assert clear[0].passage.document == "policies/returns"
    assert len(clear) < len(vague)


def test_a_follow_up_is_read_with_what_was_said_before(shop: Library) -> None:
    said = (
        Utterance("visitor", "How much is standard shipping?"),
        Utterance("desk", "$5.95, or free from $75."),
    )
    excerpts = choose_excerpts(Turn("And overnight?", SITE, transcript=said), shop, room=ROOM)
    assert "$29.95" in excerpts[0].text


def test_a_question_about_the_conversation_gets_what_the_earlier_one_got(shop: Library) -> None:
    about = Turn("What did I just ask you?", SITE)
    assert choose_excerpts(about, shop, room=ROOM) == ()
    earlier = "How long do I have to return boots?"
    said = (Utterance("visitor", earlier), Utterance("desk", "60 days."))
    again = Turn("What did I just ask you?", SITE, transcript=said)
    assert choose_excerpts(again, shop, room=ROOM) == ask(earlier, shop)


def test_a_model_finds_with_its_own_words_what_a_question_finds(shop: Library) -> None:
    assert search_excerpts("overnight shipping price", shop, room=ROOM) == ask(
        "overnight shipping price", shop
    )
    assert "$29.95" in search_excerpts("overnight shipping price", shop, room=ROOM)[0].text


@pytest.mark.parametrize("query", ["", "?!", "the and of", "xyzzy", "\x00"])
def test_words_that_the_content_does_not_know_find_nothing(shop: Library, query: str) -> None:
    assert search_excerpts(query, shop, room=ROOM) == ()
    assert ask(query, shop) == ()


def test_a_very_long_query_is_read_at_its_ends(shop: Library) -> None:
    assert search_excerpts("overnight shipping " + "xyzzy " * 100_000, shop, room=ROOM)


def test_of_a_section_that_the_question_names_all_parts_are_sent(protocol: Library) -> None:
    assert sorted(urls(ask("How does meeting work?", protocol))) == [
        "/handshake#1-meeting",
        "/handshake#11-by-address",
        "/handshake#12-by-header",
    ]


def test_of_a_long_section_an_item_comes_with_the_sentence_that_opens_its_list(
    protocol: Library,
) -> None:
    (excerpt, *_) = ask("Which tins have a spout?", protocol, room=150)
    assert "…\nSizes of paint tins:" in excerpt.text
    assert "- Large tins hold 9 pounds and have a handle and a spout" in excerpt.text
    assert "Paint is blue" not in excerpt.text


def test_the_best_passage_is_sent_in_part_if_it_is_long(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    words = "\n\n".join(f"Coat {number} takes a day of fair weather." for number in range(60))
    page = f"# Hulls\n\n{words}\n\nVarnish on a hull is banned:\n\n- on oak\n- on elm\n"
    (tmp_path / "site" / "hulls.md").write_text(page, "utf-8")
    library = library_of(tmp_path / "site", tmp_path / "data")
    (best, *_) = ask("Where is varnish banned?", library)
    assert best.text.endswith("Varnish on a hull is banned:\n- on oak\n- on elm")
    (best, *_) = ask("How long does coat 7 take?", library)
    assert estimate_tokens(best.passage.text) > 400
    assert 200 < estimate_tokens(best.text) < 330


def test_a_page_is_named_once_and_its_sections_by_their_headings(protocol: Library) -> None:
    excerpts = ask("How does meeting work?", protocol)
    (page,) = group_by_page(excerpts)
    assert (page.title, page.url) == ("Handshake", "/handshake")
    assert [text.partition("\n")[0] for text in page.texts] == [
        f"# {excerpt.passage.heading}" for excerpt in excerpts
    ]
    assert [text.partition("\n")[2] for text in page.texts] == [e.text for e in excerpts]
    (alone,) = group_by_page(excerpts[:1])
    assert (alone.title, alone.url) == (excerpts[0].passage.name, excerpts[0].passage.url)
    assert alone.texts == (excerpts[0].text,)


def test_a_passage_next_to_one_that_fits_comes_before_others_like_it(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    knots = "## Knots\n\nA bowline holds on a wet pier."
    ropes = f"# Ropes\n\n{knots}\n\n## Splices\n\nA splice on a boat lasts.\n"
    (tmp_path / "site" / "ropes.md").write_text(ropes, "utf-8")
    (tmp_path / "site" / "boats.md").write_text("# Yards\n\nThey paint a boat.\n", "utf-8")
    library = library_of(tmp_path / "site", tmp_path / "data")
    assert urls(ask("Does a boat survive storms, hail and ice with a bowline?", library)) == [
        "/ropes#knots",
        "/ropes#splices",
        "/boats#yards",
    ]
    assert urls(ask("boat", library))[0] == "/boats#yards"


def test_a_heading_above_that_negates_stands_with_its_text(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    rules = "## Not OK\n\n### Bikes\n\n- Bikes on the pier.\n\n## Fine\n\n### Dogs\n\n- Dogs run.\n"
    (tmp_path / "site" / "rules.md").write_text(f"# Rules\n\n{rules}", "utf-8")
    library = library_of(tmp_path / "site", tmp_path / "data")
    (page,) = group_by_page(ask("bikes", library))
    assert (page.title, page.texts) == ("Rules: Not OK > Bikes", ("- Bikes on the pier.",))
    (page,) = group_by_page(ask("Do bikes and dogs meet postmen or policemen?", library))
    assert page.title == "Rules"
    assert sorted(page.texts) == ["# Dogs\n- Dogs run.", "# Not OK > Bikes\n- Bikes on the pier."]


def test_to_explain_is_no_topic(shop: Library) -> None:
    asked = ask("What is the return window?", shop)
    assert ask("Please explain what the return window is", shop)[0] == asked[0]
    assert ask("Could you explain to me what the return window is?", shop)[0] == asked[0]


def test_what_is_asked_for_counts_more_than_what_is_said_of_it(protocol: Library) -> None:
    assert (
        urls(ask("Which paint tins would carpenters mix?", protocol))[0] == "/handshake#2-colours"
    )


def test_tokens_are_estimated_for_any_text() -> None:
    assert estimate_tokens("") == 1
    assert estimate_tokens("word " * 100) == 101
    assert estimate_tokens("今日はとても良い天気ですね。") > estimate_tokens("Nice weather, is it?")
    assert estimate_tokens('{"a": [1, 2]}') > estimate_tokens("plain words we")


@pytest.mark.parametrize("run", ["0123456789abcdef" * 250, "QUJDREVGR0hJSktM" * 250, "7" * 4000])
def test_a_run_that_is_no_word_is_not_taken_for_words(run: str) -> None:
    words = ("a word or two of it " * 250)[: len(run)]
    assert estimate_tokens(run) > 2.5 * estimate_tokens(words)
