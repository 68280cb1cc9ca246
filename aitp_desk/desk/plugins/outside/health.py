"""How the desk is, for capabilities that judge: looked at once one of them wants to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from aitp_desk.desk.plugins.read_set import ReadSet
from aitp_desk.model.component import Component


class ComponentsUnread(BaseException):
    """The parts of the desk are looked at that nobody has looked at yet. No plug-in is to catch it.

    As with what is unread of the ledger, the desk does so then, and asks again.
    """


class KnownComponents(Sequence[Component]):
    """The parts of the desk, as if they were at hand."""

    def __init__(self, ledger: ReadSet) -> None:
        self._ledger = ledger

    @overload
    def __getitem__(self, place: int) -> Component: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Component]: ...

    def __getitem__(self, place: int | slice) -> Component | Sequence[Component]:
        return self._seen()[place]

    def __len__(self) -> int:
        return len(self._seen())

    def _seen(self) -> tuple[Component, ...]:
        if self._ledger.components is None:
            raise ComponentsUnread
        return self._ledger.components
