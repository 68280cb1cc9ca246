"""Which face of an answer an Accept header asks for."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aitp_desk.protocols.hac import MEDIA_TYPE, Face, content_type, negotiate

HAC = MEDIA_TYPE
JSON = "application/json"
PROFILE = "https://api.example.com/hac-profile/v2"

types = st.sampled_from(
    [HAC, HAC.upper(), JSON, "text/html", "*/*", "application/*", "text/*", "a", "", "/"]
)
parameters = st.sampled_from(
    ["", ";q=0", ";q=1", ";q=0.5", ";q=2", ";q=x", '; version="1.0"', ";version=2", ";q", ";"]
)
accepts = st.lists(st.builds(str.__add__, types, parameters)).map(",".join) | st.text(
    alphabet='aAcChH*/,;=q"\\ .01'
)


def test_who_names_it_and_wants_it_most_is_given_it(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        HAC,
        "Application/VND.Hac+JSON",
        f"{HAC}, {JSON};q=0.9",
        f"{JSON}, {HAC}",
        f"{HAC};q=0.5, {JSON};q=0.5",
        f"{HAC};q=0.1, text/html",
        f"{HAC};q=0.2, */*;q=0.1",
        f'text/plain;note="a, b";q=0.1, {HAC}',
        f"{HAC};version=1.0",
        f'{HAC}; version="1.0"; q=0.3',
        f"{HAC};version=1",
        f"{HAC};charset=utf-8",
        f"{HAC};q=0, {HAC};version=1.0",
        f", ,{HAC},",
    ]
    for accept in cases:
        with subtests.test(accept=accept):
            assert negotiate(accept) is Face.HAC


def test_a_request_without_it_is_answered_plainly(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        "",
        "*/*",
        "application/*",
        JSON,
        "text/html",
        f"{HAC};q=0",
        f"{HAC};q=0, {JSON}",
        f"{HAC};q=0.5, {JSON}",
        f"{HAC};q=0.5, */*",
        f"{HAC};q=0.9, application/*",
        f"{HAC};version=2, {JSON};q=0.1",
        f"{HAC};profile=unknown, */*;q=0.1",
        f"{HAC}, {HAC};version=1.0;q=0, {JSON};q=0.1",
        f'text/plain;note="{HAC}"',
        "application/vnd.hac",
        f"{HAC};q=much",
        f"{HAC};q=-1",
        f"{HAC};q=nan",
    ]
    for accept in cases:
        with subtests.test(accept=accept):
            assert negotiate(accept) is Face.PLAIN


@pytest.mark.requirement("HAC-2.3-4", "HAC-10.1-1")
@pytest.mark.parametrize(
    "accept",
    [
        f"{HAC};version=2",
        f"{HAC};version=2, {JSON};q=0",
        f"{HAC};profile=unknown",
        f"{HAC};version=2, text/html",
        f"{HAC};version=1.0;profile=x",
    ],
)
def test_who_takes_only_another_form_of_it_can_be_given_nothing(accept: str) -> None:
    assert negotiate(accept) is Face.NOT_ACCEPTABLE


@pytest.mark.requirement("HAC-2.3-4", "HAC-2.3-5")
@pytest.mark.parametrize(
    ("accept", "face"),
    [
        (HAC, Face.NOT_ACCEPTABLE),
        (f"{HAC}, {JSON};q=0.1", Face.PLAIN),
        (f"{HAC}, */*;q=0.1", Face.PLAIN),
        (f"{HAC}, text/html", Face.NOT_ACCEPTABLE),
        (f"{HAC};q=0", Face.PLAIN),
        ("text/html", Face.PLAIN),
        ("", Face.PLAIN),
    ],
)
def test_a_resource_without_it_gives_what_else_is_taken(accept: str, face: Face) -> None:
    assert negotiate(accept, is_served=False) is face


def test_where_nobody_knows_what_there_is_instead_anything_else_will_do() -> None:
    assert negotiate(f"{HAC}, text/html", is_served=False, plain=None) is Face.PLAIN
    assert negotiate(f"{HAC}, text/html;q=0", is_served=False, plain=None) is Face.NOT_ACCEPTABLE
    assert negotiate(HAC, is_served=False, plain=None) is Face.NOT_ACCEPTABLE
    assert negotiate(f"{HAC}, text/html;q=0.5", plain=("text/html",)) is Face.HAC


@pytest.mark.requirement("HAC-8.3-1")
def test_a_profile_is_served_to_who_names_it_and_to_who_names_none() -> None:
    assert content_type(PROFILE) == f'{HAC}; profile="{PROFILE}"'
    assert negotiate(f'{HAC}; profile="{PROFILE}"', profile=PROFILE) is Face.HAC
    assert negotiate(HAC, profile=PROFILE) is Face.HAC
    assert negotiate(f'{HAC}; profile="{PROFILE}/3"', profile=PROFILE) is Face.NOT_ACCEPTABLE
    assert negotiate(f'{HAC}; profile="{PROFILE.upper()}", {JSON}', profile=PROFILE) is Face.PLAIN


@given(accept=accepts, is_served=st.booleans())
@example(accept='application/vnd.hac+json;profile="x, application/json', is_served=True)
@example(accept='"\\', is_served=True)
def test_no_header_fails_and_none_that_does_not_name_it_gives_it(
    accept: str, is_served: bool
) -> None:
    face = negotiate(accept, is_served=is_served)
    if HAC not in accept.lower():
        assert face is Face.PLAIN
    if not is_served:
        assert face is not Face.HAC


@given(accept=accepts.filter(lambda text: HAC not in text.lower() and '"' not in text))
def test_naming_it_without_a_weight_gives_it_whatever_else_is_taken(accept: str) -> None:
    assert negotiate(f"{accept},{HAC}") is Face.HAC
    assert negotiate(f"{HAC},{accept}") is Face.HAC


@given(
    mine=st.integers(min_value=0, max_value=1000), other=st.integers(min_value=0, max_value=1000)
)
def test_the_weights_decide_and_equal_waits_are_given(mine: int, other: int) -> None:
    accept = f"{JSON};q={other / 1000:.3f}, {HAC};q={mine / 1000:.3f}"
    assert negotiate(accept) is (Face.HAC if mine and mine >= other else Face.PLAIN)
