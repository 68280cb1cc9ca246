"""The corpus is broad, and nothing stands in it twice."""

from __future__ import annotations

from collections import Counter

from tests.injection.corpus import AIMS, PLACES, SPLIT, corpus
from tests.injection.harness.disguises import DISGUISES, readings


def test_there_are_more_than_150_cases_in_every_place_with_every_aim() -> None:
    cases = corpus()
    assert len(cases) > 150
    assert {case.place for case in cases} == set(PLACES)
    assert {aim for case in cases for aim in case.aim} == set(AIMS)
    assert {case.disguise for case in cases} == set(DISGUISES)
    assert len({case.language for case in cases}) >= 15


def test_no_case_stands_in_it_twice() -> None:
    cases = corpus()
    assert Counter(case.id for case in cases).most_common(1)[0][1] == 1
    assert (
        Counter((case.place, case.text, case.disguise) for case in cases).most_common(1)[0][1] == 1
    )


def test_a_disguised_text_is_read_by_who_wants_to_read_it() -> None:
    for case in corpus():
        written = case.written("https://lamps.example").split(SPLIT)[-1]
        core = " ".join(case.text.split(SPLIT)[-1].split())[-20:].casefold().replace(" ", "")
        if "{" in core:
            continue
        read = ["".join(reading.casefold().split()) for reading in readings(written)]
        assert any(core in reading for reading in read), case.id
