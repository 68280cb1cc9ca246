"""Answers over sites that nobody here wrote, asked as first-time visitors would.

    python -m tests.answers.strangers [--practice] [--body NAME ...] [--show missed|all|KIND]
    python -m tests.answers.strangers --hidden [--practice] [--body NAME ...]
    python -m tests.answers.strangers --unseen
    python -m tests.answers.strangers --table

The first form judges the bodies that may be read, or those to learn from. The second asks their
questions of each body without the sections that answer, and near misses, and prints how many are
refused. The third asks the unseen bodies and prints their totals alone; it may be used once a day,
and each look is recorded in ``looks.toml``. The fourth prints the table of
``docs/run/content.md`` from the last look. The packages are fetched with apt-get, npm and pip at
the first use.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.agent.base import SiteFacts
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.semantics.builder import build_vectors
from aitp_desk.knowledge.semantics.onnx import OnnxEmbedder
from aitp_desk.knowledge.snapshot import Knowledge, open_knowledge
from tests.answers.strangers.bodies import CACHE, HERE, Body, bodies, content_of
from tests.answers.strangers.enrichment import is_kept, lay
from tests.answers.strangers.hidden import hidden, hiding_places, near_misses_of, refusals_of
from tests.answers.strangers.questions import Question, Verdict, ask, figures_of, questions_of

LEVELS = {
    "words": "0 words",
    "meaning": "1 with `semantic`",
    "enriched": "2 enriched",
    "both": "2 enriched, with `semantic`",
}
"""What is there, and what the documentation calls it."""
LOOKS = HERE / "looks.toml"
_EMBEDDER = OnnxEmbedder()
_VECTORS = "vectors.sqlite"
COLUMNS = {
    "questions": "questions",
    "right": "right",
    "usable": "usable",
    "right_first": "right section first",
    "asked_needlessly": "asked needlessly",
    "refused_wrongly": "refused wrongly",
    "unanswerable_refused": "unanswerable refused",
    "in_prompt": "fact in prompt",
}


@asynccontextmanager
async def opened(
    name: str, body: Body, level: str
) -> AsyncIterator[tuple[ExtractiveAgent, Library]]:
    """An agent of a body at a level, and what it answers from."""
    languages = Languages(own=body.language)
    async with AsyncExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder, data = scratch / "site", scratch / "data"
        shutil.copytree(content_of(name, body), folder)
        if level in {"enriched", "both"}:
            async with open_knowledge(folder, data=data, languages=languages) as knowledge:
                lay(name, knowledge.editions.library.passages, folder)
        knowledge = await stack.enter_async_context(
            open_knowledge(folder, data=data, languages=languages)
        )
        await embed(knowledge, level, stack, content_of(name, body).parent / _VECTORS)
        yield ExtractiveAgent(knowledge), knowledge.editions.library


async def embed(
    knowledge: Knowledge, level: str, stack: AsyncExitStack, kept: Path = CACHE / _VECTORS
) -> None:
    """Embed the passages where the level has vectors, which are kept in a file."""
    if level in {"meaning", "both"}:
        vectors = build_vectors(knowledge, _EMBEDDER, kept)
        progress = await stack.enter_async_context(vectors)
        await progress.settled.wait()


async def judge(name: str, body: Body, level: str) -> list[Verdict]:
    """Ask all questions about a body at a level; none where nobody has enriched the body."""
    if level in {"enriched", "both"} and not is_kept(name):
        return []
    async with opened(name, body, level) as (agent, library):
        return await _ask_all(agent, library, name, questions_of(name))


async def judge_hidden(name: str, body: Body, level: str) -> tuple[list[Verdict], list[Verdict]]:
    """Ask each question of a body without what answers it, and the near misses of all of it."""
    if level in {"enriched", "both"} and not is_kept(name):
        return [], []
    verdicts: list[Verdict] = []
    async with opened(name, body, level) as (agent, library):
        near_misses = await _ask_all(agent, library, name, near_misses_of(name))
        places = list(hiding_places(questions_of(name), library.passages))
    for question, texts in places:
        with hidden(texts):
            async with opened(name, body, level) as (agent, library):
                verdicts += await _ask_all(agent, library, name, [question])
    return verdicts, near_misses


async def _ask_all(
    agent: ExtractiveAgent, library: Library, name: str, questions: Iterable[Question]
) -> list[Verdict]:
    site = SiteFacts(name, "https://stranger.example")
    return [await ask(agent, library, site, question) for question in questions]


def table(rows: Iterable[tuple[str, Sequence[Verdict]]]) -> str:
    """The figures of each row, as Markdown."""
    lines = [f"| | {' | '.join(COLUMNS.values())} |", "| --- " * (len(COLUMNS) + 1) + "|"]
    for title, verdicts in rows:
        figures = msgspec.structs.asdict(figures_of(verdicts))
        cells = [_cell(figures[column]) for column in COLUMNS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_looks() -> str:
    """The figures of the unseen bodies at the last look, as Markdown."""
    looks = _looks()
    last = [look for look in looks if look["day"] == looks[-1]["day"]]
    lines = ["| | " + " | ".join(LEVELS.values()) + " |", "| --- " * (len(LEVELS) + 1) + "|"]
    for name, title in COLUMNS.items():
        if name != "questions":
            cells = [
                _cell(look[name]) for level in LEVELS for look in last if look["level"] == level
            ]
            lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_refusals(rows: Iterable[tuple[str, Sequence[Verdict]]]) -> str:
    """How many of some questions that nothing answers are refused, as Markdown."""
    lines = ["| | questions | refused | with a near answer |", "| --- | --- | --- | --- |"]
    for title, verdicts in rows:
        counted = refusals_of(verdicts)
        if counted is not None:
            cells = [_cell(value) for value in msgspec.structs.astuple(counted)]
            lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _looks() -> list[dict[str, Any]]:
    looks: list[dict[str, Any]] = tomllib.loads(LOOKS.read_text("utf-8"))["look"]
    return looks


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _show(verdicts: Iterable[Verdict], wanted: str) -> None:
    for verdict in verdicts:
        question = verdict.question
        good = verdict.is_right if question.is_answerable else verdict.refused
        if (wanted == "missed" and good) or wanted not in {"missed", "all", question.kind}:
            continue
        state = "ASKED" if verdict.asked_back else "REFUSED" if verdict.refused else "SAID"
        print(f"\n{'ok  ' if good else 'MISS'} {question.id} [{question.kind}] {question.first}")
        print(f"  Q {question.question}")
        print(f"  wanted {question.facts or question.readings} in {question.sections}")
        print(f"  first section right: {verdict.right_first}, in prompt: {verdict.in_prompt}")
        print(f"  {state} {verdict.text!r}\n  choices {verdict.choices}")


def _print_refusals(chosen: Mapping[str, Body], levels: Iterable[str]) -> None:
    for level in levels:
        each = {name: asyncio.run(judge_hidden(name, body, level)) for name, body in chosen.items()}
        hides = [verdict for verdicts, _ in each.values() for verdict in verdicts]
        nears = [verdict for _, verdicts in each.values() for verdict in verdicts]
        rows = [(f"{name}, hidden", verdicts) for name, (verdicts, _) in each.items()]
        rows += [(f"{name}, near misses", verdicts) for name, (_, verdicts) in each.items()]
        print(f"\n{level}\n")
        print(table_of_refusals([*rows, ("all hidden", hides), ("all near misses", nears)]))


def _end_if_looked_today() -> None:
    """End where the unseen bodies were looked at today."""
    if any(look["day"] == _today() for look in _looks()):
        sys.exit("The unseen bodies were looked at today; once a day is enough.")


def _record(level: str, verdicts: Sequence[Verdict]) -> None:
    """Record a look at the unseen bodies."""
    figures = msgspec.structs.asdict(figures_of(verdicts))
    lines = [f"{name} = {_cell(value)}" for name, value in figures.items()]
    with LOOKS.open("a", encoding="utf-8") as file:
        head = ["\n[[look]]", f'day = "{_today()}"', f'level = "{level}"']
        file.write("\n".join([*head, *lines, ""]))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--body", action="append", help="one of the bodies that may be read")
    parser.add_argument("--show", metavar="WHAT", help="print questions: missed, all or a kind")
    parser.add_argument("--practice", action="store_true", help="the bodies to learn from")
    parser.add_argument("--hidden", action="store_true", help="without the sections that answer")
    parser.add_argument("--unseen", action="store_true", help="totals of the unseen bodies")
    parser.add_argument("--table", action="store_true", help="the table of docs/run/content.md")
    parser.add_argument("--level", choices=LEVELS, action="append", help="all where none is named")
    wanted = parser.parse_args()
    if wanted.table:
        print(table_of_looks())
        return
    chosen = {name: body for name, body in bodies().items() if body.unseen is wanted.unseen}
    named = set(
        wanted.body or [name for name in chosen if chosen[name].practice is wanted.practice]
    )
    if wanted.unseen and (wanted.show or wanted.body or wanted.practice or wanted.hidden):
        parser.error("Of the unseen bodies only totals are printed.")
    if unknown := sorted(named - set(chosen)):
        parser.error(f"No body that may be read is called {unknown[0]}; {', '.join(chosen)}.")
    chosen = {name: body for name, body in chosen.items() if name in named}
    if wanted.unseen:
        _end_if_looked_today()
    if wanted.hidden:
        _print_refusals(chosen, wanted.level or LEVELS)
        return
    for level in wanted.level or LEVELS:
        by_body: dict[str, list[Verdict]] = {}
        for name, body in chosen.items():
            by_body[name] = asyncio.run(judge(name, body, level))
            print(f"{level}: {name}", file=sys.stderr)
        everything = [verdict for verdicts in by_body.values() for verdict in verdicts]
        if wanted.show:
            _show(everything, wanted.show)
        kinds = dict.fromkeys(verdict.question.kind for verdict in everything)
        rows = [(kind, [v for v in everything if v.question.kind == kind]) for kind in kinds]
        print(f"\n{level}\n")
        if wanted.unseen:
            _record(level, everything)
            print(table([("unseen", everything)]))
        else:
            print(table([*by_body.items(), *rows, ("all", everything)]))


if __name__ == "__main__":
    main()
