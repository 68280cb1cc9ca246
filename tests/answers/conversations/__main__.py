"""Conversations of first-time visitors: whether each turn is answered by what was talked about.

    python -m tests.answers.conversations [--level LEVEL] [--body NAME ...] [--show missed|all]

The bodies are the example shop and those of the strangers' that may be read; ``conversations.toml``
says what each turn's answer must hold.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import tempfile
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from aitp_desk.agent.base import Answer, Clarification, SiteFacts
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.cli.evaluation.conversation import Conversation
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import open_knowledge
from tests.answers.strangers.__main__ import LEVELS, embed, opened
from tests.answers.strangers.bodies import bodies
from tests.answers.strangers.questions import READ, normal

HERE = Path(__file__).parent
SHOP = HERE.parents[2] / "examples" / "shop" / "content"


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A turn of a visitor.

    Parameters:
        kind: how it leans on what was said before.
        facts: patterns that the answer matches, all of them.
        never: patterns that it does not match.
        refused: whether the content does not answer it.
    """

    kind: str
    say: str
    facts: list[str] = []
    never: list[str] = []
    refused: bool = False


class Talk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A conversation about a body."""

    id: str
    body: str
    turns: list[Said]


class Outcome(msgspec.Struct, frozen=True):
    """What a turn was answered with."""

    talk: str
    said: Said
    text: str
    is_right: bool


def talks() -> list[Talk]:
    """All conversations."""
    table = tomllib.loads((HERE / "conversations.toml").read_text("utf-8"))
    return msgspec.convert(table["conversation"], list[Talk])


@asynccontextmanager
async def agent_of(name: str, level: str) -> AsyncIterator[ExtractiveAgent]:
    """An agent of a body, or of the shop, at a level."""
    if name != "shop":
        async with opened(name, bodies()[name], level) as (agent, _):
            yield agent
        return
    async with AsyncExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shutil.copytree(SHOP, scratch / "site")
        if level in {"words", "meaning"}:
            (scratch / "site" / "enriched.jsonl").unlink()
        knowledge = await stack.enter_async_context(
            open_knowledge(scratch / "site", data=scratch / "data", languages=Languages("en"))
        )
        await embed(knowledge, level, stack)
        yield ExtractiveAgent(knowledge)


async def ask_all(name: str, level: str) -> list[Outcome]:
    """Hold all conversations about a body."""
    async with agent_of(name, level) as agent:
        return [
            outcome for talk in talks() if talk.body == name for outcome in await _ask(talk, agent)
        ]


async def _ask(talk: Talk, agent: ExtractiveAgent) -> list[Outcome]:
    conversation = Conversation(agent, SiteFacts(talk.body, "https://site.example"))
    outcomes: list[Outcome] = []
    for turn in talk.turns:
        said = await conversation.ask(turn.say)
        text = said.question if isinstance(said, Clarification) else said.text
        read = normal(text)[:READ]
        found = isinstance(said, Answer) and said.found
        is_right = (
            isinstance(said, Answer) and not said.found
            if turn.refused
            else found
            and all(re.search(fact, read, re.IGNORECASE) for fact in turn.facts)
            and not any(re.search(fact, read, re.IGNORECASE) for fact in turn.never)
        )
        outcomes.append(Outcome(talk.id, turn, text, is_right))
    return outcomes


def table(levels: dict[str, Sequence[Outcome]]) -> str:
    """The share of right turns by kind at each level, as Markdown."""
    kinds = dict.fromkeys(one.said.kind for all_of in levels.values() for one in all_of)
    lines = [f"| | turns | {' | '.join(levels)} |", "| --- " * (len(levels) + 2) + "|"]
    for kind in [*kinds, "all"]:
        chosen = [
            [one for one in all_of if kind in {one.said.kind, "all"}] for all_of in levels.values()
        ]
        cells = [f"{sum(one.is_right for one in of) / len(of):.2f}" if of else "" for of in chosen]
        lines.append(f"| {kind} | {max(map(len, chosen))} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--body", action="append", help="all where none is named")
    parser.add_argument("--level", choices=LEVELS, action="append", help="words where none")
    parser.add_argument("--show", choices=("missed", "all"), help="print turns")
    wanted = parser.parse_args()
    names = wanted.body or list(dict.fromkeys(talk.body for talk in talks()))
    levels: dict[str, Sequence[Outcome]] = {}
    for level in wanted.level or ["words"]:
        levels[level] = [one for name in names for one in asyncio.run(ask_all(name, level))]
        for one in levels[level]:
            if wanted.show == "all" or (wanted.show and not one.is_right):
                mark = "ok  " if one.is_right else "MISS"
                print(f"\n{mark} {level} {one.talk} [{one.said.kind}] {one.said.say}")
                print(f"  wanted {one.said.facts}\n  {one.text[:READ]!r}")
    print(table(levels))


if __name__ == "__main__":
    main()
