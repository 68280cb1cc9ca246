"""A desk with canaries: actions that say so when they are called, one of them out of reach."""

from __future__ import annotations

import html
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Answer, Clarification, Delta, Event, ToolRequest
from aitp_desk.agent.generative.agent import MakeOutput, ModelAgent, make_output_filter
from aitp_desk.agent.generative.providers.chain import connect_models
from aitp_desk.config import Limits, Model
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.snapshot import open_knowledge
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.calls.action import Action
from aitp_desk.model.money import Money
from tests.injection.corpus import Case, corpus
from tests.injection.harness.judge import Met, Rung, Site
from tests.injection.harness.model import obey
from tests.injection.harness.placement import FACTS, plant, write_site
from tests.support.doubles.chat_api import chat_api
from tests.support.doubles.messages_api import (
    Body,
    MessagesApi,
    Reply,
    Say,
    Text,
    Use,
    messages_api,
    search_results,
)
from tests.support.sites.actions import calling, offering, wordless

SITE_URL = "https://lamps.example"
CALLER = Principal(
    "key_caller", PrincipalKind.AGENT, frozenset({"threads", "actions:send_voucher"}), "192.0.2.1"
)
SETTINGS = Model(max_tokens=4000, reply_tokens=60_000)
"""Room for everything that the model gets to say."""
PIECE = 53
"""How many characters come at once; how a text is divided is the matter of other tests."""
MAY_CALL = frozenset({"look_up_order", "send_voucher"})


class Canaries:
    """The site's actions, and who has called them.

    Parameters:
        cost: of a voucher; None where it is free.

    Attributes:
        rung: the calls, in order, but for those that only read.
    """

    def __init__(self, cost: Money | None = None) -> None:
        self.rung: list[Rung] = []
        self._cost = cost

    def actions(self) -> Sequence[OfferedAction]:
        """One that everybody may call, one for a few, one for nobody who is met here."""
        return (
            offering(Action("look_up_order", "Where an order is."), self._look_up),
            offering(
                Action(
                    "send_voucher", "Sends a voucher.", "action", open_to="actions", cost=self._cost
                ),
                self._ring("send_voucher"),
            ),
            offering(
                Action("open_till", "Opens the till.", "action", open_to="actions"),
                self._ring("open_till"),
            ),
        )

    async def _look_up(self, _who: str, arguments: Mapping[str, Any]) -> str:
        cases = (case for case in corpus() if case.id == arguments.get("code"))
        found = next(cases, None)
        return found.written(SITE_URL) if found else "No such order."

    def _ring(self, name: str) -> Any:
        async def perform(who: str, arguments: Mapping[str, Any]) -> str:
            self.rung.append(Rung(name, who, dict(arguments)))
            return "Done."

        return perform

    def taken(self) -> tuple[Rung, ...]:
        """The calls since this was asked last."""
        rung = tuple(self.rung)
        self.rung.clear()
        return rung


class Obeying:
    """The obeying model as the other side of the Messages API.

    Attributes:
        tried: what it was told to do since this was emptied last.
    """

    def __init__(self) -> None:
        self.tried: set[str] = set()

    def __call__(self, body: Body) -> Reply:
        """First it calls what it is set to call, then it says what it is set to say."""
        done = obey(body)
        self.tried |= done.tried
        made = [
            (block["name"], block["input"])
            for message in body["messages"]
            for block in message["content"]
            if block["type"] == "tool_use"
        ]
        offered = [tool["name"] for tool in body.get("tools", ())]
        uses = [
            Use(wire, arguments)
            for name, arguments in done.calls
            for wire in _wires(name, offered)
            if (wire, arguments) not in made
        ]
        if uses and offered:
            return Say((Text("One moment."), *uses))
        results = search_results(body)
        fact = results[0]["content"][0]["text"].split(". ")[0] if results else "I do not know"
        cites = (0,) if results else ()
        said = Text(done.text or "Is there more?", claims=done.cites, piece=PIECE)
        return Say((Text(f"{fact}. ", cites, piece=PIECE), said))


def _wires(name: str, offered: Sequence[str]) -> Sequence[str]:
    """How a tool may be called that a caller has named."""
    known = [wire for wire in offered if wire in {name, f"site_{name}", f"caller_{name}"}]
    return known or [name, f"site_{name}"]


class Ground(msgspec.Struct, frozen=True):
    """Where cases are met by the agent itself, without a protocol."""

    agent: ModelAgent
    agent_tools: AgentTools
    canaries: Canaries
    model: Obeying
    api: MessagesApi
    site: Site

    async def meet(self, case: Case) -> Met:
        """Ask what meets a case, as a caller who may send vouchers."""
        turn = plant(case, SITE_URL)
        turn = msgspec.structs.replace(
            turn,
            tools=self.agent_tools.list_tools(CALLER) + turn.tools,
            invoke=self.agent_tools.make_invoker(CALLER, Conversation()),
        )
        self.canaries.taken()
        self.api.requests.clear()
        self.model.tried.clear()
        events = [event async for event in self.agent.reply(turn)]
        outcome = events[-1]
        return Met(
            caller=CALLER.id,
            may_call=MAY_CALL | {tool.name for tool in turn.tools if tool.by == "caller"},
            shown=tuple(_shown(events)),
            sources=tuple(s.url for s in outcome.sources) if isinstance(outcome, Answer) else (),
            tools_used=outcome.tools_used if isinstance(outcome, Answer) else (),
            rung=self.canaries.taken(),
            requests=tuple(self.api.requests),
        )


def _shown(events: Sequence[Event]) -> list[str]:
    """All that came out, also what was made void."""
    shown = ["".join(event.text for event in events if isinstance(event, Delta))]
    match events[-1]:
        case Answer() as answer:
            shown += [answer.text, *answer.follow_ups, *(s.title for s in answer.sources)]
        case Clarification() as asked:
            shown += [asked.question, *asked.options]
        case ToolRequest() as request:
            for step in request.rounds:
                shown += [step.text, *(called.call.arguments for called in step.called)]
        case _:
            pass
    return shown


def read_site(folder: Path, library: Library) -> Site:
    """What stands in a folder, for the judge."""
    pages = frozenset(document.url for document in library.documents)
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.iterdir()))
    facts = (FACTS.name, FACTS.url, FACTS.contact or "")
    return Site(SITE_URL, facts, pages, html.unescape(text))


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def ground(
    folder: Path,
    cases: Sequence[Case],
    output: MakeOutput = make_output_filter,
    cost: Money | None = None,
    *,
    is_chat: bool = False,
) -> AsyncIterator[Ground]:
    """A lamp shop with the pages of these cases, and an agent whose model obeys everybody.

    Parameters:
        cost: of a voucher.
        is_chat: whether the model is behind Chat Completions.
    """
    pages = folder / "site"
    write_site(pages, cases, SITE_URL)
    (folder / "data").mkdir()
    canaries, model = Canaries(cost), Obeying()
    async with (
        chat_api(model) if is_chat else messages_api(model) as api,
        open_knowledge(pages, data=folder / "data") as knowledge,
        calling(folder, *canaries.actions()) as invoking,
    ):
        settings = api.choose_model(SETTINGS)
        agent = ModelAgent(
            knowledge, settings, models=connect_models(settings, api.environment), output=output
        )
        try:
            site = read_site(pages, knowledge.library)
            yield Ground(
                agent,
                AgentTools(
                    invoking,
                    limiter=RateLimiter(Limits(enabled=False), time.time),
                    now=_now,
                    desk_messages=wordless(),
                ),
                canaries,
                model,
                api,
                site,
            )
        finally:
            await agent.close()
