"""Loads the transports that ``desk.toml`` enables, by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from aitp_desk.capability import Unanswered
from aitp_desk.config import Config, ConfigError, Problem
from aitp_desk.config.catalogue import explain
from aitp_desk.desk.plugins.entry_points import list_entry_points
from aitp_desk.transports.base import GROUP, NAME, Failed, Host, Transport, TryLater
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.pace import Pace
from aitp_desk.transports.host.settings import CommonSettings
from aitp_desk.transports.messages import Outgoing, SentMessage

MOST_REPEATED = 5
"""How often the confirmation of a pressed button is tried again."""
S = TypeVar("S", bound=msgspec.Struct)
_COMMON = frozenset(CommonSettings.__struct_fields__)


class EnabledTransport(msgspec.Struct, frozen=True, eq=False):
    """A transport of the site, with the settings that all have.

    Parameters:
        name: of its section.
        pace: spaces what the desk sends there.
    """

    name: str
    transport: Transport
    common: CommonSettings
    pace: Pace

    async def send(self, outgoing: Outgoing) -> SentMessage:
        """Send a message as soon as the platform's rate limits allow it.

        Raises:
            Failed, Unanswered: it was not sent.
        """
        await self.pace.wait(outgoing.conversation)
        return await self.transport.send(outgoing)

    async def retract(self, conversation: str, message_ref: str) -> None:
        """Delete a sent message; as :meth:`send`."""
        await self.pace.wait()
        await self.transport.retract(conversation, message_ref)

    async def acknowledge(
        self, incoming: Incoming, notice: str, failures: int = MOST_REPEATED
    ) -> None:
        """Confirm a pressed button, or say why it does not count.

        What the platform does not take at last is ignored: what was chosen counts without that.

        Parameters:
            failures: how often the event was handled in vain; by default it is tried once.

        Raises:
            TryLater, Unanswered: the platform may take it later.
        """
        await self.pace.wait()
        try:
            await self.transport.acknowledge(incoming, notice)
        except (TryLater, Unanswered):
            if failures < MOST_REPEATED:
                raise
        except Failed:
            pass

    async def show_typing(self, incoming: Incoming) -> None:
        """Show the person that a message is being answered; failures are ignored."""
        with suppress(Exception):
            await self.transport.show_typing(incoming)


def installed_transports() -> tuple[str, ...]:
    """Return the names of the transports that are installed."""
    return tuple(sorted({point.name for point in list_entry_points(GROUP)}))


def load_transports(
    config: Config,
    make_host: Callable[[str], Host],
    extra: Mapping[str, type[Transport]] | None = None,
    *,
    only: str = "",
) -> tuple[EnabledTransport, ...]:
    """Create the transports of all sections ``[transports.NAME]``.

    Without such sections nothing is searched or imported.

    Parameters:
        make_host: makes what a transport is given, by its name.
        extra: further transports by name, in no package.
        only: the name of the one transport to create; empty for all.

    Raises:
        ConfigError: lists every transport that is not installed, lacks a library or has invalid
            settings.
    """
    problems: list[Problem] = []
    made: list[EnabledTransport] = []
    for name, settings in config.transports.items():
        if only not in ("", name):
            continue
        try:
            kind = (extra or {}).get(name) or _find(name)
            made.append(_make(kind, name, settings, make_host(name), config))
        except ValueError as error:
            problems.append(Problem(f"transports.{name}", str(error)))
        except Exception as error:  # noqa: BLE001 -- whatever a package raises is reported
            why = f"cannot be used: {type(error).__name__}: {error}"
            problems.append(Problem(f"transports.{name}", why))
    if problems:
        raise ConfigError(problems, config)
    return tuple(made)


def _find(name: str) -> type[Transport]:
    if not NAME.fullmatch(name):
        raise ValueError("is no name of a transport: use lowercase letters, digits and _.")
    named = [point for point in list_entry_points(GROUP) if point.name == name]
    if not named:
        known = ", ".join(installed_transports()) or "none"
        raise ValueError(f"no installed package has a transport of this name; installed: {known}.")
    kind = named[0].load()
    if not (isinstance(kind, type) and issubclass(kind, Transport)):
        raise ValueError(
            f"{named[0].value} is not a subclass of aitp_desk.transports.base.Transport."
        )
    return kind


def _make(
    kind: type[Transport], name: str, settings: Mapping[str, Any], host: Host, config: Config
) -> EnabledTransport:
    known = {field.encode_name for field in msgspec.structs.fields(kind.settings)} | _COMMON
    if unknown := sorted(settings.keys() - known):
        raise ValueError(
            f"there is no setting {unknown[0]!r}; the settings are: {', '.join(sorted(known))}."
        )
    own = {key: value for key, value in settings.items() if key not in _COMMON}
    shared = {key: value for key, value in settings.items() if key in _COMMON}
    common, chosen = _convert(shared, CommonSettings), _convert(own, kind.settings)
    if common.agent and common.agent not in {agent.name for agent in config.agents}:
        raise ValueError(f"agent names {common.agent!r}, which is no site agent of [[agents]].")
    transport = kind(chosen, host)
    pace = Pace(transport.bounds.per_second, transport.bounds.per_conversation)
    return EnabledTransport(name, transport, common, pace)


def _convert(settings: Mapping[str, Any], kind: type[S]) -> S:
    try:
        return msgspec.convert(settings, kind)
    except msgspec.ValidationError as error:
        raise ValueError(explain(kind, error)) from None
