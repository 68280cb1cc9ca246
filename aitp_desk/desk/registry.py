"""Which actions there are. One list serves every door."""

from __future__ import annotations

from collections.abc import Iterable

from aitp_desk.model.action import Action
from aitp_desk.model.errors import UnknownAction

SITE_INFO = Action("site_info", "What this site is, who runs it and what its pages are about.")
CONTENT_SEARCH = Action(
    "content_search", "Answers a question from the pages of this site, with its sources."
)
CONTACT = Action("contact", "How to reach the people behind this site.")

BUILT_IN = (SITE_INFO, CONTENT_SEARCH, CONTACT)


class Registry:
    """The desk's actions by name."""

    def __init__(self, actions: Iterable[Action] = BUILT_IN) -> None:
        self._actions = {action.name: action for action in actions}

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action, in the order of its declaration."""
        return tuple(self._actions.values())

    def action(self, name: str) -> Action:
        """Find an action.

        Raises:
            UnknownAction: there is none of this name; lists those that exist.
        """
        try:
            return self._actions[name]
        except KeyError:
            names = ", ".join(self._actions)
            raise UnknownAction(
                f"The capability '{name[:64]}' is not supported. This site has: {names}.",
                available=tuple(self._actions),
            ) from None
