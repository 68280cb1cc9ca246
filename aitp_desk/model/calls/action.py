"""The site's actions, declared once for every protocol."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.model.access.scope import ACTION_NAME, is_operator_scope, opens_action
from aitp_desk.model.money import Money

TEXT_ANSWER = "text/answer"
DATA = "application/data"
FEED = "application/feed"
VIDEO = "media/video"
AUDIO = "media/audio"
IMAGE = "media/image"
DOWNLOAD = "file/download"
ACTION_RESULT = "application/action-result"
"""Content types of answers (AHP 0.1, appendix C.2)."""
EXTENSION_TYPE = re.compile(r"x-[a-z][a-z0-9-]{0,62}/[a-z][a-z0-9_-]{0,63}", re.ASCII)
"""How a site's own content types are written (AHP 0.1, appendix C.3); they stay short names."""

DEADLINE_SECONDS = 30.0
"""Time limit of a call whose action declares none."""

_NAME = re.compile(ACTION_NAME, re.ASCII)

Kind = Literal["query", "action", "async"]
"""``query`` reads and changes nothing; ``action`` may change something, and ends within its call;
``async`` continues after its call was accepted (AHP 0.1, section 5.3).
"""
Mutability = Literal["read_only", "reversible", "irreversible"]
"""Whether a call changes anything, and whether that can be undone (HAC 1.0, section 5.1)."""
BlastRadius = Literal["self", "self_and_associated", "many", "all"]
"""How much a call affects (HAC 1.0, section 5.2)."""
OpenTo = Literal["anyone", "actions", "operators"]
"""Who may call: ``anyone``, also without a credential; callers with the scope ``actions`` or
``actions:<name>``; operators.
"""
Approval = Literal["never", "sometimes", "always"]
"""Whether an operator has to approve a call before it is executed; ``sometimes`` if its arguments
decide.
"""


def make_empty_schema() -> Mapping[str, Any]:
    """Return the JSON Schema of empty arguments."""
    return {"type": "object", "properties": {}}


class Safety(msgspec.Struct, frozen=True):
    """The possible harm of a call (HAC 1.0, section 5).

    Parameters:
        reversible_within: an ISO 8601 duration such as ``P30D``, in which the effect can be undone.
        confirmation_recommended: whether an agent should ask its user first.
    """

    mutability: Mutability = "read_only"
    blast_radius: BlastRadius = "self"
    reversible_within: str | None = None
    confirmation_recommended: bool = False

    @property
    def is_grave(self) -> bool:
        """Whether a call that was only understood from text needs confirmation."""
        return self.mutability == "irreversible" or self.blast_radius in {"many", "all"}


class Precondition(msgspec.Struct, frozen=True):
    """A condition for a call to be executed.

    Parameters:
        name: named by a refusal.
        description: the condition, in a sentence.
    """

    name: str
    description: str


class Example(msgspec.Struct, frozen=True):
    """An example request for a call.

    Parameters:
        text: the request as text.
        arguments: as understood; None if only the text is shown.
    """

    text: str
    arguments: Mapping[str, Any] | None = None


class Related(msgspec.Struct, frozen=True):
    """A link about the subject of a call (HAC 1.0, section 3.3).

    Parameters:
        href: a path of the site, or a URI template.
    """

    rel: str
    href: str
    description: str = ""


class Action(msgspec.Struct, frozen=True):
    """An action that the site offers.

    Parameters:
        name: ``[a-z][a-z0-9_]{0,63}``, the same in every protocol.
        summary: one line of at most 256 characters.
        description: what a caller should know in addition: consequences, limits, edge cases.
        answer_types: content types of its answers, the preferred one first.
        accept_fallback: whether it answers in text if the caller accepts none of these.
        input_schema: JSON Schema of its arguments, an object's.
        output_schema: JSON Schema of its result; None if it answers with content only.
        cost: the price of a call, if that is fixed.
        has_price: whether a call may have a price that its arguments decide.
        is_prepaid: whether a call is paid for at the desk before it is made.
        approval: whether an operator approves a call first; for ``async`` actions only.
        deadline_seconds: time limit of a call; for ``async`` actions, of each attempt.
        is_idempotent: whether repeating a call has no further effect.
        may_go_on: whether a call may turn out to continue elsewhere, as a partner's may.
    """

    name: str
    summary: str
    kind: Kind = "query"
    description: str = ""
    open_to: OpenTo = "anyone"
    answer_types: tuple[str, ...] = (TEXT_ANSWER,)
    accept_fallback: bool = False
    input_schema: Mapping[str, Any] = msgspec.field(default_factory=make_empty_schema)
    output_schema: Mapping[str, Any] | None = None
    safety: Safety = Safety()
    cost: Money | None = None
    has_price: bool = False
    is_prepaid: bool = False
    approval: Approval = "never"
    preconditions: tuple[Precondition, ...] = ()
    deadline_seconds: float = DEADLINE_SECONDS
    is_idempotent: bool = False
    examples: tuple[Example, ...] = ()
    related: tuple[Related, ...] = ()
    may_go_on: bool = False

    @property
    def may_continue(self) -> bool:
        """Whether a call may continue in the background, once it was answered."""
        return self.kind == "async" or self.may_go_on

    @property
    def is_open(self) -> bool:
        """Whether a caller without a credential may call it."""
        return self.open_to == "anyone"

    @property
    def may_cost(self) -> bool:
        """Whether a call may have a price."""
        return self.cost is not None or self.has_price

    @property
    def is_repeatable(self) -> bool:
        """Whether a call that a crash interrupted may be made again."""
        return self.kind == "query" or self.is_idempotent


def may_invoke(scopes: Collection[str], action: Action) -> bool:
    """Return whether these scopes open an action; operators and administrators may call all."""
    return is_open(scopes, action.open_to, action.name)


def is_open(scopes: Collection[str], open_to: OpenTo, name: str) -> bool:
    """Return whether these scopes open a named action or resource type."""
    match open_to:
        case "anyone":
            return True
        case "actions":
            return opens_action(scopes, name)
        case "operators":
            return is_operator_scope(scopes)


def is_action_name(text: str) -> bool:
    """Return whether a text is a valid action name."""
    return _NAME.fullmatch(text) is not None
