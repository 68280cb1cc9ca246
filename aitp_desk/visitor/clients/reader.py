"""What clients have in common whose protocol only answers questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.visitor.base import Answer, Choice, Outcome, SiteAction
from aitp_desk.visitor.errors import NotOffered


class Reader:
    """A client without actions; the protocol's own class answers the questions."""

    async def choose(self, choice: Choice) -> Answer:
        """Refuse: the protocol asks nothing back."""
        raise NotOffered(f"The site has not asked for {choice.label!r}.")

    async def actions(self) -> Sequence[SiteAction]:
        """Return nothing: the protocol offers no actions."""
        return ()

    async def call(self, action: SiteAction, arguments: Mapping[str, Any], key: str) -> Outcome:
        """Refuse: the protocol offers no actions."""
        del arguments, key
        raise NotOffered(f"{action.name} cannot be called through this protocol.")

    async def poll(self, outcome: Outcome) -> Outcome:
        """Return a call unchanged."""
        return outcome

    async def accept(self, outcome: Outcome) -> Outcome:
        """Return a call unchanged."""
        return outcome

    async def close(self) -> None:
        """Do nothing: the site keeps no conversation."""
