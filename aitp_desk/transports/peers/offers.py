"""The partner's own actions that the owner offers here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.actions.base import ActionResult, Context, OfferedAction, OutcomeUnknown
from aitp_desk.actions.declaration.terms import read_cost
from aitp_desk.actions.schemas.normal_form import PlainSchemas, SchemaUnusable
from aitp_desk.actions.schemas.sanitised_text import plain_words
from aitp_desk.actions.schemas.validator import SchemaValidator
from aitp_desk.actions.terms import ALL, DescribedAction, make_action
from aitp_desk.config import PeerActionTerms
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import DeskError, PreconditionFailed, Unavailable
from aitp_desk.model.money import Money
from aitp_desk.model.text import clean_quote
from aitp_desk.transports.peers.continuation import (
    follow,
    is_unknown,
    make_continues,
    wait_shortly,
)
from aitp_desk.transports.peers.partner import Partner
from aitp_desk.transports.peers.questions import MAX_TEXT
from aitp_desk.visitor.base import EndpointKind, Outcome, SiteAction
from aitp_desk.visitor.errors import SiteRefused

FOLDER = "peers"
"""The folder of stored lists, below the data folder."""
LIST_SECONDS = 10
"""How long the start of the desk waits for a partner's list of actions, in seconds."""

_OUTPUT = {
    "type": "object",
    "properties": {
        "by": {"type": "string", "description": "Whose result it is."},
        "result": {"description": "As the partner returned it."},
    },
    "required": ["by", "result"],
}


class PartnerOffers:
    """The actions of a partner that are offered here.

    Parameters:
        data: the desk's data folder, where the last list is stored.
    """

    def __init__(self, partner: Partner, data: Path) -> None:
        self._partner = partner
        self._file = find_list(data, partner.settings.name)
        self._actions: tuple[SiteAction, ...] | None = None
        self._told: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the owner, in sentences."""
        return tuple(self._told)

    async def load(self) -> None:
        """Fetch the partner's list of actions, or load the stored one."""
        if not self._partner.settings.actions:
            self._actions = ()
            return
        try:
            async with asyncio.timeout(LIST_SECONDS), self._partner.visit() as site:
                self._actions = tuple(await site.actions())
        except (TimeoutError, DeskError):
            self._actions = read_list(self._file) or None
        else:
            self._save(self._actions)

    def list_actions(self, is_taken: Callable[[str], bool]) -> Iterator[OfferedAction]:
        """Yield the offered actions after :meth:`load`, and note what is not offered.

        Parameters:
            is_taken: returns whether another action has this name.
        """
        settings = self._partner.settings
        if self._actions is None:
            self._tell("has not listed its actions yet; restart the desk once it responds")
            return
        actions = {one.name: one for one in self._actions}
        terms = {one.action: one for one in settings.terms}
        for name in actions if settings.actions == (ALL,) else dict.fromkeys(settings.actions):
            if name not in actions:
                self._tell(f"has no action {name}")
                continue
            own = terms.get(name, PeerActionTerms())
            try:
                offered = offer_action(self._partner, actions[name], own)
            except SchemaUnusable as error:
                self._tell(f"has the action {name}, which is not offered: it {error.message}")
                continue
            if is_taken(offered.action.name):
                self._tell(f"has the action {name}, whose name is already in use; write a prefix")
            else:
                yield offered

    def _save(self, actions: tuple[SiteAction, ...]) -> None:
        """Store a list of actions; a full disk is not an error."""
        new = self._file.with_suffix(".new")
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.write_bytes(msgspec.json.encode(actions))
            os.replace(new, self._file)  # noqa: PTH105 -- replaced atomically

    def _tell(self, message: str) -> None:
        self._told.append(f"The partner {self._partner.title} {message}.")


def find_list(data: Path, partner: str) -> Path:
    """Return where a partner's list of actions is stored."""
    return data / FOLDER / f"{partner}.json"


