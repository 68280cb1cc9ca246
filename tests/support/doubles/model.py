"""A model's part for tests: reads the request as a model would, answers from what it was sent."""

from __future__ import annotations

from typing import Any

from aitp_desk.agent.base import Answer, SiteFacts, Turn, Utterance
from aitp_desk.agent.claude.prompt import NOT_FOUND
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.snapshot import Knowledge
from tests.support.doubles.messages_api import (
    Body,
    Reply,
    Say,
    Script,
    Text,
    said_in,
    say,
    search_results,
    tool_results,
    use,
)


def librarian(knowledge: Knowledge, site: SiteFacts) -> Script:
    """Understands a question as extraction does, but quotes nothing that the request lacks."""

    def reply(body: Body) -> Reply:
        question, transcript = _conversation(body)
        said = answer(Turn(question, site, transcript), knowledge.library)
        if not isinstance(said, Answer):
            return use("ask_visitor", question=said.question, options=list(said.options))
        if not said.found:
            return say(f"{NOT_FOUND} {said.text}")
        sent = [result["source"] for result in search_results(body)]
        cited = [sent.index(source.url) for source in said.sources if source.url in sent]
        if cited:
            return Say((Text(said.text, (cited[0],)),))
        if not tool_results(body):
            return use("search_site", query=question)
        return say(f"{NOT_FOUND} I was not sent what answers this.")

    return reply


def _conversation(body: Body) -> tuple[str, tuple[Utterance, ...]]:
    said: list[Utterance] = []
    for role, text in said_in(body):
        if role == "assistant":
            said.append(Utterance("desk", str(text)))
        elif isinstance(text, dict) and "visitor" in text:
            said.append(Utterance("visitor", _string(text["visitor"])))
        elif isinstance(text, dict) and "party" in text:
            said.append(Utterance("other", _string(text["party"])))
    *before, question = said
    return question.text, tuple(before)


def _string(value: Any) -> str:
    assert isinstance(value, str)
    return value
