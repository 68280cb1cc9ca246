"""What members of the gym can have done."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import action

Course = Literal["yoga", "spinning", "boxing", "pilates"]
Member = Annotated[str, Meta(pattern=r"^M\d{5}$", description="Such as M40217.")]


class Places(Struct, frozen=True):
    """How many can still come to a class.

    Parameters:
        places: that are free.
    """

    course: Course
    day: date
    places: int


class Visits(Struct, frozen=True):
    """What is left of a pass.

    Parameters:
        visits: that are left.
    """

    member: str
    visits: int


class Noted(Struct, frozen=True):
    """What the gym has noted."""

    text: str


@action(
    open_to="anyone",
    examples=["Are there places in yoga on Tuesday?", "Is boxing full tomorrow?"],
)
def class_places(course: Course, day: date) -> Places:
    """Says how many places are free in a class on a day.

    Args:
        course: which class.
        day: the day.
    """
    return Places(course, day, 6)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    confirmation_recommended=True,
    examples=["Sign me up for spinning on Friday.", "I want to come to pilates tomorrow, M40217."],
)
def join_class(course: Course, day: date, member: Member) -> Noted:
    """Books a place in a class.

    Args:
        course: which class.
        day: the day.
        member: the number of the membership.
    """
    return Noted(f"{course}: {day}")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    examples=["I can't come to yoga on Tuesday, M40217.", "Take me out of tomorrow's class."],
)
def leave_class(course: Course, day: date, member: Member) -> Noted:
    """Cancels a place in a class.

    Args:
        course: which class.
        day: the day.
        member: the number of the membership.
    """
    return Noted(f"{course}: {day} cancelled")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Freeze my membership from 1 June.", "I broke my leg, please pause M40217."],
)
def pause_membership(member: Member, since: date) -> Noted:
    """Pauses a membership for up to three months.

    Args:
        member: the number of the membership.
        since: the first day of the pause.
    """
    return Noted(f"{member} paused")


@action(
    examples=["How many visits are left on M40217?", "Is my pass used up?"],
)
def visits_left(member: Member) -> Visits:
    """Says how many visits a pass still has.

    Args:
        member: the number of the membership.
    """
    return Visits(member, 4)


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["I left my water bottle in the sauna.", "A blue towel is missing since Monday."],
)
def report_lost_item(text: Annotated[str, Meta(min_length=3, max_length=300)]) -> Noted:
    """Asks the staff to look for something that was left in the gym.

    Args:
        text: what was left, where and when.
    """
    return Noted(text)
