"""The questions of strangers are of the kinds, the number and the form that they have to be."""

import re
from collections import Counter
from pathlib import Path
from typing import get_args

from tests.answers.strangers.__main__ import table_of_looks
from tests.answers.strangers.bodies import bodies
from tests.answers.strangers.hidden import near_misses_of
from tests.answers.strangers.questions import Kind, normal, questions_of


def test_the_bodies_are_of_many_kinds_and_half_of_them_unseen() -> None:
    known = {name: body for name, body in bodies().items() if not body.practice}
    unseen = [body for body in known.values() if body.unseen]
    assert len(known) >= 10
    assert len(known) - len(unseen) - len(unseen) <= 1
    assert {"de", "ja"} <= {body.language for body in known.values()}
    assert len({body.kind for body in known.values()}) == len(known)


def test_there_are_four_hundred_questions_of_all_kinds() -> None:
    counted = [name for name, body in bodies().items() if not body.practice]
    asked = [question for name in counted for question in questions_of(name)]
    assert len(asked) >= 400
    assert set(Counter(question.kind for question in asked)) == set(get_args(Kind))
    assert len({question.id for question in asked}) == len(asked)


def test_every_question_says_what_answers_it_and_gives_nothing_away() -> None:
    for name in bodies():
        for question in questions_of(name):
            patterns = [*question.facts, *(fact for facts in question.readings for fact in facts)]
            assert bool(patterns) == bool(question.sections) == question.is_answerable, question.id
            assert bool(question.readings) == (question.kind == "ambiguous"), question.id
            assert bool(question.first) == (question.kind == "followup"), question.id
            for pattern in patterns:
                assert not re.search(pattern, normal(question.question), re.IGNORECASE), question.id


def test_near_misses_are_of_bodies_that_may_be_read() -> None:
    for name, body in bodies().items():
        asked = [question.question for question in near_misses_of(name)]
        assert not (body.unseen and asked)
        assert len(set(asked)) == len(asked)
        assert body.unseen or len(asked) >= 24, name


def test_the_documentation_gives_the_figures_of_the_last_look() -> None:
    page = (Path(__file__).parents[3] / "docs/run/content.md").read_text("utf-8")
    written = page.partition("<!-- unseen -->\n")[2].partition("\n<!-- end of unseen -->")[0]
    assert written == table_of_looks(), "python -m tests.answers.strangers --table prints it"
