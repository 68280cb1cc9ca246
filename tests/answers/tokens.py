"""Prints the tables of docs/contribute/answers.md: what a model is sent, and what of it answers.

    python -m tests.answers.tokens [--show] [--write]

``--show`` prints the tuning questions whose fact is not in the prompt, ``--write`` puts the tables
into the page.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from aitp_desk.knowledge.library import Library
from tests.answers.judge import ROOT, SHARED, available, corpus_of
from tests.answers.prompts import (
    OURS,
    SPECIFICATION,
    WAYS,
    Prompt,
    five_by_bm25,
    instructions_tokens,
    labels,
    needed_tokens,
    prompts_of,
    sent,
    serve,
    specification,
    tokens_in,
)

PAGE = ROOT / "docs/contribute/answers.md"
BEGIN = "<!-- tokens: written by `python -m tests.answers.tokens --write` -->"
END = "<!-- end of tokens -->"

MOST_PASSAGE_TOKENS = 400
LEAST_FACTS, MOST_PROMPT_TOKENS = 0.85, 1000


def everywhere() -> dict[str, list[Prompt]]:
    """The prompts for every labelled question of the corpora that are at hand, each way."""
    made: dict[str, list[Prompt]] = {name: [] for name in WAYS}
    for corpus in available():
        for name, prompts in asyncio.run(prompts_of(corpus)).items():
            made[name] += prompts
    return made


def answerable(made: Iterable[Prompt]) -> list[Prompt]:
    """The prompts for questions that the content answers."""
    return [prompt for prompt in made if prompt.question.is_answerable]


def fact_share(made: Sequence[Prompt]) -> float:
    """How many of the prompts hold the labelled fact, 0 to 1."""
    return sum(prompt.holds_fact for prompt in made) / len(made)


def mean_tokens(made: Sequence[Prompt]) -> float:
    """How long the prompts are, in tokens."""
    return statistics.mean(prompt.tokens for prompt in made)


def five_table(library: Library, shared: Path) -> str:
    """The five questions, one a row, each way."""
    whole = tokens_in((shared / SPECIFICATION).read_text("utf-8"))
    alone = [needed_tokens(label, library) for label in labels()]
    ours = [serve(label, library, sent) for label in labels()]
    theirs = [serve(label, library, five_by_bm25) for label in labels()]
    lines = [
        (
            "| | passages sent | their text | with titles | there "
            "| BM25, five | there | needed alone | whole document |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for label, needed, our, their in zip(labels(), alone, ours, theirs, strict=True):
        lines.append(
            f"| {label.question} | {our.excerpts} | {our.text_tokens} | {our.tokens} "
            f"| {_yes(our.complete)} | {their.tokens:,} | {_yes(their.complete)} "
            f"| {needed} | {whole:,} |"
        )
    lines.append(
        f"| **mean** | {_mean(our.excerpts for our in ours):.1f} "
        f"| {_mean(our.text_tokens for our in ours):.0f} "
        f"| **{_mean(our.tokens for our in ours):.0f}** "
        f"| **{sum(our.complete for our in ours)} of {len(ours)}** "
        f"| {_mean(their.tokens for their in theirs):.0f} "
        f"| {sum(their.complete for their in theirs)} of {len(theirs)} "
        f"| {_mean(alone):.0f} | {whole:,} |"
    )
    others = [serve(words, library, sent) for label in labels() for words in label.in_other_words()]
    there = sum(other.complete for other in others)
    lines += [
        "",
        (
            f"In {len(others)} other wordings of the five all of that is there {there} times, at "
            f"{_mean(other.tokens for other in others):.0f} tokens on average."
        ),
    ]
    return "\n".join(lines)


def labelled_table(made: dict[str, list[Prompt]]) -> str:
    """The labelled questions: facts and tokens, each way and of each kind."""
    lines = [
        "| in the prompt | fact there: all | tuned on | unseen | tokens: mean | longest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, prompts_made in made.items():
        chosen = answerable(prompts_made)
        parts = [
            [prompt for prompt in chosen if prompt.question.split in split]
            for split in ({"tune", "unseen"}, {"tune"}, {"unseen"})
        ]
        shares = " | ".join(f"{fact_share(part):.2f}" for part in parts)
        longest = max(prompt.tokens for prompt in chosen)
        lines.append(f"| {name} | {shares} | {mean_tokens(chosen):,.0f} | {longest:,} |")
    instructions = instructions_tokens(corpus_of("shop")[2])
    lines += ["", f"Of each prompt {instructions} tokens are the instructions and the tools."]
    lines += ["", "| kind | questions | fact there | tokens: mean | passages: mean |"]
    lines.append("| --- | --- | --- | --- | --- |")
    ours = made[OURS]
    for kind in dict.fromkeys(prompt.question.kind for prompt in ours):
        part = [prompt for prompt in ours if prompt.question.kind == kind]
        share = f"{fact_share(part):.2f}" if part[0].question.is_answerable else ""
        lines.append(
            f"| {kind} | {len(part)} | {share} | {mean_tokens(part):.0f} | "
            f"{_mean(prompt.excerpts for prompt in part):.1f} |"
        )
    return "\n".join(lines)


def with_tables(page: str, five: str, labelled: str) -> str:
    """The page with these tables between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{five}\n\n{labelled}\n\n{END}{after}"


def _mean(values: Iterable[float]) -> float:
    return statistics.mean(values)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what is missed")
    parser.add_argument("--write", action="store_true", help="write the tables into the page")
    asked = parser.parse_args()
    if SHARED is None:
        parser.error("The specifications are outside: set AITP_DESK_SHARED.")
    made = everywhere()
    tables = five_table(specification(SHARED), SHARED), labelled_table(made)
    print("\n\n".join(tables))
    if asked.show:
        for prompt in answerable(made[OURS]):
            if prompt.question.split == "tune" and not prompt.holds_fact:
                print(f"\n{prompt.question.id}: {prompt.question.question}")
                print(f"    wanted {prompt.question.facts} in {prompt.question.sections}")
    if asked.write:
        PAGE.write_text(with_tables(PAGE.read_text("utf-8"), *tables), "utf-8")


if __name__ == "__main__":
    main()
