"""Gives plugins the health of the desk's components, read on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from aitp_desk.desk.plugins.read_set import ReadSet
from aitp_desk.model.component import Component


class ComponentsUnread(BaseException):
    """Signals that a plugin needs the components; plugins must not catch it.

    As with unread records, the desk then reads them and calls the plugin again.
    """


class KnownComponents(Sequence[Component]):
    """The desk's components, as a sequence that reads on demand."""

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
