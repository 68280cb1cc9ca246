"""Spelling correction against the content's own words."""

import pytest

from aitp_desk.knowledge.search.spelling import LONG, Spelling, edit_distance

CONTENT = (
    "return returns policy overnight shipping washing machine expire gift cards card opening hours "
    "portland radius manifest required field fields create thread endpoint error retryable "
    "nightfall json boots"
).split()


@pytest.fixture(scope="module")
def spelling() -> Spelling:
    return Spelling(dict.fromkeys(CONTENT, 3) | {"many": 50, "money": 3, "the": 50})


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("retrun", "return"),
        ("polcy", "policy"),
        ("overnigth", "overnight"),
        ("shiping", "shipping"),
        ("machien", "machine"),
        ("huors", "hours"),
        ("portlnad", "portland"),
        ("nitfall", "nightfall"),
        ("menny", "many"),
        ("teh", "the"),
        ("jon", "json"),
    ],
)
def test_a_slip_is_put_right(spelling: Spelling, typed: str, meant: str) -> None:
    assert spelling.correct(typed) == meant


@pytest.mark.parametrize("word", [word for word in CONTENT if len(word) > 4])
def test_whichever_letter_is_wrong_missing_or_swapped_a_word_so_near_is_found(
    spelling: Spelling, word: str
) -> None:
    begins = 0 if len(word) >= LONG + 1 else 1
    for at in range(begins, len(word) - 1):
        before, after = word[:at], word[at + 1 :]
        for typed in (
            f"{before}z{after}",
            before + after,
            before + after[0] + word[at] + after[1:],
        ):
            found = spelling.correct(typed)
            assert found is not None, typed
            assert edit_distance(typed, found, 2) <= 1, (typed, found)


@pytest.mark.parametrize("typed", ["kayak", "wheelchair", "mode2", "xy", "größe", "gps"])
def test_another_word_is_left_alone(spelling: Spelling, typed: str) -> None:
    assert spelling.correct(typed) is None


def test_two_words_written_as_one_are_parted(spelling: Spelling) -> None:
    assert spelling.split("giftcards") == ("gift", "cards")
    assert spelling.split("kayaks") is None


@pytest.mark.parametrize(
    ("left", "right", "slips"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xyz", 3), ("ca", "abc", 3)],
)
def test_slips_are_counted_up_to_the_limit(left: str, right: str, slips: int) -> None:
    assert edit_distance(left, right, 5) == slips
    assert edit_distance(left, right, 1) == min(slips, 2)


def test_of_words_used_equally_the_same_one_is_taken_in_any_order() -> None:
    alike = {"space": 3, "spice": 3, "spacey": 3}
    backwards = dict(reversed(alike.items()))

    taken = {Spelling(words).correct("spuhce") for words in (alike, backwards)}

    assert len(taken) == 1
    assert taken != {None}
