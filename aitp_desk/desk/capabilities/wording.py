"""Streams of a thread's events, for a reader who is told of structured messages in words."""

from __future__ import annotations

import msgspec

from aitp_desk.desk.capabilities.telling import Telling
from aitp_desk.desk.channel import Wording
from aitp_desk.desk.happening import Happening
from aitp_desk.model.thread import Actor, Message


class ReadersWording:
    """The wording of a door, told as a reader understands it who goes by these actors.

    Readers who have declared the same are written to together: they compare equal.
    """

    def __init__(self, wording: Wording, telling: Telling, readers: tuple[Actor, ...]) -> None:
        self._wording = wording
        self._telling = telling
        self._readers = readers
        self._key = (wording, frozenset(url for one in readers for url in one.capabilities))
        self.beat = wording.beat

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReadersWording) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def begin(self, thread_id: str, after: int) -> bytes:
        """As the door's own."""
        return self._wording.begin(thread_id, after)

    def happening(self, happening: Happening) -> bytes:
        """As the door's own, of the message as the readers understand it."""
        if isinstance(happening.subject, Message):
            told = self._telling.tell_to(self._readers, happening.subject)
            happening = msgspec.structs.replace(happening, subject=told)
        return self._wording.happening(happening)

    def snapshot(self, run_id: str, text: str) -> bytes:
        """As the door's own."""
        return self._wording.snapshot(run_id, text)

    def delta(self, run_id: str, text: str) -> bytes:
        """As the door's own."""
        return self._wording.delta(run_id, text)

    def restarted(self, run_id: str) -> bytes:
        """As the door's own."""
        return self._wording.restarted(run_id)
