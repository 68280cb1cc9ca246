"""Suggests questions for a starter file, from a site's content and its visitors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain, zip_longest

import msgspec

from aitp_desk.agent.base import Answer
from aitp_desk.app.site_agents import StandaloneAgent
from aitp_desk.cli.evaluation.conversation import Conversation
from aitp_desk.knowledge.enrichment.file import Line
from aitp_desk.knowledge.library import Label, Library
from aitp_desk.knowledge.refusals import group_refusals
from aitp_desk.store.reads.console.refusals import Refusal

_LONGEST_QUOTE = 80
"""Longer quotes are not used: an answer may say the same in fewer words."""
_HEAD = """\
# Test questions for this site, with their expected answers. Ask them with
#     aitp-desk evaluate FOLDER THIS_FILE
# Rewrite each in your visitors' words, and state what the answer must contain:
#     holds = ["60 days", ["free", "no charge"]]   every entry; one of a nested list
#     page = "/returns#footwear"                   the source of the answer
#     after = "How do I return something?"         the earlier question, for a follow-up
#     refuse = true                                if the site does not answer it
"""


class Suggestion(msgspec.Struct, frozen=True):
    """A question for the file.

    Parameters:
        holds: what the answer contains; empty where only the page is known.
        page: the address that it comes from; empty for a question that was refused.
        note: a comment above it.
    """

    question: str
    holds: str = ""
    page: str = ""
    note: str = ""


def suggest_from_titles(library: Library) -> list[Suggestion]:
    """Suggest a question for each section, the first of every page first.

    Pages without headings are suggested by their titles.
    """
    by_page: list[list[Suggestion]] = []
    for document in library.documents:
        labels = library.sections(document.path)
        headed = [label for label in labels if label.heading and label.name != document.title]
        by_page.append([_from_label(label) for label in headed or labels[:1]])
    return _each_in_turn(by_page)


def suggest_from_enrichment(lines: Iterable[Line], library: Library) -> list[Suggestion]:
    """Suggest each question that a model wrote, the first of every page first."""
    urls = {(one.document, one.trail): one.url for one in library.passages}
    by_page: dict[str, list[Suggestion]] = {}
    for line in lines:
        page = urls.get((line.page, line.headings))
        for question in line.questions if page else ():
            quote = question.quote if len(question.quote) <= _LONGEST_QUOTE else ""
            suggestion = Suggestion(question.ask, quote, page or "")
            by_page.setdefault(line.page, []).append(suggestion)
    return _each_in_turn([*by_page.values()])


async def suggest_from_refusals(
    refusals: AsyncIterable[Refusal], standalone: StandaloneAgent
) -> list[Suggestion]:
    """Suggest each question that is still refused, the most frequent first.

    Where the content has vectors, questions with the same meaning count as one. Long messages are
    left out: they are letters, and mostly about one person.
    """
    found = []
    every = [refusal async for refusal in refusals]
    for one in await group_refusals(every, standalone.knowledge.library.vectors):
        question = one.newest.question
        said = await Conversation(standalone.agent, standalone.site).ask(question)
        if isinstance(said, Answer) and not said.found and not said.is_courtesy:
            found.append(Suggestion(question, note=_refused(one.times, one.newest.at)))
    return found


def _refused(times: int, at: int) -> str:
    day = datetime.fromtimestamp(at, UTC).date()
    often = "" if times == 1 else f" {times} times, last"
    return (
        f"Refused{often} on {day}. If the site should answer it, describe the right answer instead."
    )


def write_suggestions(suggestions: Iterable[Suggestion]) -> str:
    """Write the file, in TOML."""
    return "\n".join([_HEAD, *map(_table, suggestions)])


def _from_label(label: Label) -> Suggestion:
    is_question = label.heading.endswith(("?", "？"))
    return Suggestion(label.heading if is_question else label.name, page=label.url)


def _each_in_turn(by_page: Sequence[Sequence[Suggestion]]) -> list[Suggestion]:
    turns = chain.from_iterable(zip_longest(*by_page))
    return list({one.question: one for one in turns if one is not None}.values())


def _table(one: Suggestion) -> str:
    lines = [f"# {one.note}"] if one.note else []
    lines += ["[[question]]", f"question = {_quoted(one.question)}"]
    if one.holds:
        lines.append(f"holds = [{_quoted(one.holds)}]")
    lines.append(f"page = {_quoted(one.page)}" if one.page else "refuse = true")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Write a text as a TOML basic string, which is JSON's except DEL."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False).replace("\x7f", "\\u007f")
