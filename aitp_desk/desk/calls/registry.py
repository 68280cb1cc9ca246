"""Lists the actions of a desk, for every protocol."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from aitp_desk.knowledge.editions import Editions
from aitp_desk.model.calls.action import (
    AUDIO,
    DATA,
    DOWNLOAD,
    FEED,
    IMAGE,
    TEXT_ANSWER,
    VIDEO,
    Action,
)
from aitp_desk.model.errors import UnknownAction

SITE_INFO = "site_info"
CONTENT_SEARCH = "content_search"
CONTACT = "contact"
LIST_PAGES = "list_pages"


GET = {
    VIDEO: ("get_video", "Finds a video by title or topic."),
    AUDIO: ("get_audio", "Finds a recording by title or topic."),
    IMAGE: ("get_image", "Finds pictures by content or page."),
    DOWNLOAD: ("get_download", "Finds a downloadable file by name or topic."),
    DATA: ("get_data", "Finds data records by name or topic."),
}
"""The action that finds resources of each type, and its summary."""
OWN_NAMES = frozenset(
    {SITE_INFO, CONTENT_SEARCH, CONTACT, LIST_PAGES, *(name for name, _ in GET.values())}
)
"""Names of the desk's built-in actions, whether its content offers them or not."""


def list_content_actions(types: Collection[str]) -> tuple[Action, ...]:
    """Return the built-in actions of a site that offers these content types."""
    held = [kind for kind in GET if kind in types]
    own = sorted(kind for kind in types if kind not in GET)
    return (
        Action(
            SITE_INFO,
            "What this site is, who runs it and what its pages are about.",
            answer_types=(TEXT_ANSWER, DATA),
        ),
        Action(
            CONTENT_SEARCH,
            "Answers a question from the pages of this site, with sources.",
            answer_types=(TEXT_ANSWER, FEED, *held, *own),
        ),
        Action(
            CONTACT,
            "How to reach the people behind this site.",
            answer_types=(TEXT_ANSWER, DATA),
        ),
        Action(
            LIST_PAGES,
            "Lists the pages of this site, or of the given folder or tag, newest first.",
            answer_types=(FEED, TEXT_ANSWER),
            accept_fallback=True,
        ),
        *(
            Action(*GET[kind], answer_types=(kind, TEXT_ANSWER), accept_fallback=True)
            for kind in held
        ),
    )


class Content(Protocol):
    """Holds the current content."""

    editions: Editions


class ActionRegistry:
    """Holds the desk's actions by name, following its current content.

    Parameters:
        content: holds the current content.
        own: the declared actions, in addition to the built-in ones.
    """

    def __init__(self, content: Content, own: Sequence[Action] = ()) -> None:
        self._content = content
        self._own = tuple(own)
        self._read: Editions | None = None
        self._actions: dict[str, Action] = {}
        self._listed: tuple[Action, ...] = ()

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action except those for operators, in the order of declaration.

        The tuple is the same object until the actions change.
        """
        self._follow()
        return self._listed

    @property
    def operators_actions(self) -> tuple[Action, ...]:
        """The actions for operators, in the order of declaration."""
        self._follow()
        return tuple(one for one in self._actions.values() if one.open_to == "operators")

    def get_action(self, name: str) -> Action:
        """Return an action by name.

        Raises:
            UnknownAction: there is none of this name; the error lists those that exist.
        """
        if self._content.editions is not self._read:
            self._follow()
        try:
            return self._actions[name]
        except KeyError:
            raise self.make_unknown_error(name) from None

    def make_unknown_error(self, name: str) -> UnknownAction:
        """Return the error for an action that does not exist for the caller."""
        names = tuple(action.name for action in self.actions)
        return UnknownAction(
            f"The capability '{name[:64]}' is not supported. This site has: {', '.join(names)}.",
            available=names,
        )

    def _follow(self) -> None:
        editions = self._content.editions
        if editions is not self._read:
            self._read = editions
            actions = list_content_actions(editions.types) + self._own
            if actions != tuple(self._actions.values()):
                self._listed = tuple(one for one in actions if one.open_to != "operators")
                self._actions = {action.name: action for action in actions}