def read_list(file: Path) -> tuple[SiteAction, ...]:
    """Return a partner's stored list of actions; empty if there is none."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=tuple[SiteAction, ...])
    except (OSError, msgspec.DecodeError):
        return ()


def offer_action(partner: Partner, theirs: SiteAction, terms: PeerActionTerms) -> OfferedAction:
    """Build an action of this desk from a partner's.

    A price that the partner announces is this desk's price as well, unless the owner sets another:
    the caller agrees to it, or pays it here, before anything is spent there.

    Raises:
        SchemaUnusable: it cannot be offered.
    """
    # a skill of an agent card says nothing of what it takes; the partner validates it
    given = dict(theirs.input_schema) or {"type": "object", "additionalProperties": True}
    schemas = PlainSchemas(given)
    made = {word: said for word, said in schemas.make(given).items() if word != "title"}
    takes = SchemaValidator(schemas.whole(made), checks_formats=True)
    if takes.schema.get("type") != "object":
        raise SchemaUnusable("takes arguments that are not an object")
    mutability = "irreversible" if theirs.safety is None else theirs.safety.mutability
    reads = mutability == "read_only" and not theirs.has_cost and theirs.cost is None
    action = make_action(
        DescribedAction(
            id=theirs.name,
            summary=_attribute(partner, theirs.description or theirs.name),
            description="",
            mutability=mutability,
            may_be_query=reads,
            input_schema=takes.schema,
            output_schema=_OUTPUT,
            is_idempotent=theirs.idempotent,
        ),
        msgspec.structs.replace(
            terms,
            kind=terms.kind or ("query" if reads else "action"),
            cost=terms.cost or (str(theirs.cost) if theirs.cost is not None else ""),
            deadline_seconds=max(terms.deadline_seconds, partner.settings.seconds + 5),
        ),
        prefix=partner.settings.prefix,
    )
    action = msgspec.structs.replace(action, may_go_on=True)

    budget = None if reads else find_budget(partner.settings.budget, theirs.cost)

    async def perform(arguments: dict[str, Any], context: Context) -> ActionResult:
        if context.continued:
            return _read(partner, action, await follow(partner, context))
        is_sent = False
        outcome: Outcome | None = None
        endpoint: EndpointKind | None = None
        try:
            async with partner.visit(context, budget=budget, acts=True) as site:
                await site.actions()
                is_sent = True
                try:
                    outcome = await site.call(theirs.name, arguments, key=context.call_id)
                    endpoint = site.endpoint(answers=False).kind
                    outcome = await wait_shortly(site, outcome, partner.settings.seconds / 2)
                except SiteRefused as refused:
                    if action.is_repeatable or not is_unknown(refused):
                        raise
                    raise OutcomeUnknown(f"{partner.title} did not finish the call.") from None
                finally:
                    if site.spent is not None and site.spent.amount:
                        context.spent = site.spent
        except Unavailable:
            if outcome is None or endpoint is None:
                if is_sent and not action.is_repeatable:
                    raise OutcomeUnknown(f"{partner.title} did not finish its response.") from None
                raise
        if outcome.kind == "waiting":
            raise make_continues(partner, endpoint, outcome)
        return _read(partner, action, outcome)

    return OfferedAction(action, read=takes.read, perform=perform)


def find_budget(budget: str, announced: Money | None) -> Money | None:
    """Return the most that a call may cost: no more than the price that its callers agree to."""
    most = read_cost(budget)
    if most is None or announced is None:
        return most
    is_same = most.currency == announced.currency
    return min(most, announced, key=attrgetter("amount")) if is_same else None


def _read(partner: Partner, action: Action, outcome: Outcome) -> ActionResult:
    title, text = partner.title, clean_quote(outcome.text.strip()[:MAX_TEXT])
    if outcome.kind == "question":
        raise PreconditionFailed(f"{title} asks: {plain_words(text) or 'for more'}")
    if outcome.kind == "payable":
        raise PreconditionFailed(f"{title} asks for another payment; {action.name} was not done.")
    return ActionResult({"by": title, "result": outcome.result}, f"{title}: {text}" if text else "")


def _attribute(partner: Partner, description: str) -> str:
    return f"{description.strip()} (by {partner.title})"
