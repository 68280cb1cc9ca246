"""What the site can do, declared once."""

from __future__ import annotations

from typing import Literal

import msgspec

TEXT_ANSWER = "text/answer"


class Action(msgspec.Struct, frozen=True):
    """Something the site does for whoever may ask.

    Parameters:
        name: ``[a-z][a-z0-9_]{0,63}``, the same at every door.
        summary: one line of at most 256 characters.
        kind: ``query`` reads and changes nothing.
        answer_types: content types that it can answer with, the preferred one first.
    """

    name: str
    summary: str
    kind: Literal["query"] = "query"
    answer_types: tuple[str, ...] = (TEXT_ANSWER,)
