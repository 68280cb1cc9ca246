"""How well words that name no action are matched to the actions of the example shop, by meaning.

    python -m tests.answers.utterances

needs the extra `semantic`. It prints what share of requests reaches its action, what share reaches
another one, and which sentences that want none are taken for a request.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from aitp_desk.actions.registry import open_sources
from aitp_desk.app.site_agents import open_standalone_agent
from aitp_desk.config import load_config
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.model.access.principal import Principal, PrincipalKind
from tests.support.desk.server import SHOP

UTTERANCES = Path(__file__).with_name("utterances.toml")
QUESTIONS = ("shop_tune", "shop_tune_2")
CALLER = Principal("key:visitor", PrincipalKind.AGENT, frozenset({"actions"}), "")


async def main() -> None:
    """Match every sentence, and print what became of them."""
    given = tomllib.loads(UTTERANCES.read_text("utf-8"))
    wanted = [(text, name) for name, texts in given["wants"].items() for text in texts]
    others = [text for texts in given["wants-nothing"].values() for text in texts]
    for name in QUESTIONS:
        file = UTTERANCES.with_name("questions") / f"{name}.toml"
        others += [one["question"] for one in tomllib.loads(file.read_text("utf-8"))["question"]]
    with TemporaryDirectory() as folder:
        config = load_config(SHOP, (), port=0, data=Path(folder))
        async with (
            open_sources(config, {}, frozenset(), ()) as offers,
            open_standalone_agent(config, {}) as on,
        ):
            actions = [one.action for one in offers.offered]
            matcher = ActionMatcher(actions, on.knowledge, requires_intent=False)

            async def match(text: str) -> str:
                action = await matcher.find(CALLER, AskRequest("content_search", text), None)
                return "" if action is None else action.name

            found = {text: await match(text) for text in [*(text for text, _ in wanted), *others]}
    right = sum(found[text] == name for text, name in wanted)
    wrong = Counter((text, found[text]) for text, name in wanted if found[text] not in ("", name))
    taken = [(text, found[text]) for text in others if found[text]]
    print(f"{right} of {len(wanted)} requests reach their action, {len(wrong)} another one.")
    print(f"{len(taken)} of {len(others)} other sentences are taken for a request.")
    for text, name in [*wrong, *taken]:
        print(f"  {name}: {text}")


if __name__ == "__main__":
    asyncio.run(main())
