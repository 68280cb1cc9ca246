"""``aitp-desk ask``: one question or a conversation, without a server."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import (
    data_folder,
    mistakes_told,
    no_model,
    overrides,
    progress,
    site_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aitp_desk.actions.base import OfferedAction
    from aitp_desk.agent.base import Said
    from aitp_desk.agent.extractive.explanation import Explanation
    from aitp_desk.config import Config
    from aitp_desk.knowledge.library import Library

PROMPT = "> "


@click.command()
@site_folder
@click.argument("question", required=False)
@data_folder
@overrides
@click.option(
    "--after",
    multiple=True,
    metavar="QUESTION",
    help="An earlier question of the visitor; repeatable, in order.",
)
@click.option("--locale", metavar="TAG", help="The visitor's language, such as fr.")
@no_model
@click.option(
    "--explain",
    is_flag=True,
    help=(
        "Show the search words, the matching sections with their scores, and the deciding reason."
        " No model is used."
    ),
)
def ask(
    folder: Path,
    question: str | None,
    data: Path | None,
    overrides: tuple[str, ...],
    after: tuple[str, ...],
    locale: str | None,
    *,
    no_model: bool,
    explain: bool,
) -> None:
    """Ask the site's agent a QUESTION and print its reply.

    No server is needed, and no action is called: one that a served desk would call is named below
    the reply. Without a QUESTION it prompts for questions, each a follow-up to the
    previous ones; an empty line or the end of the input ends it.

    \b
    Examples:
      aitp-desk ask shop "How long do I have to return boots?"
      aitp-desk ask shop "and worn ones?" --after "How long do I have to return boots?"
      aitp-desk ask shop "Where is my parcel?" --explain
      aitp-desk ask shop
    """  # noqa: D301 -- click keeps the lines after a backspace
    with mistakes_told():
        from aitp_desk.config import load_config
        from aitp_desk.observability.logs import set_up_logs

        # without a port the site has an address only if site.url is set
        config = load_config(folder, overrides, port=0, data=data)
        set_up_logs(config.log, quiet=True)
        uses_model = not (no_model or explain)
        asyncio.run(_ask(config, question, after, locale, uses_model=uses_model, explain=explain))


async def _ask(
    config: Config,
    question: str | None,
    after: tuple[str, ...],
    locale: str | None,
    *,
    uses_model: bool,
    explain: bool,
) -> None:
    """Ask one question, or each typed question, and print the replies."""
    from aitp_desk.agent.extractive.agent import ExtractiveAgent
    from aitp_desk.agent.extractive.explanation import explain_answer as explanation_of
    from aitp_desk.app.site_agents import open_standalone_agent
    from aitp_desk.cli.evaluation.conversation import Conversation

    async with AsyncExitStack() as stack:
        with progress("Read the meaning of", "passages") as report:
            opened = open_standalone_agent(config, os.environ, uses_model=uses_model, report=report)
            answering = await stack.enter_async_context(opened)
        conversation = Conversation(answering.agent, answering.site, locale)
        find_action = _open_actions(config)
        for earlier in after:
            await conversation.ask(earlier)
        for words in _typed() if question is None else (question,):
            if explain and isinstance(answering.agent, ExtractiveAgent):
                finding = await answering.agent.find(conversation.turn(words))
                conversation.add(words, finding.said)
                explanation = explanation_of(finding, config.content_folder)
                lines = (*_told(finding.said), "", *_explained(explanation))
            else:
                lines = (*_told(await conversation.ask(words)),)
            library = answering.knowledge.editions.find_library(locale)
            if (name := find_action(words, library)) is not None:
                lines += (f"  action      {name}  (a desk that is served calls it)",)
            for line in lines:
                click.echo(line)


def _open_actions(config: Config) -> Callable[[str, Library], str | None]:
    """Return a function that names the action a served desk would call."""
    from aitp_desk.actions.faults import ActionsError
    from aitp_desk.actions.registry import load_sources
    from aitp_desk.agent.intents.examples import DeclaredExamples
    from aitp_desk.agent.intents.ranking import ActionRanking
    from aitp_desk.desk.calls.registry import OWN_NAMES

    offered: tuple[OfferedAction, ...] = ()
    if config.content.meaning.actions:
        with suppress(ActionsError):  # which aitp-desk check reports
            sources = load_sources(config, environment=os.environ, taken=OWN_NAMES)
            offered = tuple(
                one for one in sources.actions.offered if one.action.open_to != "operators"
            )
    if not offered:
        return lambda _words, _library: None
    actions = [one.action for one in offered]
    examples = DeclaredExamples(actions)
    ranking = ActionRanking(actions, {one.action.name: one.from_text for one in offered})

    def find(words: str, library: Library) -> str | None:
        declared = examples.find(words, (one.title for one in library.documents))
        said = ranking.read(words)
        if declared is not None or said is None:
            return declared
        return ranking.find(said, library.vocabulary, None)

    return find


def _typed() -> Iterator[str]:
    """Yield typed lines, up to an empty one."""
    is_terminal = sys.stdin.isatty()
    while True:
        if is_terminal:
            click.echo(PROMPT, nl=False)
        words = sys.stdin.readline().strip()
        if not words:
            return
        if not is_terminal:
            click.echo(f"{PROMPT}{words}")
        yield words


def _told(said: Said) -> Iterator[str]:
    """Yield a reply as a visitor reads it."""
    from aitp_desk.agent.base import Answer

    if isinstance(said, Answer):
        yield said.text
        for source in said.sources:
            yield f"  {source.relevance:10}  {source.url}  ({source.title})"
    else:
        yield said.question
        for number, option in enumerate(said.options, 1):
            yield f"  {number}. {option}"


def _explained(explanation: Explanation) -> Iterator[str]:
    """Yield the reasons for a reply."""
    level = f" Level: {explanation.level}." if explanation.level else ""
    yield f"Why: {explanation.reason}{level}"
    if explanation.words:
        yield ""
        yield "Search words, with their weights"
    for word in sorted(explanation.words, key=lambda word: -word.weight):
        notes = [f"{kin} ({share:.2f})" for kin, share in word.also.items()]
        notes += ["from an earlier question"] if word.earlier else []
        notes += [] if word.known else ["on no page"]
        yield f"  {word.weight:5.2f}  {word.word:16}  {', '.join(notes)}".rstrip()
    if explanation.candidates:
        yield ""
        yield f"Sections found, by {' + '.join(explanation.candidates[0].scores)}"
    for place, one in enumerate(explanation.candidates, 1):
        parts = " + ".join(map(_write_score, one.scores.values()))
        scores = f"{_write_score(one.score)} = {parts}" if len(one.scores) > 1 else parts
        yield f"  {place:2}. {scores}  {one.url}  ({one.title})"
        lacks = f"; lacks {', '.join(one.lacks)}" if one.lacks else ""
        like = f"; like {one.like!r}" if one.like else ""
        fit = _write_score(one.fit)
        yield f"           covers {one.coverage:.0%}, its best sentence {fit}{lacks}{like}"
        line = f":{one.line}" if one.line else ""
        yield (
            f"           {one.file}{line}  {one.verdict}"
            if one.file
            else f"           {one.verdict}"
        )


def _write_score(score: float) -> str:
    """Return a score with two digits; one that rounds to zero has no sign."""
    return f"{round(score, 2) + 0.0:.2f}"
