"""Which type of an answer is given: AHP 0.1, section 6.6, rules 1 to 5."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.history.offer import negotiate
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import UnsupportedType

TEXT = "text/answer"
TYPES = (TEXT, "application/feed", "media/video", "file/download", "x-acme/recipe")
some_types = st.lists(st.sampled_from(TYPES), unique=True)


@pytest.mark.requirement("AHP-6.6-3", "AHP-6.6-4", "AHP-6.6-5", "AHP-6.6-11")
@given(
    accepts=st.none() | st.lists(st.sampled_from(TYPES)),
    declared=some_types.filter(bool),
    fitting=st.sets(st.sampled_from(TYPES)),
    falls_back=st.booleans(),
)
def test_the_first_accepted_type_that_is_declared_and_fits_is_given_else_text_else_nothing(
    accepts: list[str] | None, declared: list[str], fitting: set[str], falls_back: bool
) -> None:
    action = Action("find", "Finds.", answer_types=tuple(declared), accept_fallback=falls_back)
    asked: list[str] = []

    def fits(kind: str) -> bool:
        asked.append(kind)
        return kind == TEXT or kind in fitting

    shared = [kind for kind in ([TEXT] if accepts is None else accepts) if kind in declared]
    possible = [kind for kind in shared if kind == TEXT or kind in fitting]
    if not possible and not falls_back:
        with pytest.raises(UnsupportedType) as refused:
            negotiate(accepts, action, fits)
        assert refused.value.available
        assert set(refused.value.available) <= set(declared)
        if not shared:
            assert refused.value.available == tuple(declared)
        return
    chosen, fallback_from = negotiate(accepts, action, fits)
    assert chosen == (possible[0] if possible else TEXT)
    richer = declared[0] if declared[0] != TEXT and declared[0] in fitting else None
    assert fallback_from == (richer if chosen == TEXT else None)
    assert set(asked) <= set(declared)


def test_a_declared_type_that_nothing_fits_is_answered_with_what_else_there_is() -> None:
    action = Action("find", "Finds.", answer_types=(TEXT, "media/video", "application/feed"))
    with pytest.raises(UnsupportedType) as refused:
        negotiate(["media/video"], action, lambda kind: kind != "media/video")
    assert refused.value.available == (TEXT, "application/feed")
    assert "has no answer of the accepted types" in refused.value.message
