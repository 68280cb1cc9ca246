"""Asks the questions of a site, and judges each answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator, Iterable

import msgspec

from aitp_desk.agent.base import Agent, Answer, Said, SiteFacts
from aitp_desk.cli.evaluation.conversation import Conversation
from aitp_desk.cli.evaluation.questions import Question

_DASHES = re.compile(r"[\u2010-\u2015\u2212]")
_PLAIN = str.maketrans("‘’“”`*|", "''\"\"   ")


class Verdict(msgspec.Struct, frozen=True):
    """The outcome of a question.

    Parameters:
        wrong: what is wrong with the reply, in a few words; empty where it is right.
    """

    question: Question
    said: Said
    wrong: str

    @property
    def is_right(self) -> bool:
        """Whether the desk replied as the question requires."""
        return not self.wrong


async def judge_questions(
    questions: Iterable[Question], agent: Agent, site: SiteFacts
) -> AsyncIterator[Verdict]:
    """Ask each question in a separate conversation.

    Raises:
        Unavailable: the agent cannot answer now.
    """
    for question in questions:
        conversation = Conversation(agent, site, question.locale)
        for earlier in question.after:
            await conversation.ask(earlier)
        said = await conversation.ask(question.question)
        yield Verdict(question, said, _what_is_wrong(question, said))


def contains_wording(text: str, wording: str) -> bool:
    """Return whether a text contains a wording, apart from case, dashes, quotes and marks.

    Markdown's marks do not count. A number is not found inside a longer one: ``$6`` is not in
    ``$64`` or ``$6.95``.
    """
    wording = normalize_text(wording)
    before = r"(?<![\d.,])" if wording[:1].isdigit() else ""
    after = r"(?!\d|[.,]\d)" if wording[-1:].isdigit() else ""
    return re.search(f"{before}{re.escape(wording)}{after}", normalize_text(text)) is not None


def normalize_text(text: str) -> str:
    """Return a text in the form for comparison."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_DASHES.sub("-", text).translate(_PLAIN).split())


def _what_is_wrong(question: Question, said: Said) -> str:
    if not isinstance(said, Answer):
        return "asked the visitor a question"
    if question.refuse:
        return "answered instead of refusing" if said.found else ""
    if not said.found:
        return "refused"
    wrong = []
    lacking = [
        wordings
        for wordings in question.holds
        if not any(contains_wording(said.text, wording) for wording in wordings)
    ]
    if lacking:
        told = ", ".join(" or ".join(f'"{one}"' for one in wordings) for wordings in lacking)
        wrong.append(f"lacks {told}")
    page = said.sources[0].url if said.sources else ""
    if question.pages and not any(_is_of(page, wanted) for wanted in question.pages):
        wrong.append(f"from {page or 'no page'}")
    return ", ".join(wrong)


def _is_of(url: str, wanted: str) -> bool:
    """Return whether a source is the wanted page, or the named section."""
    return url == wanted if "#" in wanted else url.partition("#")[0] == wanted
