"""The gates that the answers are held to, over every labelled question, tuned on and unseen."""

import asyncio

import pytest

from aitp_desk.agent.base import Answer
from tests.answers.judge import Verdict, available, figures_of, holds, judge, main

AT_LEAST = {
    "fact": 0.65,
    "section": 0.75,
    "unanswerable_refused": 0.65,
    "ambiguous_asked": 0.67,
    "typo_fact": 0.60,
    "followup_fact": 0.75,
}
AT_MOST = {"answerable_refused": 0.10, "others_asked": 0.05, "median_characters": 350}


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    """Every question answered once: the shop's, and the specifications' where they are at hand."""
    return [verdict for corpus in available() for verdict in asyncio.run(judge(corpus, "all"))]


def slack(verdicts: list[Verdict], gate: str) -> float:
    """What one question is worth where the specifications are not at hand.

    The gates are set for both corpora. The shop has 18 unanswerable questions: one more or less
    moves their share by 0.06.
    """
    if len(available()) > 1:
        return 0.0
    kind = {"unanswerable_refused": "unanswerable", "ambiguous_asked": "ambiguous"}.get(gate)
    chosen = [v for v in verdicts if kind in {None, v.question.kind}]
    return 1 / len(chosen)


@pytest.mark.parametrize("gate", AT_LEAST)
def test_the_answers_are_at_least_this_good(verdicts: list[Verdict], gate: str) -> None:
    reached = getattr(figures_of(verdicts), gate)
    assert reached >= AT_LEAST[gate] - slack(verdicts, gate)


@pytest.mark.parametrize("gate", AT_MOST)
def test_the_answers_are_at_most_this_bad(verdicts: list[Verdict], gate: str) -> None:
    reached = getattr(figures_of(verdicts), gate)
    assert reached <= AT_MOST[gate] + slack(verdicts, gate)


def test_every_answer_has_sources_and_every_refusal_has_none(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        if isinstance(verdict.outcome, Answer):
            assert bool(verdict.outcome.sources) == verdict.outcome.found


def test_nobody_is_shown_an_unseen_question(
    verdicts: list[Verdict], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["judge", "--split", "all", "--show", "all"])
    main()
    shown = capsys.readouterr().out
    assert "shop, unseen" in shown
    for verdict in verdicts:
        is_shown = f" {verdict.question.id}:" in shown
        assert is_shown == (verdict.question.split == "tune")


@pytest.mark.parametrize(
    ("text", "fact", "held"),
    [
        ("It costs $6.", "$6", True),
        ("It costs $64.", "$6", False),
        ("It costs $6.95.", "$6", False),
        ("Open 10 a.m.–7 p.m.", "10 a.m.-7 p.m.", True),
        ("Use `x-` or | y |", ["z", "x-"], True),
        ("within 160 days", "60 days", False),
    ],
)
def test_a_fact_is_held_whole_or_not_at_all(text: str, fact: str | list[str], held: bool) -> None:
    assert holds(text, fact) is held
