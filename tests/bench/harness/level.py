"""A site at one level of answers, measured in a process of its own for tests.bench.answers.

    python tests/bench/harness/level.py CONTENT DATA QUESTIONS [--vectors FILE --chance]

QUESTIONS is a JSON list. Each question is asked twice; one line of JSON tells what it took. With
`--vectors` the passages are embedded; with `--chance` their vectors are drawn by lot, which takes
no time and costs a question the same. The site is run by the release that is imported, so names
that earlier releases lack are imported where they are needed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aitp_desk.agent.base import SiteFacts, Turn
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.speech import all_speech
from aitp_desk.knowledge.snapshot import Knowledge, open_knowledge

SITE = SiteFacts("Site", "https://site.example")


class Chance:
    """An embedder whose vectors of passages are drawn by lot; questions are embedded."""

    languages: Collection[str] = ()

    def __init__(self, model: Any) -> None:
        self._model = model
        self.name, self.dimension = f"{model.name} by lot", 0

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Any]:
        """Vectors of the right length."""
        if query:
            vectors: Sequence[Any] = await self._model.embed(texts, query=True)
            self.dimension = len(vectors[0])  # the desk asks for it once the model is loaded
            return vectors
        lots = map(random.Random, texts)
        return [[lot.uniform(-1.0, 1.0) for _ in range(self.dimension)] for lot in lots]


async def measure(
    content: Path, data: Path, questions: Sequence[str], vectors: Path | None, *, chance: bool
) -> dict[str, float]:
    """Open the site twice, then ask."""
    figures: dict[str, float] = {}
    async with open_knowledge(content, data=data):
        figures["made_seconds"] = time.process_time()
    began = time.perf_counter()
    async with AsyncExitStack() as stack:
        knowledge = await stack.enter_async_context(open_knowledge(content, data=data))
        figures["opened_seconds"] = time.perf_counter() - began
        figures["passages"] = len(knowledge.editions.library.passages)
        if vectors is not None:
            figures |= await _embed(knowledge, vectors, stack, chance=chance)
        knowledge.editions.prepare()
        all_speech()
        agent = ExtractiveAgent(knowledge)
        await _ask(agent, questions[:1], statistics.mean)  # what a desk reads ahead
        figures["first_ms"] = await _ask(agent, questions, statistics.mean)
        figures["again_ms"] = await _ask(agent, questions, statistics.median)
    figures["peak_mib"] = _peak_mib()
    return figures


def _peak_mib() -> float:
    """The most memory that was used; what getrusage tells includes the process that began this."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


async def _embed(
    knowledge: Knowledge, file: Path, stack: AsyncExitStack, *, chance: bool
) -> dict[str, float]:
    from aitp_desk.knowledge.semantics.builder import build_vectors
    from aitp_desk.knowledge.semantics.onnx import OnnxEmbedder

    began = time.process_time()
    model = OnnxEmbedder()
    building = build_vectors(knowledge, Chance(model) if chance else model, file)
    progress = await stack.enter_async_context(building)
    await progress.settled.wait()
    return {"embedded_seconds": time.process_time() - began, "vectors": progress.total}


async def _ask(
    agent: ExtractiveAgent, questions: Sequence[str], middle: Callable[[list[float]], float]
) -> float:
    """The milliseconds of processor time that a question takes."""
    taken: list[float] = []
    for question in questions:
        began = time.process_time()
        async for _ in agent.reply(Turn(question, SITE)):
            pass
        taken.append((time.process_time() - began) * 1000)
    return middle(taken)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("content", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--chance", action="store_true")
    given = parser.parse_args()
    questions = json.loads(given.questions.read_text("utf-8"))
    figures = measure(given.content, given.data, questions, given.vectors, chance=given.chance)
    print(json.dumps(asyncio.run(figures)))


if __name__ == "__main__":
    main()
