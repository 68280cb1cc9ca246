"""An answer stays within its length while it streams, and its sign of not finding is not shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.generative.guard import OutputGuard
from aitp_desk.agent.generative.output import AnswerOutput
from aitp_desk.agent.generative.prompt import NOT_FOUND, rules_text


def read(pieces: list[str], longest: int | None) -> tuple[AnswerOutput, str]:
    words = AnswerOutput(OutputGuard("https://shop.example", rules_text()), longest)
    given = "".join(words.feed(piece) for piece in pieces)
    return words, given + words.close()


PLAIN = st.text("abc de.", max_size=12)


@given(st.lists(PLAIN, max_size=10), st.integers(1, 40))
def test_what_is_shown_is_the_beginning_and_is_never_longer(
    pieces: list[str], longest: int
) -> None:
    words, given = read(pieces, longest)
    whole = "".join(pieces).lstrip()
    assert words.shown == given
    assert given == (whole if len(whole) <= longest else whole[: longest - 1] + "…")


@given(st.lists(PLAIN, max_size=6))
def test_the_sign_of_not_finding_is_seen_wherever_the_text_is_divided(pieces: list[str]) -> None:
    words, given = read([" ", NOT_FOUND, *pieces], None)
    assert not words.found
    assert given == "".join(pieces).lstrip(" .")


def test_the_sign_within_the_words_means_nothing() -> None:
    words, given = read(["A set can be ", NOT_FOUND], None)
    assert words.found
    assert given.endswith(NOT_FOUND)
