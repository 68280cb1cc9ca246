"""What the contract suite of transports asks of a platform, real or a stand-in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import msgspec


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the desk, as a person sees it on the platform.

    Parameters:
        ref: the platform's id of the message.
        text: what is shown, as plain text.
        buttons: labels of what can be pressed, in order.
        fields: names of the fields of its form.
        links: where its buttons or its text lead.
        files: names of its files, where those are not in the text.
    """

    ref: str
    text: str
    buttons: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Platform(ABC):
    """A platform, from the side of the people on it.

    Whoever writes gets a private conversation with the desk on first use. What a platform does
    not have raises NotImplementedError; the suite then names the case as one that it lacks.

    Attributes:
        name: of the transport.
        desk: URL of the desk, set before the first message: a stand-in calls its endpoints there.
    """

    name: str
    desk: str = ""

    @property
    @abstractmethod
    def settings(self) -> str:
        """The section ``[transports.NAME]`` of desk.toml, as text."""

    @property
    @abstractmethod
    def environment(self) -> Mapping[str, str]:
        """The variables that hold the credentials."""

    @abstractmethod
    async def write(self, person: str, text: str) -> str:
        """Write to the desk, and return the platform's id of the event.

        Returns when the desk has acknowledged it, as the platform understands that.
        """

    @abstractmethod
    async def redeliver(self, event_id: str) -> None:
        """Deliver an event again, as the platform does when an acknowledgement was lost."""

    @abstractmethod
    async def deliver_forged(self, person: str, text: str) -> int:
        """Deliver an event without the platform's proof, and return the status of the refusal."""

    @abstractmethod
    async def shown(self, person: str) -> tuple[Shown, ...]:
        """Return what the desk has sent to a person, oldest first."""

    @abstractmethod
    async def press(self, person: str, ref: str, label: str) -> None:
        """Press a button."""

    async def submit(self, person: str, ref: str, values: Mapping[str, str]) -> None:
        """Submit the form of a message."""
        raise NotImplementedError

    async def edit(self, person: str, event_id: str, text: str) -> None:
        """Change a message that the person wrote."""
        raise NotImplementedError

    async def remove(self, person: str, event_id: str) -> None:
        """Delete a message that the person wrote."""
        raise NotImplementedError

    async def attach(self, person: str, text: str, name: str, data: bytes) -> str:
        """Write with a file; as :meth:`write`."""
        raise NotImplementedError

    async def block(self, person: str) -> None:
        """Block the desk, or say that no more messages are wanted."""
        raise NotImplementedError

    def break_next(self, count: int = 1, retry_after: int = 0) -> None:
        """Let the next attempts of the desk to send fail, as an overloaded platform does."""
        raise NotImplementedError

    @abstractmethod
    async def close(self) -> None:
        """End the servers."""
