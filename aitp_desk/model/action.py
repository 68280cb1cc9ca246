"""What the site can do, declared once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.model.principal import Principal
from aitp_desk.model.scope import ACTION_NAME, opens_action

TEXT_ANSWER = "text/answer"
DATA = "application/data"
FEED = "application/feed"
VIDEO = "media/video"
AUDIO = "media/audio"
IMAGE = "media/image"
DOWNLOAD = "file/download"
"""Content types of answers (AHP 0.1, appendix C.2)."""
EXTENSION_TYPE = re.compile(r"x-[a-z][a-z0-9-]{0,62}/[a-z][a-z0-9_-]{0,63}", re.ASCII)
"""How a site's own content types are written (AHP 0.1, appendix C.3); they stay short names."""

_NAME = re.compile(ACTION_NAME, re.ASCII)


def takes_nothing() -> Mapping[str, Any]:
    """The JSON Schema of arguments where there are none."""
    return {"type": "object", "properties": {}}


class Action(msgspec.Struct, frozen=True):
    """Something the site does for whoever may ask.

    Parameters:
        name: ``[a-z][a-z0-9_]{0,63}``, the same at every door.
        summary: one line of at most 256 characters.
        kind: ``query`` reads and changes nothing; ``action`` may change something.
        answer_types: content types that it can answer with, the preferred one first.
        accept_fallback: whether it answers in text where the asker accepts none of these.
        input_schema: JSON Schema of its arguments, an object's.
        is_open: whether a caller without a credential may call it.
    """

    name: str
    summary: str
    kind: Literal["query", "action"] = "query"
    answer_types: tuple[str, ...] = (TEXT_ANSWER,)
    accept_fallback: bool = False
    input_schema: Mapping[str, Any] = msgspec.field(default_factory=takes_nothing)
    is_open: bool = True


def may_invoke(principal: Principal, action: Action) -> bool:
    """Whether the caller may call an action.

    One that is not open needs the scope ``actions``, or ``actions:<name>`` for it alone; operators
    and administrators may call all.
    """
    return action.is_open or opens_action(principal.scopes, action.name)


def is_action_name(text: str) -> bool:
    """Whether an action may be called this."""
    return _NAME.fullmatch(text) is not None
