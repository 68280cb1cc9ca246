"""The library: index, search and what is kept between starts."""

import sqlite3
from itertools import product
from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.index.builder import FILE
from aitp_desk.knowledge.index.term_places import TermPlaces
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search import ranking as search
from aitp_desk.knowledge.sources.loader import read_files


def put(folder: Path, **pages: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, "utf-8")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    put(
        folder,
        returns="# Returns\n\nSend it back.\n\n## Refund\n\nThe money comes in 5 days.\n",
        shipping="# Shipping\n\nParcels travel by truck. A café sells coffee.\n",
        tents="# Tents\n\nThe Larkspur is a tent. It resists rain.\n\n## Care\n\nDry the tent.\n",
    )
    return folder


def open_site(folder: Path, **synonyms: list[str]) -> Library:
    data = folder.parent / "data"
    return open_editions(read_files(folder, data=data), data, synonyms, Languages()).library


def found(library: Library, query: str) -> list[str]:
    return [hit.passage.url for hit in library.search(query)]


def test_the_best_passage_comes_first_and_hits_carry_scores(site: Path) -> None:
    library = open_site(site)
    hits = library.search("refund money")
    assert hits[0].passage.url == "/returns#refund"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_what_the_content_writes_as_one_word_is_found_by_two_within_a_phrase(site: Path) -> None:
    put(site, accounts="# Accounts\n\nA login takes a minute.\n")
    library = open_site(site, **{"not log in": ["coffee"]})
    assert set(found(library, "not log in")) == {"/accounts#accounts", "/shipping#shipping"}


def where(library: Library, word: str) -> TermPlaces:
    """Where a word stands: the same object while it is kept."""
    (term,) = library.vocabulary.terms([word])
    return library.ranking.places(term)


def test_of_words_that_the_content_does_not_have_nothing_is_kept(site: Path) -> None:
    library = open_site(site)
    assert where(library, "refund") is where(library, "refund")
    assert where(library, "xyzzy") is not where(library, "xyzzy")


def test_what_is_kept_of_words_is_bounded_however_many_there_are(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_KEPT", 500)
    words = ["".join(letters) for letters in product("qxz", repeat=4)]
    put(site, words="# Words\n\n" + ".\n\n".join(words))
    library = open_site(site)
    first = [where(library, word) for word in words]
    assert where(library, words[-1]) is first[-1]
    assert where(library, words[0]) is not first[0]


@pytest.mark.parametrize("query", ["", "?!", "the and of", "xyzzy", '"NEAR(" OR *', "\x00", "ß"])
def test_a_query_without_known_words_finds_nothing(site: Path, query: str) -> None:
    assert found(open_site(site), query) == []


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("parcels", "/shipping#shipping"),
        ("PARCEL", "/shipping#shipping"),
        ("cafe", "/shipping#shipping"),
        ("parcle", "/shipping#shipping"),
        ("postage", "/shipping#shipping"),
        ("downpour", "/tents#tents"),
        ("drying", "/tents#care"),
    ],
)
def test_other_forms_slips_and_synonyms_find_the_word(site: Path, query: str, url: str) -> None:
    assert found(open_site(site), query)[:1] == [url]


def test_the_sites_own_synonyms_are_known_both_ways(site: Path) -> None:
    assert found(open_site(site), "yurt") == []
    assert found(open_site(site, yurt=["tent"]), "yurt")
    assert found(open_site(site, tent=["yurt"]), "yurt")


def test_a_document_is_found_by_its_path(site: Path) -> None:
    library = open_site(site)
    document = library.document("tents")
    assert document is not None
    assert document.title == "Tents"
    assert library.document("nothing") is None
    assert [library.passages[number].document for number in library.numbers("tents")] == [
        "tents",
        "tents",
    ]


def test_the_same_content_has_the_same_revision_and_reuses_the_index(site: Path) -> None:
    first = open_site(site)
    made = (site.parent / "data" / FILE).stat()
    second = open_site(site)
    assert second.revision == first.revision
    assert list(second.passages) == list(first.passages)
    assert (site.parent / "data" / FILE).stat().st_mtime_ns == made.st_mtime_ns
    assert made.st_mode & 0o777 == 0o600


def test_content_and_synonyms_change_the_revision(site: Path) -> None:
    first = open_site(site)
    assert open_site(site, a=["b"]).revision != first.revision
    put(site, more="# More\n\nText.\n")
    assert open_site(site).revision != first.revision


def test_a_broken_index_is_made_again(site: Path) -> None:
    open_site(site)
    file = site.parent / "data" / FILE
    file.write_bytes(file.read_bytes()[:5000])
    assert found(open_site(site), "refund") == ["/returns#refund"]


def test_an_index_of_another_format_is_made_again(site: Path) -> None:
    open_site(site)
    file = site.parent / "data" / FILE
    file.unlink()
    sqlite3.connect(file).execute("CREATE TABLE made (content TEXT)").connection.close()
    assert found(open_site(site), "refund") == ["/returns#refund"]


def test_an_old_library_answers_on_while_a_new_one_takes_its_place(site: Path) -> None:
    old = open_site(site)
    (site / "returns.md").unlink()
    new = open_site(site)
    assert found(old, "refund") == ["/returns#refund"]
    assert found(new, "refund") == []


def test_an_empty_folder_is_a_library_without_passages(tmp_path: Path) -> None:
    put(tmp_path / "site")
    library = open_site(tmp_path / "site")
    assert library.documents == ()
    assert library.search("anything") == []


def test_of_passages_that_say_the_same_one_is_shown(site: Path) -> None:
    boilerplate = "Our tents are sewn with love in Bend and tested in the rain on our own hill."
    put(site, a=f"# A\n\n{boilerplate}\n", b=f"# B\n\n{boilerplate}\n")
    urls = found(open_site(site), "sewn with love in Bend")
    assert len([url for url in urls if url[:2] in {"/a", "/b"}]) == 1


def test_passages_that_differ_in_a_figure_are_both_shown(site: Path) -> None:
    text = "The {} is sewn with love in Bend and weighs {} grams with all its many pegs and poles."
    put(site, a="# A\n\n" + text.format("tent", 1200), b="# B\n\n" + text.format("tent", 1300))
    assert {"/a#a", "/b#b"} <= set(found(open_site(site), "sewn with love in Bend"))
