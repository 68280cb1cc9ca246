"""A starter file of questions, made from what a site says and what its visitors asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

import msgspec

from aitp_desk.knowledge.library import Label, Library

_HEAD = """\
# Questions of this site, with what a right answer holds. Ask them with
#     aitp-desk evaluate FOLDER THIS_FILE
# Put each into the words of your visitors, and say what the answer must hold:
#     holds = ["60 days", ["free", "no charge"]]   every entry; of a list, any one
#     page = "/returns#footwear"                   where the answer comes from
#     after = "How do I return something?"         what is asked before it, for a follow-up
#     refuse = true                                where the site does not answer it
"""


class Suggestion(msgspec.Struct, frozen=True):
    """A question for the file.

    Parameters:
        holds: what the answer holds; empty where only the page is known.
        page: the address that it comes from; empty for a question that was refused.
        note: a comment above it.
    """

    question: str
    holds: str = ""
    page: str = ""
    note: str = ""


def from_titles(library: Library) -> list[Suggestion]:
    """A suggestion for each section that has a heading, the first of every page first.

    Pages without headings are suggested by their titles.
    """
    by_page: list[list[Suggestion]] = []
    for document in library.documents:
        labels = library.sections(document.path)
        headed = [label for label in labels if label.heading and label.name != document.title]
        by_page.append([_from_label(label) for label in headed or labels[:1]])
    return _each_in_turn(by_page)


def write(suggestions: Iterable[Suggestion]) -> str:
    """The file, in TOML."""
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
    """A text as a basic string of TOML, which is written as one of JSON but for DEL."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False).replace("\x7f", "\\u007f")
