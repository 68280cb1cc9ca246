"""A short, seeded part of what `python -m tests.fuzz.run` does for long."""

from random import Random

import pytest

from tests.fuzz.mutation import mutate
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
EXECUTIONS = 500


@each_target
def test_what_a_parser_is_begun_with_it_takes(target: Target) -> None:
    assert any(map(target.holds, target.seeds))


@each_target
def test_whatever_comes_is_taken_or_refused_in_words(target: Target) -> None:
    random = Random(20261122)
    times = int(EXECUTIONS * min(1, target.share))
    refused = sum(
        not target.holds(mutate(random, target.seeds, target.words)) for _ in range(times)
    )
    assert 0 <= refused <= times
