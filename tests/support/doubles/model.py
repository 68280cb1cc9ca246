"""A model's part for tests: reads the request as a model would, answers from what it was sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aitp_desk.agent.base import Answer, SiteFacts, Turn, Utterance
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.agent.generative.prompt import NOT_FOUND
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
        sent = list(_sent(body))
        cited = [place for source in said.sources for place, name in sent if name == source.title]
        if cited:
            return Say((Text(said.text, (cited[0],)),))
        if not tool_results(body):
            return use("search_site", query=question)
        return say(f"{NOT_FOUND} I was not sent what answers this.")

    return reply


def _sent(body: Body) -> Iterator[tuple[tuple[int, int], str]]:
    """The places of the passages that were sent, and their names."""
    for place, result in enumerate(search_results(body)):
        for block, text in enumerate(result["content"]):
            first, _, _ = text["text"].partition("\n")
            alone = len(result["content"]) == 1 or not first.startswith("# ")
            title = result["title"]
            yield (place, block), title if alone else f"{title}: {first.removeprefix('# ')}"


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
