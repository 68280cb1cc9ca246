"""What the site can do, declared once."""

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
"""How long a call may take where its action says nothing of that."""

_NAME = re.compile(ACTION_NAME, re.ASCII)

Kind = Literal["query", "action", "async"]
"""``query`` reads and changes nothing; ``action`` may change something, and is over within its
call; ``async`` goes on after its call was accepted (AHP 0.1, section 5.3)."""
Mutability = Literal["read_only", "reversible", "irreversible"]
"""Whether a call changes anything, and whether that can be undone (HAC 1.0, section 5.1)."""
BlastRadius = Literal["self", "self_and_associated", "many", "all"]
"""How much a call changes (HAC 1.0, section 5.2)."""
OpenTo = Literal["anyone", "actions", "operators"]
"""Who may call: ``anyone``, also without a credential; callers with the scope ``actions`` or
``actions:<name>``; those who run the desk."""
Approval = Literal["never", "sometimes", "always"]
"""Whether a person of the site has to approve a call before it is carried out; ``sometimes`` where
its arguments decide that."""


def make_empty_schema() -> Mapping[str, Any]:
    """The JSON Schema of arguments where there are none."""
    return {"type": "object", "properties": {}}


class Safety(msgspec.Struct, frozen=True):
    """How much harm a call can do (HAC 1.0, section 5).

    Parameters:
        reversible_within: an ISO 8601 duration such as ``P30D``, in which what was done can be
            undone.
        confirmation_recommended: whether whoever calls for somebody should ask them first.
    """

    mutability: Mutability = "read_only"
    blast_radius: BlastRadius = "self"
    reversible_within: str | None = None
    confirmation_recommended: bool = False

    @property
    def is_grave(self) -> bool:
        """Whether nobody should be taken at a word that was only read as a call."""
        return self.mutability == "irreversible" or self.blast_radius in {"many", "all"}


class Precondition(msgspec.Struct, frozen=True):
    """What must be so for a call to be carried out.

    Parameters:
        name: what a refusal names.
        description: what must be so, in a sentence.
    """

    name: str
    description: str


class Example(msgspec.Struct, frozen=True):
    """How a call is asked for.

    Parameters:
        text: in words.
        arguments: as they are understood; None where only the words are shown.
    """

    text: str
    arguments: Mapping[str, Any] | None = None


class Related(msgspec.Struct, frozen=True):
    """Where more about what a call is about can be read (HAC 1.0, section 3.3).

    Parameters:
        href: a path of the site, or a URI template.
    """

    rel: str
    href: str
    description: str = ""


class Action(msgspec.Struct, frozen=True):
    """Something the site does for whoever may ask.

    Parameters:
        name: ``[a-z][a-z0-9_]{0,63}``, the same at every door.
        summary: one line of at most 256 characters.
        description: what a caller should know beside that: consequences, limits, edge cases.
        answer_types: content types that it can answer with, the preferred one first.
        accept_fallback: whether it answers in text where the asker accepts none of these.
        input_schema: JSON Schema of its arguments, an object's.
        output_schema: JSON Schema of its result; None where it answers in content alone.
        cost: what a call costs, where that is the same each time.
        has_price: whether a call may cost something that its arguments decide.
        is_prepaid: whether what a call costs is paid before it is made, and not elsewhere.
        approval: whether a person of the site approves a call first; of ``async`` ones alone.
        deadline_seconds: how long a call may take; of an ``async`` one each attempt.
        is_idempotent: whether the same call, made twice, does what it does once.
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

    @property
    def is_open(self) -> bool:
        """Whether a caller without a credential may call it."""
        return self.open_to == "anyone"

    @property
    def may_cost(self) -> bool:
        """Whether a call may cost something."""
        return self.cost is not None or self.has_price

    @property
    def is_repeatable(self) -> bool:
        """Whether a call that a crash cut short may simply be made again."""
        return self.kind == "query" or self.is_idempotent


def may_invoke(scopes: Collection[str], action: Action) -> bool:
    """Whether these scopes open an action; operators and administrators may call all."""
    return is_open(scopes, action.open_to, action.name)


def is_open(scopes: Collection[str], open_to: OpenTo, name: str) -> bool:
    """Whether something that a site offers under a name is open to whoever has these scopes."""
    match open_to:
        case "anyone":
            return True
        case "actions":
            return opens_action(scopes, name)
        case "operators":
            return is_operator_scope(scopes)


def is_action_name(text: str) -> bool:
    """Whether an action may be called this."""
    return _NAME.fullmatch(text) is not None
