"""The labelled utterances, and the desks that they are said to."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from aitp_desk.actions.registry import open_sources
from aitp_desk.agent.slots.filler import fill_arguments
from aitp_desk.agent.speech.person_request import asks_for_person
from aitp_desk.app.site_agents import open_standalone_agent
from aitp_desk.config import load_config
from aitp_desk.desk.dialogue.tools.access_notice import AccessNotice
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.model.access.principal import Principal, PrincipalKind
from tests.support.desk.server import SHOP

FOLDER = Path(__file__).parent
GROUPS = {
    "seen": ("seen", "earlier", "further"),
    "practice": (
        "library",
        "restaurant",
        "utility",
        "gym",
        "courier",
        "visitors",
        "questions",
        "callers",
    ),
    "near": ("near",),
    "street": ("street",),
    "street_kept": ("street_kept",),
    "fresh": ("fresh",),
    "unseen": ("unseen", "unseen_further"),
}
"""Names of files: all but the unseen ones may be read while the matcher is changed."""
SEEN = (*GROUPS["seen"], *GROUPS["practice"], *GROUPS["near"], *GROUPS["street"])
QUESTIONS = ("shop_tune", "shop_tune_2")
"""Questions about the shop's pages, none of which asks for an action."""
_OWN = (
    "bikes",
    "clinic",
    "library",
    "restaurant",
    "utility",
    "gym",
    "courier",
    "hotel",
    "garage",
    "dentist",
    "townhall",
    "pedals",
    "trattoria",
)
SITES = {"shop": SHOP, **{name: FOLDER / "sites" / name for name in _OWN}}
NOW = datetime(2027, 3, 1, 9, 0, tzinfo=ZoneInfo("UTC"))
CALLER = Principal("key:visitor", PrincipalKind.AGENT, frozenset({"actions"}), "")
CONTACT = "contact_human"


class Utterance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words of a visitor with what they ask for.

    Parameters:
        action: its name; empty for a question that a page answers, or nothing does.
        arguments: those that the words give; others may be found, too.
    """

    text: str
    action: str
    desk: str
    arguments: Mapping[str, Any] = {}


def read_utterances(*names: str) -> list[Utterance]:
    """Return the utterances of files of this folder."""
    found: list[Utterance] = []
    for name in names:
        given = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
        found += msgspec.convert(given["utterance"], list[Utterance])
    return found


def read_questions() -> list[Utterance]:
    """Return the questions about the shop's pages, as utterances that ask for no action."""
    return [Utterance(text, "", "shop") for text in _questions()]


def _questions() -> Iterator[str]:
    for name in QUESTIONS:
        given = tomllib.loads((FOLDER.parent / f"questions/{name}.toml").read_text("utf-8"))
        yield from (one["question"] for one in given["question"])


class Desk:
    """One site's actions and their matcher."""

    def __init__(self, matcher: ActionMatcher, offered: Mapping[str, Any]) -> None:
        self.matcher = matcher
        self._offered = offered

    async def find(self, text: str) -> str:
        """Return the name of the action that is called or proposed; empty for none."""
        if CONTACT in self._offered and asks_for_person(text) is not None:
            return CONTACT
        action = await self.matcher.find(CALLER, AskRequest("content_search", text), None)
        return "" if action is None else action.name

    def fill(self, name: str, text: str) -> Mapping[str, Any]:
        """Return the arguments that the desk reads from the words."""
        offered = self._offered[name]
        return fill_arguments(offered.action, text, now=NOW, from_text=offered.from_text).arguments


@asynccontextmanager
async def open_desk(name: str, *, by_meaning: bool) -> AsyncIterator[Desk]:
    """Open a site's actions and content, with or without the model of meaning."""
    with TemporaryDirectory() as folder:
        assignments = (f"content.meaning.enabled={str(by_meaning).lower()}",)
        config = load_config(SITES[name], assignments, port=0, data=Path(folder))
        async with (
            open_sources(config, {}, frozenset(), ()) as offers,
            open_standalone_agent(config, {}) as on,
        ):
            offered = {one.action.name: one for one in offers.offered}
            notice = AccessNotice("The site", has_sign_in=False)
            matcher = ActionMatcher(
                offers.offered, on.knowledge, by_words=True, requires_intent=False, notice=notice
            )
            yield Desk(matcher, offered)
