"""What an operator presses counts once and is confirmed, wherever its way is cut off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.errors import StoreBusy
from aitp_desk.transports.base import TryLater
from aitp_desk.transports.events import Choice
from aitp_desk.transports.host.registry import EnabledTransport
from tests.journeys.transports.test_attacks import handled
from tests.journeys.transports.test_operators import ROOM, Office, eventually_async, opening
from tests.support.desk.conditions import until
from tests.support.transports.pigeon import Pigeon
from tests.support.transports.platforms import CarriedDesk

DEAD = "SELECT kind, last_error FROM jobs WHERE state = 'dead'"
TAKEN = "SELECT count(*) FROM audit WHERE action = 'ticket.taken'"
STEPS: dict[str, tuple[type, str, bool]] = {
    "before the deed": (EscalationService, "take_ticket", False),
    "after its commit": (EscalationService, "take_ticket", True),
    "before its confirmation": (EnabledTransport, "acknowledge", False),
    "after its confirmation": (EnabledTransport, "acknowledge", True),
}


def cut_off(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, *, is_after: bool) -> None:
    """End the process of a job there, the first time."""
    work: Callable[..., Awaitable[Any]] = getattr(owner, name)
    has_died = False

    async def die(*given: Any) -> Any:
        nonlocal has_died
        is_first, has_died = not has_died, True
        if is_first and not is_after:
            raise StoreBusy("As if the process died here.")
        found = await work(*given)
        if is_first:
            raise StoreBusy("As if the process died here.")
        return found

    monkeypatch.setattr(owner, name, die)


async def press(office: Office, label: str, person: str = "ada") -> str:
    """Press a button of the newest ticket, and return the event's id."""
    shown = [one for one in office.in_room if one.buttons][-1]
    (token,) = [one.token for one in shown.buttons if one.label == label]
    choice = Choice(token=token, message_ref=office.place(shown))
    return await office.platform.deliver(person, choice, conversation=ROOM, is_private=False)


async def bind(office: Office) -> None:
    await office.bind("ada")
    await office.bind("bob", "ben")
    await office.answered("ada", "You act as anna now.")
    await office.answered("bob", "You act as ben now.")


@pytest.mark.parametrize("step", STEPS)
async def test_a_press_that_is_cut_off_counts_once_and_is_confirmed(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name, is_after = STEPS[step]
    async with opening(tmp_path) as office:
        await bind(office)
        await office.ask_for_person()
        cut_off(monkeypatch, owner, name, is_after=is_after)
        event = await press(office, "Take")
        await until(lambda: event in office.platform.notices)
        await handled(CarriedDesk(office.talker, office.platform))
        assert office.platform.notices[event] == "Taken."
        assert (await office.ticket())["taken_by"] == "anna"
        assert office.talker.rows(TAKEN) == [(1,)]
        assert office.talker.rows(DEAD) == []


async def test_a_confirmation_that_the_platform_takes_only_later_is_sent_then(
    tmp_path: Path,
) -> None:
    async with opening(tmp_path) as office:
        await bind(office)
        await office.ask_for_person()
        office.platform.busy = 2
        event = await press(office, "Take")
        await until(lambda: event in office.platform.notices)
        assert office.platform.notices[event] == "Taken."


async def test_a_confirmation_that_fails_for_long_keeps_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    async def acknowledge(*_: object) -> None:
        nonlocal tried
        tried += 1
        raise TryLater("The platform is busy.")

    async with opening(tmp_path) as office:
        await bind(office)
        await office.ask_for_person()
        monkeypatch.setattr(Pigeon, "acknowledge", acknowledge)
        monkeypatch.setattr("aitp_desk.transports.host.registry.MOST_REPEATED", 1)
        await press(office, "Take")
        await office.until("Taken by anna.")
        await handled(CarriedDesk(office.talker, office.platform))
        assert tried == 2
        assert office.talker.rows(DEAD) == []


@pytest.mark.parametrize("then", ["release", "take"])
async def test_a_press_that_is_confirmed_later_undoes_nothing_of_another_operator(
    then: str, tmp_path: Path
) -> None:
    async with opening(tmp_path) as office:
        await bind(office)
        await office.ask_for_person()
        if then == "take":
            await press(office, "Take")
            await office.until("Taken by anna.")
        office.platform.busy = 2
        event = await press(office, "Release" if then == "take" else "Take")
        pressed = "open" if then == "take" else "taken"
        await eventually_async(office.ticket, lambda ticket: ticket["state"] == pressed)
        await office.anna.post(f"tickets/{(await office.ticket())['id']}/{then}")
        await until(lambda: event in office.platform.notices)
        await handled(CarriedDesk(office.talker, office.platform))
        assert office.platform.notices[event] == ("Released." if then == "take" else "Taken.")
        assert (await office.ticket())["state"] == ("taken" if then == "take" else "open")
