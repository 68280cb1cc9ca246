"""A2A's own compatibility kit, run against a desk.

    python -m tests.support.clients.a2a_tck FOLDER [ARGUMENT…]

FOLDER is a checkout of the kit (its branches are for one version of A2A each); nothing is fetched.
The arguments are handed on to it. Of its virtual environment, ``FOLDER/.venv``, the Python is
taken, where there is one. The card is written for 1.0 alone where the kit is: `--card 1.0`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from aitp_desk.agent.base import Answer, Clarification, Said, Turn
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent

RUNNER = "run_tck.py"
ASKED_BACK = ("input", "prerequisite")
"""What stands in the messages of the kit after which a task should wait for it."""


async def answer(turn: Turn) -> Said:
    """Ask back where the kit wants that, else answer."""
    is_asked = any(word in turn.question.lower() for word in ASKED_BACK)
    if is_asked and turn.pending is None:
        return Clarification("Which one?", ("this", "that"))
    return Answer(f"You said: {turn.question}")


def command(folder: Path, url: str) -> list[str]:
    """How the kit is run against an address."""
    own = folder / ".venv" / "bin" / "python"
    runner = folder / RUNNER
    option = "--sut-host" if "--sut-host" in runner.read_text("utf-8") else "--sut-url"
    return [str(own if own.exists() else sys.executable), str(runner), option, url]


async def run(folder: Path, card: str, arguments: list[str]) -> int:
    """Run the kit, and return what it returns."""
    settings = ("egress.allow_loopback=true", f'a2a.card="{card}"')
    with tempfile.TemporaryDirectory() as data:
        async with serving(Path(data) / "data", *settings, agent=ScriptedAgent(answer)) as desk:
            kit = await asyncio.create_subprocess_exec(
                *command(folder, desk.url), *arguments, cwd=folder
            )
            return await kit.wait()


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--card", choices=("both", "1.0"), default="both")
    chosen, arguments = parser.parse_known_args()
    return asyncio.run(run(chosen.folder.resolve(), chosen.card, arguments))


if __name__ == "__main__":
    sys.exit(main())
