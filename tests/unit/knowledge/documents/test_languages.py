"""Which files are versions of a page in another language, and which of them a visitor gets."""

from __future__ import annotations

import pytest

from aitp_desk.knowledge.documents.languages import Languages, find_versions, look_up, spell_tag

ENGLISH = Languages()
NAMED = Languages("en", ("fr", "min"))


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("fr", "fr"),
        ("FR", "fr"),
        ("fr-ca", "fr-CA"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("gsw", "gsw"),
        ("v1", None),
        ("2", None),
        ("min1", None),
        ("fr_CA", None),
        ("english", None),
        ("fr-", None),
    ],
)
def test_a_tag_has_one_spelling(text: str, tag: str | None) -> None:
    assert spell_tag(text) == tag


@pytest.mark.parametrize(
    ("source", "page", "language"),
    [
        ("returns.fr.md", "returns", "fr"),
        ("returns.FR-ca.md", "returns", "fr-CA"),
        ("returns.de.txt", "returns", "de"),
        ("guides/index.fr.html", "guides", "fr"),
        ("returns.en.md", "returns", "en"),
    ],
)
def test_a_file_next_to_its_page_is_a_version_where_its_ending_is_a_language(
    source: str, page: str, language: str
) -> None:
    found = find_versions(["returns.md", "guides/index.md", source], ENGLISH)
    assert list(found) == [source]
    assert (found[source].page, found[source].language) == (page, language)


@pytest.mark.parametrize(
    "source",
    [
        "jquery.min.md",
        "readme.old.md",
        "v1.2.md",
        "readme.v1.2.md",
        "readme.js.md",
        "readme.md",
        "alone.fr.md",
        "fr/readme.md",
        "readme.fr.notes.md",
        ".fr.md",
        "https://www.example.com/readme.fr",
        "https://www.example.com/fr/readme",
    ],
)
def test_other_names_with_dots_are_pages_of_their_own(source: str) -> None:
    sources = ["readme.md", "jquery.md", "v1.md", "https://www.example.com/readme", source]
    assert find_versions(sources, ENGLISH) == {}


@pytest.mark.parametrize(
    ("source", "page", "language"),
    [
        ("alone.fr.md", "alone", "fr"),
        ("alone.fr-CA.md", "alone", "fr-CA"),
        ("jquery.min.md", "jquery", "min"),
        ("fr/returns.md", "returns", "fr"),
        ("fr/index.md", "index", "fr"),
        ("FR/guides/index.md", "guides", "fr"),
        ("https://www.example.com/fr/returns", "https://www.example.com/returns", "fr"),
    ],
)
def test_what_the_owner_names_is_a_language_wherever_it_stands(
    source: str, page: str, language: str
) -> None:
    found = find_versions([source, "jquery.old.md", "it/returns.md"], NAMED)
    assert list(found) == [source]
    assert (found[source].page, found[source].language) == (page, language)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("fr", "fr"),
        ("fr-CA", "fr-CA"),
        ("fr-ca-x-twain", "fr-CA"),
        ("fr-CH-1996", "fr"),
        ("en", "en-GB"),
        ("en-US", "en-GB"),
        ("pt", "pt-BR"),
        ("pt-PT", "pt-BR"),
        ("zh-Hant-TW", "zh-Hans"),
        ("it", None),
        ("f", None),
        ("fro", None),
    ],
)
def test_a_visitor_gets_the_nearest_form_of_the_language(wanted: str, found: str | None) -> None:
    available = ["fr", "fr-CA", "en-AU", "en-GB", "pt-BR", "zh-Hans"]
    assert look_up(wanted, available, "en-GB") == found


@pytest.mark.parametrize("order", [1, -1])
def test_whatever_has_the_address_of_a_version_is_that_version(order: int) -> None:
    sources = ["returns.md", "returns.fr.md", "returns.fr/index.md"][::order]
    found = find_versions(sources, ENGLISH)
    assert {source: version.language for source, version in found.items()} == {
        "returns.fr.md": "fr",
        "returns.fr/index.md": "fr",
    }


@pytest.mark.parametrize("wanted", ["nb", "nb-NO", "nn", "no"])
def test_both_ways_to_write_norwegian_are_norwegian(wanted: str) -> None:
    assert look_up(wanted, ["en", "no"], "en") == "no"
