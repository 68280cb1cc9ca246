"""Defines how a list is asked for and returned, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from aitp_desk.model.errors import InvalidRequest

Order = Literal["asc", "desc"]
"""The order of a list: ``asc`` has the oldest first."""


class Identified(Protocol):
    """An item of a list."""

    @property
    def id(self) -> str:
        """Its id, which names its place in the list."""
        ...


T = TypeVar("T")
Item = TypeVar("Item", bound=Identified)


class PageRequest(msgspec.Struct, frozen=True):
    """The requested part of a list.

    Parameters:
        limit: maximum number of items.
        after: id of the item before the first one wanted.
        before: id of the item after the last one wanted. Alone it selects the nearest items in
            front of it, in list order. With ``after`` it selects the items between both, as clients
            ask that turn such a page over.
    """

    limit: int = 20
    order: Order = "desc"
    after: str | None = None
    before: str | None = None

    @property
    def is_turned(self) -> bool:
        """Whether the items are the last ones in front of ``before``."""
        return self.before is not None and self.after is None

    @property
    def is_upwards(self) -> bool:
        """Whether the wanted items are found from the oldest on."""
        return (self.order == "asc") is not self.is_turned

    def sort_ends(self, after: T, before: T) -> tuple[T, T]:
        """Return the places of ``after`` and ``before``, the older one first."""
        return (after, before) if self.order == "asc" else (before, after)

    def cut(self, items: Sequence[Item], what: str) -> Page[Item]:
        """Cut the page out of a whole list.

        Parameters:
            items: the oldest first.
            what: an item of the list, for the error.

        Raises:
            InvalidRequest: ``after`` or ``before`` names none of them.
        """
        listed = items if self.order == "asc" else items[::-1]
        ids = [item.id for item in listed]
        for name, given in (("after", self.after), ("before", self.before)):
            if given is not None and given not in ids:
                raise InvalidRequest(f"`{name}` must be the id of {what}.", param=name)
        low = 0 if self.after is None else ids.index(self.after) + 1
        high = len(ids) if self.before is None else ids.index(self.before)
        within = listed[low:high]
        page = within[-self.limit :] if self.is_turned else within[: self.limit]
        return Page(tuple(page), has_more=len(within) > self.limit)


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list, in the requested order.

    Parameters:
        has_more: whether there are further items in the direction of reading.
    """

    items: tuple[T, ...]
    has_more: bool


class Listing(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list whose next page is named by the page itself.

    Parameters:
        next: where the next page begins; None on the last page.
    """

    items: tuple[T, ...]
    next: str | None
